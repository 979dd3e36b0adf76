/** Reads values as other programs write them. Each function returns keys and values to write, or null. */
import { parseNetwork } from '../../../compiler/config/network.ts';
import { argvOf, needsShell } from '../../../compiler/text/argv-text.ts';
import { isPlainMap } from '../../../compiler/text/plain-map.ts';
import { isSecretName } from '../../../compiler/text/secret-names.ts';
import type { PlainMap, Written } from './written.ts';
import { meaningOf } from './written.ts';

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

/** Names separated by commas. A comma inside braces belongs to a glob. */
export const valuesIn: Read = ({ key, value }) => {
  const text = String(value);
  const names = /[{}"\n]/.test(text) ? [text] : text.split(',').map((name) => name.trim());
  const list = names.filter((name) => name !== '');
  return list.length === 0 ? null : { [key]: list };
};

export const networksIn: Read = (written) => {
  const lines = valuesIn(written);
  const names = Object.values(lines ?? {}).flat();
  return names.every((name) => parseNetwork(String(name)) !== null) ? lines : null;
};

/** The lines of a text as a list; one line, unless the key has texts of several. */
export const linesIn: Read = ({ key, value }) => {
  const lines: readonly unknown[] = Array.isArray(value) ? value : [];
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
  const isWord = digits !== '' || number >= 0;
  const fits = types.includes('number') ? Number.isFinite(number) : Number.isInteger(number);
  return isWord && fits && !path.some((part) => isSecretName(String(part))) ? { [key]: number } : null;
};
