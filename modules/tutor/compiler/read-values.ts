/** Reads values and conditions as other programs write them. Each function returns keys and values to write, or null. */

import { ExactNumber, readNumber } from '../../../base/exact-number.ts';
import { parsePath, printPath } from '../../../base/paths.ts';
import { parseNetwork } from '../../../compiler/config/settings.ts';
import type { WrittenText } from '../../../compiler/config/written-numbers.ts';
import { withWritten } from '../../../compiler/config/written-numbers.ts';
import type { NodePath, Problem, SchemaError } from '../../../compiler/diagnostics/diagnostic.ts';
import type { ShapePlace } from '../../../compiler/schema/explain.ts';
import { typesOf } from '../../../compiler/schema/explain.ts';
import type { SchemaName } from '../../../compiler/schema/known-keys.ts';
import { knownKeys } from '../../../compiler/schema/known-keys.ts';
import { valueAt } from '../../../compiler/schema/pointer.ts';
import { argvOf, isPlainMap, needsShell } from '../../../compiler/text/plain-data.ts';
import { isSecretName } from '../../../compiler/text/secret-ref.ts';
import { oneOf } from '../../../compiler/text/suggest.ts';
import { ADVICE, CALLED, EACH, NEGATED } from './built/names.ts';

export type PlainMap = Readonly<Record<string, unknown>>;

/** A key or a value that the schema rejects. */
export interface Written {
  readonly schema: SchemaName;
  /** The data of the whole file. */
  readonly data: unknown;
  /** An unknown key, a value of the wrong type, or another mistake. */
  readonly mistake: 'key' | 'type' | 'other';
  /** The path of the key or the value. */
  readonly path: NodePath;
  /** The last name of the path; empty for an item of a list. */
  readonly key: string;
  readonly value: unknown;
  /** The map that holds the key; empty if there is none. */
  readonly map: PlainMap;
  /** The keys that the schema knows: beside an unknown key, or in a value of the wrong type. */
  readonly known: readonly string[];
  /** The types that the value may have. */
  readonly types: readonly string[];
  readonly written: WrittenText;
}

export function writtenAt(place: ShapePlace, { keyword, params }: SchemaError, written: WrittenText): Written {
  const { schema, data, path: at } = place;
  const unknown = params.additionalProperty ?? params.unevaluatedProperty;
  const path = unknown === undefined ? at : [...at, String(unknown)];
  const last = path.at(-1);
  const map = valueAt(data, path.slice(0, -1));
  return {
    schema,
    data,
    mistake: unknown !== undefined ? 'key' : keyword === 'type' ? 'type' : 'other',
    path,
    key: typeof last === 'string' ? last : '',
    value: valueAt(data, path),
    map: isPlainMap(map) ? map : {},
    known: knownKeys(schema, at),
    types: typesOf(params),
    written,
  };
}

/** A recognised mistake. */
export interface Slip extends Problem {
  /** Paths at and below which it explains all problems. */
  readonly covers?: readonly NodePath[];
  /** The known key that was meant by an unknown one. */
  readonly instead?: string;
}

type More = { readonly [Key in keyof Slip]?: Slip[Key] | undefined };

/** The problem of an unknown key or of a value, unless `more` says otherwise. Undefined members are omitted. */
export function problemOf({ mistake, path }: Written, message: string, more: More): Slip {
  const base =
    mistake === 'key' ? ({ rule: 'unknown-key', at: 'key' } as const) : ({ rule: 'wrong-type', at: 'value' } as const);
  const given = Object.entries(more).filter(([, value]) => value !== undefined);
  return { ...base, path, message, ...Object.fromEntries(given) };
}

/** Meanings of other names: by one name, or several separated by spaces. */
type Spellings = Readonly<Record<string, string>>;

/** Whether the key is one of the names; case and separators are ignored. */
export function isNamed(names: string, key: string): boolean {
  const list = names.split(' ');
  return list.includes(key) || list.includes(key.toLowerCase().replaceAll(/[- ]/g, '_'));
}

export const meaningOf = (spellings: Spellings, key: string): string | undefined =>
  Object.entries(spellings).find(([names]) => isNamed(names, key))?.[1];

type Read = (written: Written) => PlainMap | null;

/** `{ telegram: { chat_id } }` and `{ target: telegram, chat_id }`. */
export const targetIn: Read = ({ value }) => {
  if (!isPlainMap(value)) return null;
  const [[name, address] = ['', undefined], second] = Object.entries(value);
  if (second === undefined && (isPlainMap(address) || address === null)) return addressed(name, address ?? {});
  const key = ['target', 'platform', 'type', 'to', 'name'].find((each) => typeof value[each] === 'string');
  if (key === undefined) return null;
  const { [key]: target, ...others } = value;
  return addressed(target, others);
};

