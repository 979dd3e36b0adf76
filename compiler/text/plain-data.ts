/** Plain data from files: maps without a prototype, values as one line of YAML, command lines as lists. */

import { ExactNumber } from '../../base/exact-number.ts';

/** Plain objects for maps from files. */
export const isPlainMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

type Present<Members> = {
  [Key in keyof Members as undefined extends Members[Key] ? never : Key]: Members[Key];
} & { [Key in keyof Members]?: Exclude<Members[Key], undefined> };

/** Returns the members that are not undefined: optional members are absent instead. */
export const present = <Members extends object>(members: Members): Present<Members> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Present<Members>;

/** Sets a key of any name; a plain assignment of `__proto__` would set the prototype. */
export function setOwn<T>(map: Record<string, T>, key: string, value: T): void {
  if (key === '__proto__') {
    Object.defineProperty(map, key, { value, enumerable: true, configurable: true, writable: true });
  } else map[key] = value;
}

/** Text that needs no quotes, not even inside brackets and braces. */
const PLAIN = /^(?![~-]$)[A-Za-z_/.~-](?:[\w ./~*?@+-]*[\w./~*?+-])?$/;
/** Words that YAML 1.1 or 1.2 does not read as text. */
const WORDS = /^(?:true|false|null|yes|no|on|off|y|n|~|-?\.(?:inf|nan)|-?\.?\d.*)$/i;

/** Quotes strings only where YAML requires it. */
export function flowText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(flowText).join(', ')}]`;
  if (value instanceof ExactNumber) return String(value);
  if (isPlainMap(value)) {
    const pairs = Object.entries(value).map(([key, item]) => `${flowText(key)}: ${flowText(item)}`);
    return pairs.length === 0 ? '{}' : `{ ${pairs.join(', ')} }`;
  }
  return typeof value === 'string' && PLAIN.test(value) && !WORDS.test(value) ? value : JSON.stringify(value ?? null);
}

/** Shell syntax, with which splitting would be ambiguous. */
const SHELL = /["'`$|&;<>()*?\\#\n]/;

/** Splits a command line into arguments, if that is unambiguous. */
export const needsShell = (command: string): boolean => SHELL.test(command);

export const argvOf = (command: string): readonly string[] => command.trim().split(/\s+/);

/** Environment variables with their origins, for messages. */
interface Variable {
  readonly value: string;
  readonly origin: string;
}

export type Variables = ReadonlyMap<string, Variable>;

/** For a message, after the name of a variable. */
export const originOf = (variable: string, variables: Variables): string => {
  const origin = variables.get(variable)?.origin;
  return origin === undefined ? '' : ` of ${origin}`;
};

/** Advice for a folder without a config. */
export const HOW_TO_START = '`hookwright init` writes one';
