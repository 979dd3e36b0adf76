/** Validates the outputs of a run against the rules of its route. An invalid line never affects others. */

import { fileURLToPath } from 'node:url';
import { tryParseJson } from '../../../base/files.ts';
import { isBlank, targetLabel } from '../../../base/text.ts';
import { measure } from '../../../runtime/deliver/prepare-text.ts';
import type { OutputTool } from '../../../runtime/dispatch/agent-runner.ts';
import type { CheckedOutputs, OpenHandover } from '../../../runtime/dispatch/context.ts';
import { readAnswer } from '../../../runtime/dispatch/run-agent.ts';
import { printableStart } from '../../../runtime/platform/log.ts';
import { isRecord } from '../../../runtime/store/decode.ts';
import type {
  ContentField,
  ContentValue,
  DispatchDelivery,
  DispatchOutput,
  DroppedOutput,
  OutputContent,
} from '../../../schemas/generated/types.ts';

/** Lines after these are dropped. */
export const MAX_LINES = 100;
const SHOWN = 100;
/** Characters of the reason of a `noop` that are kept. */
const NOOP_SHOWN = 500;

export const openHandover: OpenHandover = (outputs, redact) => {
  let lines: readonly string[] = [];
  let refused: string | null = null;
  return {
    redact,
    tools: [...outputs.map(toolOf), toolOf(NOOP)],
    mcp: { argv: [process.execPath, ...SERVER], declaration: JSON.stringify(declare(outputs)) },
    take(taken) {
      lines = taken;
    },
    refuse(reason) {
      refused = reason;
    },
    checked() {
      const checked = refused === null ? checkLines(lines, outputs, redact) : unreadable(refused);
      const names = checked.noop === undefined ? missingOf(outputs, checked) : [];
      if (names.length === 0) return checked;
      const dropped = checked.dropped.map(({ output, detail }) => `; dropped ${output ?? 'a line'}: ${detail}`);
      const missing = `no_output: no ${names.join(', ')}, and no noop${dropped.slice(0, 3).join('')}`;
      return { ...checked, missing };
    },
  };
};

const serverFile = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** Starts the program that declares the outputs as tools of MCP: one file, or its source. */
const SERVER = import.meta.url.endsWith('.js')
  ? [serverFile('./outputs-server.js')]
  : ['--import', import.meta.resolve('tsx'), serverFile('./outputs-server.ts')];

/** The limits of an output; those of the built-in output have no delivery. */
export type Accepted = Omit<DispatchOutput, 'delivery'> & Partial<Pick<DispatchOutput, 'delivery'>>;

/** What a server that declares the outputs of a run as tools is given: no addresses, which the program need not know. */
export interface Declaration {
  readonly tools: readonly OutputTool[];
  readonly accepted: readonly Accepted[];
}

const declare = (outputs: readonly DispatchOutput[]): Declaration => ({
  tools: [...outputs.map(toolOf), toolOf(NOOP)],
  accepted: [...outputs.map(({ delivery: _, ...limits }) => limits), NOOP],
});

/** The built-in output: there is nothing to do, and why. */
const NOOP: Accepted = { name: 'noop', fields: [{ name: 'reason', kind: 'text', required: true }], allow: {}, max: 1 };

const missingOf = (outputs: readonly DispatchOutput[], { deliveries }: CheckedOutputs): readonly string[] =>
  outputs
    .filter(({ name, required }) => required === true && !deliveries.some(({ output }) => output?.name === name))
    .map(({ name }) => name);

const unreadable = (detail: string): CheckedOutputs => ({
  deliveries: [],
  dropped: [{ output: null, line: 0, reason: 'unreadable', detail }],
});

type Redact = (text: string) => string;
type Drop = Pick<DroppedOutput, 'reason' | 'detail'>;