const addressed = (deliver: unknown, address: PlainMap): PlainMap =>
  Object.keys(address).length === 0 ? { deliver } : { deliver, deliver_extra: address };

/** `{ pull_request: [opened] }` and `{ pull_request: { types: [opened] } }`: events with actions, as in workflow files. */
export const eventsIn: Read = ({ value, map, key }) => {
  if (!isPlainMap(value) || (key !== 'events' && map.events !== undefined)) return null;
  const events = Object.keys(value);
  const lists = Object.values(value).flatMap((actions) => (isPlainMap(actions) ? actions.types : actions));
  const actions = [...new Set(lists.filter((action) => typeof action === 'string'))];
  if (actions.length === 0) return { events };
  return {
    events,
    filters: [{ field: 'action', ...(actions.length === 1 ? { equals: actions[0] } : { in: actions }) }],
  };
};

/** Whether the events have nothing but actions: branches and paths of workflow files would be lost. */
export const isOnlyTypes = (value: unknown): boolean =>
  Object.values(Object(value)).every(
    (actions) => actions === null || !isPlainMap(actions) || Object.keys(actions).join() === 'types',
  );

/** `[MODE=fast]` and `[{ name: MODE, value: fast }]`: variables as in configs of containers. */
export const variablesIn: Read = ({ value }) => {
  const items: readonly unknown[] = Array.isArray(value) ? value : [];
  const env = Object.fromEntries(items.flatMap((item) => variableIn(item)));
  return items.length > 0 && Object.keys(env).length === items.length ? { env } : null;
};

function variableIn(item: unknown): readonly (readonly [string, string])[] {
  const [, name, value] = /^([A-Za-z_]\w*)=(.*)$/.exec(String(item)) ?? [];
  if (name !== undefined && value !== undefined) return [[name, value]];
  if (!isPlainMap(item) || typeof item.name !== 'string' || Object.keys(item).length !== 2) return [];
  return ['string', 'number'].includes(typeof item.value) ? [[item.name, String(item.value)]] : [];
}

/** `8080:8644` and `[8644/tcp]`: the gateway listens on the last port. */
export const portIn: Read = ({ value }) => {
  const [, port] = /^(?:[^,]*:)?(\d{1,5})(?:\/tcp)?$/.exec(String(value)) ?? [];
  return port === undefined || port === value ? null : { port: Number(port) };
};

/** `127.0.0.1:8644`, and ports as a container publishes them. */
export const hostIn: Read = (written) => {
  const { key, value } = written;
  const [, host] =
    (key === 'ports' || typeof value !== 'string' ? null : /^(?!\d+$)([\w.-]+)(?::\d{1,5})?$/.exec(value)) ?? [];
  const lines = {
    ...(host === undefined ? {} : { host }),
    ...portIn({ ...written, value: [value].flat().map(String) }),
  };
  return Object.keys(lines).length === 0 ? null : lines;
};

