/** Takes what one run hands over, and checks each line against what the route allows. A line that is not right never affects others. */
import { tryParseJson } from '../../../base/try-parse-json.ts';
import { measure } from '../../../runtime/deliver/text/split-text.ts';
import type { CheckedOutputs, OpenHandover } from '../../../runtime/dispatch/outputs.ts';
import { readAnswer } from '../../../runtime/dispatch/run-agent.ts';
import { printableStart } from '../../../runtime/platform/printable.ts';
import type {
  ContentField,
  ContentValue,
  DispatchDelivery,
  DispatchOutput,
  DroppedOutput,
  OutputContent,
} from '../../../schemas/generated/types.ts';
import { isPlainObject, readField, unlistedValue } from './read-field.ts';
import { toolOf } from './tools.ts';

/** Lines after these are dropped. */
const MAX_LINES = 100;
const SHOWN = 100;

export const openHandover: OpenHandover = (outputs, redact) => {
  let lines: readonly string[] = [];
  let refused: string | null = null;
  return {
    redact,
    tools: outputs.map(toolOf),
    take(taken) {
      lines = taken;
    },
    refuse(reason) {
      refused = reason;
    },
    checked: () => (refused === null ? checkLines(lines, outputs, redact) : unreadable(refused)),
  };
};

const unreadable = (detail: string): CheckedOutputs => ({
  deliveries: [],
  dropped: [{ output: null, line: 0, reason: 'unreadable', detail }],
});

type Redact = (text: string) => string;
type Drop = Pick<DroppedOutput, 'reason' | 'detail'>;

function checkLines(lines: readonly string[], outputs: readonly DispatchOutput[], redact: Redact): CheckedOutputs {
  const left = new Map(outputs.map(({ name, max }) => [name, max]));
  const deliveries: DispatchDelivery[] = [];
  const dropped: DroppedOutput[] = [];
  const shown = (text: string): string => printableStart(redact(text), SHOWN);
  for (const [index, line] of lines.slice(0, MAX_LINES).entries()) {
    const value = tryParseJson(line);
    const name = isPlainObject(value) && typeof value.output === 'string' ? value.output : null;
    const spec = outputs.find((output) => output.name === name);
    const drop = ({ reason, detail }: Drop): void => {
      dropped.push({ output: name === null ? null : shown(name), line: index + 1, reason, detail: shown(detail) });
    };
    if (!isPlainObject(value) || name === null)
      drop({ reason: 'malformed', detail: 'no JSON object with an `output`' });
    else if (spec === undefined) drop({ reason: 'not_named', detail: 'the route has no such output' });
    else if ((left.get(name) ?? 0) === 0) drop({ reason: 'over_max', detail: `at most ${spec.max} in one run` });
    else {
      const content = readContent(value, spec, redact);
      if ('reason' in content) {
        drop(content);
        continue;
      }
      const messages = messagesOf(content.content, spec);
      if (messages > (left.get(name) ?? 0)) {
        drop({ reason: 'over_max', detail: `its text takes ${messages} messages, at most ${spec.max} in one run` });
        continue;
      }
      left.set(name, (left.get(name) ?? 0) - messages);
      deliveries.push({ ...spec.delivery, output: { name, content: content.content } });
    }
  }
  const over = lines.length - MAX_LINES;
  if (over > 0) {
    const detail = `${over} more than ${MAX_LINES} lines`;
    dropped.push({ output: null, line: MAX_LINES + 1, reason: 'unreadable', detail });
  }
  return { deliveries, dropped };
}

/** As far as it can be told before the text is escaped: one for each full message of the target. */
function messagesOf({ text }: OutputContent, { message }: DispatchOutput): number {
  if (message === undefined || typeof text !== 'string') return 1;
  return Math.max(1, Math.ceil(measure(text, message.unit) / message.limit));
}

function readContent(
  line: Readonly<Record<string, unknown>>,
  { fields, allow }: DispatchOutput,
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
    const said = field.name === 'text' && typeof read.value === 'string' ? readAnswer(read.value) : null;
    if (said?.kind === 'silent') return { reason: 'malformed', detail: `\`text\` says nothing: ${said.reason}` };
    content[field.name] = said?.text ?? read.value;
  }
  return { content };
}

/** Lists that a value must be in. */
const allowedOf = ({ name, values }: ContentField, allow: DispatchOutput['allow']): readonly (readonly string[])[] =>
  [values, Object.hasOwn(allow, name) ? allow[name] : undefined].filter((list) => list !== undefined);