function checkLines(lines: readonly string[], outputs: readonly DispatchOutput[], redact: Redact): CheckedOutputs {
  let noop: string | undefined;
  const deliveries: DispatchDelivery[] = [];
  const dropped: DroppedOutput[] = [];
  const shown = (text: string): string => printableStart(redact(text), SHOWN);
  const check = lineChecker([...outputs, NOOP], redact);
  for (const [index, line] of lines.slice(0, MAX_LINES).entries()) {
    const { name, spec, ...checked } = check(line);
    if ('reason' in checked) {
      const { reason, detail } = checked;
      dropped.push({ output: name === null ? null : shown(name), line: index + 1, reason, detail: shown(detail) });
    } else if (spec?.delivery === undefined) noop = printableStart(String(checked.content.reason), NOOP_SHOWN);
    else deliveries.push({ ...spec.delivery, output: { name: spec.name, content: checked.content } });
  }
  const over = lines.length - MAX_LINES;
  if (over > 0) {
    const detail = `${over} more than ${MAX_LINES} lines`;
    dropped.push({ output: null, line: MAX_LINES + 1, reason: 'unreadable', detail });
  }
  return { deliveries, dropped, ...(noop === undefined ? {} : { noop }) };
}

type CheckedLine = { readonly name: string | null; readonly spec?: Accepted } & (
  | Drop
  | { readonly content: OutputContent }
);

/** Checks the lines of one run in their order, and counts their messages. */
export function lineChecker(accepted: readonly Accepted[], redact: Redact): (line: string) => CheckedLine {
  const left = new Map(accepted.map(({ name, max }) => [name, max]));
  return (line) => {
    const value = tryParseJson(line);
    const name = isRecord(value) && typeof value.output === 'string' ? value.output : null;
    const spec = accepted.find((output) => output.name === name);
    if (!isRecord(value) || name === null)
      return { name, reason: 'malformed', detail: 'not a JSON object with an `output`' };
    if (spec === undefined) return { name, reason: 'not_named', detail: 'the route has no such output' };
    const most = left.get(name) ?? 0;
    if (most === 0) return { name, reason: 'over_max', detail: `at most ${spec.max} in one run` };
    const content = readContent(value, spec, redact);
    if ('reason' in content) return { name, ...content };
    const messages = messagesOf(content.content, spec);
    const detail = `the text needs ${messages} messages, at most ${spec.max} in one run`;
    if (messages > most) return { name, reason: 'over_max', detail };
    left.set(name, most - messages);
    return { name, spec, ...content };
  };
}

/** The number of target messages for the text, estimated before escaping. */
function messagesOf({ text }: OutputContent, { message }: Accepted): number {
  if (message === undefined || typeof text !== 'string') return 1;
  return Math.max(1, Math.ceil(measure(text, message.unit) / message.limit));
}

function readContent(
  line: Readonly<Record<string, unknown>>,
  { fields, allow }: Accepted,
  redact: Redact,
): Drop | { readonly content: OutputContent } {
  const content: Record<string, ContentValue> = {};
  for (const field of fields) {
    const read = readField(Object.hasOwn(line, field.name) ? line[field.name] : undefined, field, redact);
    if (typeof read === 'object' && 'wrong' in read) {
      return { reason: 'malformed', detail: `\`${field.name}\` ${read.wrong}` };
    }
    if (read.value === null) continue;
    const wrong = unlistedValue(read.value, allowedOf(field, allow));
    if (wrong !== null) return { reason: 'not_allowed', detail: `\`${field.name}\`: ${JSON.stringify(wrong)}` };
    const answer = field.name === 'text' && typeof read.value === 'string' ? readAnswer(read.value) : null;
    if (answer?.kind === 'silent') return { reason: 'malformed', detail: `\`text\` is silent: ${answer.reason}` };
    content[field.name] = answer?.text ?? read.value;
  }
  return { content };
}

/** The lists of allowed values; a value must be in each. */
const allowedOf = ({ name, values }: ContentField, allow: Accepted['allow']): readonly (readonly string[])[] =>
  [values, Object.hasOwn(allow, name) ? allow[name] : undefined].filter((list) => list !== undefined);

/** Most entries of a list. */
const MAX_ENTRIES = 100;

/** `value` is null for an absent optional field. */
export type ReadField = { readonly value: ContentValue | null } | { readonly wrong: string };

type Member = string | number;