/** A list of maps, and a text that can only be a chat: a long number, or the name of a channel. */
export const addressIn: Read = ({ value }) => {
  if (!Array.isArray(value))
    return /^(?:-?\d{5,20}|[@#][\w-]+)$/.test(String(value)) ? { deliver_extra: { chat_id: String(value) } } : null;
  const entries = value.flatMap((item) => (isPlainMap(item) ? Object.entries(item) : [['', item]]));
  const names = new Set(entries.map(([name]) => name));
  return names.size < entries.length || names.has('') ? null : { deliver_extra: Object.fromEntries(entries) };
};

/** A command line, if no shell has to split it. */
export const argumentsIn: Read = ({ key, value }) => {
  const text = String(value);
  return needsShell(text) || text.trim() === '' ? null : { [key]: argvOf(text) };
};

export const agentIn: Read = (written) => {
  const command = argumentsIn({ ...written, key: 'command' });
  return command === null || written.path.length > 1 ? null : { agent: command };
};

/** Names separated by commas. A comma inside braces belongs to a glob; an event with a blank may be one (`Push Hook`) or two. */
export const valuesIn: Read = ({ key, value, path, written }) => {
  const exact = key === 'in' ? withWritten(value, path, written) : null;
  if (exact instanceof ExactNumber) return { in: [exact] };
  const text = String(value);
  const names = /[{}"\n]/.test(text) ? [text] : text.split(',').map((name) => name.trim());
  const list = names.filter((name) => name !== '');
  return list.length === 0 || (key === 'events' && list.some((name) => /\s/.test(name))) ? null : { [key]: list };
};

export const networksIn: Read = (written) => {
  const lines = valuesIn(written);
  const names = Object.values(lines ?? {}).flat();
  return names.every((name) => parseNetwork(String(name)) !== null) ? lines : null;
};

/** The lines of a text as a list; one line, unless the key has texts of several. */
export const linesIn: Read = ({ key, value }) => {
  const lines: readonly unknown[] = Array.isArray(value) ? value : [];
  // `field: ["@odata.id"]` is the spelling of a key, and lacks the quotes of YAML.
  if (key === 'field' && lines.length === 1 && parsePath(String(lines[0])) === null)
    return { field: printPath([String(lines[0])]) };
  const isText = lines.length === 1 || (lines.length > 1 && ['prompt', 'description'].includes(key));
  return isText && !isSecretName(key) && lines.every((line) => typeof line === 'string')
    ? { [key]: lines.join('\n') }
    : null;
};

/** `yes` and similar words, which are booleans in YAML 1.1 and text in 1.2, and a quoted `true`. */
export const truthIn: Read = ({ key, value }) => {
  const [, yes] = /^(?:(yes|y|on|true)|no|n|off|false)$/i.exec(String(value)) ?? [null];
  return yes === null ? null : { [key]: yes !== undefined };
};

const REFERENCES = { 'env env_var from_env fromEnv variable': 'env', 'file path from_file': 'file' };

/** Valid names and paths. Other text is not repeated in messages, because it may be a literal secret. */
const OPERANDS: Readonly<Record<string, RegExp>> = { env: /^[A-Z_][A-Z0-9_]*$/, file: /^[~.\w-]*\/[\w./-]+$/ };

/** `{ env: NAME }`: a reference written as a map. */
export const referenceIn: Read = ({ key, value }) => {
  const [[name, operand] = ['', null], second] = Object.entries(value ?? {});
  const kind = second === undefined ? meaningOf(REFERENCES, name) : undefined;
  return typeof operand === 'string' && OPERANDS[kind ?? '']?.test(operand) === true
    ? { [key]: `${kind}:${operand}` }
    : null;
};

const WORDS = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];

/** Units by the end of a key's name, with their factors. */
const UNITS: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  _seconds: { s: 1, sec: 1, m: 60, min: 60, h: 3600, d: 86_400 },
  _bytes: { k: 1024, kb: 1024, m: 1024 ** 2, mb: 1024 ** 2, g: 1024 ** 3, gb: 1024 ** 3 },
  rate_limit: { '/m': 1, '/min': 1, '/minute': 1, 'per m': 1, 'per min': 1, 'per minute': 1 },
};

/** A number in quotes, as a word, or with a unit that the key's name allows. */
export const numberIn: Read = ({ key, value, path, types }) => {
  const text = String(value).trim().toLowerCase();
  const [, digits = '', unit = ''] = /^(-?\d+(?:\.\d+)?)\s*(.*)$/.exec(text) ?? [];
  const factors = Object.entries(UNITS).find(([name]) => key.endsWith(name))?.[1] ?? {};
  const factor = unit === '' ? 1 : (factors[unit.replace('ib', 'b')] ?? Number.NaN);
  const number = digits === '' ? WORDS.indexOf(text) : Number(digits) * factor;
  const exact = factor === 1 && digits !== '' && !Number.isSafeInteger(number) ? readNumber(digits) : number;
  const isWord = digits !== '' || number >= 0;
  const fits = types.includes('number') ? Number.isFinite(number) : Number.isInteger(number);
  return isWord && fits && !path.some((part) => isSecretName(String(part))) ? { [key]: exact } : null;
};

/** Advice on the form of conditions. */
export const CONDITION = 'write each condition as `{ field: action, equals: opened }`';

interface Comparison {
  readonly field: unknown;
  readonly operator: string;
  readonly value: unknown;
}

/** In other tools: alternatives, a comparison, a test of presence. */
const OTHER_TEST =
  /[|,]|^[!<>=~/^]|^(?:not\b.*|empty|blank|null|none|nil|(?:un)?set|present|missing|exists?|(?:un)?defined|any)$/i;

/**
 * `matches: "a*b"` may be a glob, and `match: main` the whole text; with these signs it is a regex. A list may be the whole value
 * or the values to choose from. @param operator empty if it is not written
 */
export function isCertain(operator: string, value: unknown): boolean {
  const name = meaningOf(CALLED, operator) ?? operator;
  if (Array.isArray(value) && isNamed('equals not_equals', name)) return false;
  if (isNamed(' is value', operator) && OTHER_TEST.test(String(value).trim())) return false;
  return !/^(?:match(?:es)?|pattern)$/i.test(operator) || /[\\^$|()+]|\.[*?]|\[[^\]]+\]/.test(String(value));
}

/** Returns null if the operator is not one of these, by their own or another name. */
function conditionWith({ field, operator, value }: Comparison, operators: readonly string[]): PlainMap | null {
  const negated = meaningOf(NEGATED, operator);
  if (negated !== undefined) return { not: { field, [negated]: value } };
  const group = meaningOf(EACH, operator);
  if (group !== undefined && Array.isArray(value)) return { [group]: value.map((item) => ({ field, contains: item })) };
  const name = operators.includes(operator) ? operator : (meaningOf(CALLED, operator) ?? '');
  return operators.includes(name) ? { field, [name]: value } : null;
}