const isFilled = (value: unknown): value is string => typeof value === 'string' && !isBlank(value);

/** @param redact replaces secrets in each text */
export function readField(value: unknown, field: ContentField, redact: (text: string) => string): ReadField {
  if (value === undefined || value === null) {
    return field.required ? { wrong: 'is missing' } : { value: null };
  }
  return KINDS[field.kind](value, field, redact);
}

type Read = (value: unknown, field: ContentField, redact: (text: string) => string) => ReadField;

/** Every character that some program treats as a line break. */
const LINE_BREAK = /[\n\r\v\f\u0085\u2028\u2029]/;

const KINDS: Readonly<Record<ContentField['kind'], Read>> = {
  text: (value, _field, redact) => (isFilled(value) ? { value: redact(value) } : { wrong: 'must be a non-empty text' }),
  line: (value, _field, redact) =>
    isFilled(value) && !LINE_BREAK.test(value) ? { value: redact(value) } : { wrong: 'must be a single line of text' },
  list: (value, _field, redact) =>
    isList(value) && value.every(isFilled)
      ? { value: value.map(redact) }
      : { wrong: `must be a list of 1 to ${MAX_ENTRIES} texts` },
  objects: (value, { members = [] }, redact) => {
    const wrong = {
      wrong: `must be a list of 1 to ${MAX_ENTRIES} objects with ${members.map(({ name }) => name).join(', ')}`,
    };
    if (!isList(value)) return wrong;
    const read = value.map((each) => (isRecord(each) ? readMembers(each, members, redact) : null));
    return read.every((each) => each !== null) ? { value: read } : wrong;
  },
};

const isList = (value: unknown): value is readonly unknown[] =>
  Array.isArray(value) && value.length > 0 && value.length <= MAX_ENTRIES;

function readMembers(
  value: Readonly<Record<string, unknown>>,
  members: NonNullable<ContentField['members']>,
  redact: (text: string) => string,
): Record<string, Member> | null {
  const read: Record<string, Member> = {};
  for (const { name, kind } of members) {
    const member = Object.hasOwn(value, name) ? value[name] : undefined;
    if (kind !== 'integer' && isFilled(member)) read[name] = redact(member);
    else if (kind === 'integer' && Number.isSafeInteger(member)) read[name] = member as number;
    else return null;
  }
  return read;
}

/** The first value that is missing from one of the lists; null if all are allowed. */
export function unlistedValue(value: ContentValue, lists: readonly (readonly string[])[]): unknown {
  if (lists.length === 0) return null;
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  return values.find((each) => typeof each !== 'string' || lists.some((list) => !list.includes(each))) ?? null;
}

/** Declares outputs as tools, for models that call them. */
export function toolOf({ name, fields, allow, max, required, delivery }: Accepted): OutputTool {
  const properties = fields.map((field) => [field.name, schemaOf(field, allow[field.name] ?? field.values)] as const);
  const times = max === 1 ? 'once' : `${max} times`;
  return {
    name,
    description:
      delivery === undefined
        ? 'Reports that there is nothing to do, and why.'
        : `Submits a message for ${targetLabel(delivery)}, at most ${times}. Returns no result.${required === true ? ' Required, unless noop is called.' : ''}`,
    parameters: {
      type: 'object',
      properties: Object.fromEntries(properties),
      required: fields.filter(({ required }) => required).map((field) => field.name),
      additionalProperties: false,
    },
  };
}

function schemaOf({ kind, help, members = [] }: ContentField, values: readonly string[] | undefined): object {
  const text = { type: 'string', ...(values === undefined ? {} : { enum: values }) };
  const described = help === undefined ? {} : { description: help };
  if (kind === 'text' || kind === 'line') return { ...text, ...described };
  if (kind === 'list') return { type: 'array', items: text, ...described };
  const properties = members.map((member) => [member.name, { type: member.kind === 'integer' ? 'integer' : 'string' }]);
  const required = members.map((member) => member.name);
  return {
    type: 'array',
    items: { type: 'object', properties: Object.fromEntries(properties), required },
    ...described,
  };
}