/** `operator: equals` with `value: x`. */
function comparisonIn({ field, value, ...others }: PlainMap): Comparison | null {
  const [[key, operator] = ['', null], second] = Object.entries(others);
  const isOne = second === undefined && ['operator', 'op', 'comparison', 'condition'].includes(key);
  return isOne && value !== undefined && typeof operator === 'string' ? { field, operator, value } : null;
}

/** A map that does not say which of its keys is the field: `action: opened`. */
const isShort = ({ map, known }: Written): boolean =>
  !Object.keys(map).some((key) => known.includes(key) || ['all', 'any'].includes(meaningOf(CALLED, key) ?? ''));

/** A condition with an unknown key, as one that has the same meaning. */
export function conditionOf(written: Written): PlainMap | null {
  const { key, known, path } = written;
  if (Object.keys(written.map).length > MOST_KEYS) return null;
  const map = withWritten(written.map, path.slice(0, -1), written.written) as PlainMap;
  const { field, header, ...others } = map;
  if (field !== undefined) {
    const compared = comparisonIn(map);
    const meant =
      compared === null ? conditionWith({ field, operator: key, value: map[key] }, []) : conditionWith(compared, known);
    return meant === null ? null : { '': meant };
  }
  if (typeof header === 'string') return { '': { field: `headers.${header}`, ...others } };
  const isRead = Object.values(written.map).every((value) => !isPlainMap(value) && value !== null);
  // Several keys may be the parts of one condition: its field, its operator, its value.
  if (!isRead || !isShort(written) || Object.keys(map).some((name) => PARTS.test(name))) return null;
  const conditions = Object.entries(map).map(([name, value]) => ({
    field: name,
    [Array.isArray(value) ? 'in' : 'equals']: value,
  }));
  const isItem = typeof path.at(-2) === 'number';
  return { '': conditions.length === 1 ? conditions[0] : isItem ? { all: conditions } : conditions };
}

/** More keys are not a condition of another program, and each of them is reported: the whole map is not read for each. */
const MOST_KEYS = 20;

/** Names of the parts of a condition in other programs. */
const PARTS =
  /^(?:path|key|name|type|kind|value|left|right|pattern|source|match|expression|expr|jq|jsonpath|condition)$/i;

/**
 * Whether the condition has no key beside the unknown one that would be lost. Of several keys, one may not be a field; of a
 * field with a list, the list may be the whole value or the values to choose from.
 */
export function isOneCondition({ map, value }: Written): boolean {
  const compared = comparisonIn(map);
  if (compared !== null) return isCertain(compared.operator, compared.value);
  if (typeof map.header === 'string') return Object.keys(map).length === 2;
  return map.field === undefined
    ? !Array.isArray(value) && isCertain('', value) && Object.keys(map).length === 1
    : Object.keys(map).length === 2;
}

export function conditionHint(written: Written): string | undefined {
  const { map, known } = written;
  const compared = comparisonIn(map);
  if (map.field === undefined) return isShort(written) ? CONDITION : undefined;
  if (compared === null) return undefined;
  const operators = known.filter((name) => !['field', 'all', 'any', 'not'].includes(name));
  const advice = meaningOf(ADVICE.not_equals, compared.operator) ?? `operators are ${oneOf(operators, 'and')}`;
  return `\`${compared.operator}\` is not an operator: ${advice}`;
}

const COMPARISON =
  /^\{?\$?\.?([A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*)\}?\s*([=!~<>]{1,3}|\s(?:contains|matches|is)\s)\s*(\S.*)$/;

/** `action == "opened"`: a comparison of a field with a constant. */
export function conditionIn({ key, value: text, known }: Written): PlainMap | null {
  const [, field, operator = '', operand = ''] = COMPARISON.exec(String(text).trim()) ?? [];
  const value = constantIn(operand);
  if (field === undefined || value === undefined) return null;
  const meant = conditionWith({ field, operator: operator.trim(), value }, known);
  return meant === null ? null : { [key]: meant };
}

/** Returns undefined if the text may not be a constant. */
function constantIn(text: string): unknown {
  const quoted = /^(?:"([^"\\]*)"|'([^'\\]*)')$/.exec(text);
  if (quoted !== null) return quoted[1] ?? quoted[2];
  if (/^(?:true|false|null)$/.test(text)) return JSON.parse(text);
  if (/^-?(?:0|[1-9]\d*)(?:\.\d+)?$/.test(text)) return readNumber(text);
  return /^[\w./@:-]+$/.test(text) ? text : undefined;
}
