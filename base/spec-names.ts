/** Usual names for the specification's tokens of senders and targets. */
import { SPEC_NAMES } from './built/spec-names.ts';

export { SPEC_NAMES };

/** The canonical name for one that may be a token of the specification. */
export function canonicalName(kind: keyof typeof SPEC_NAMES, name: string): string {
  const names: Readonly<Record<string, string>> = SPEC_NAMES[kind];
  return Object.hasOwn(names, name) ? (names[name] ?? name) : name;
}

/** The specification's token for a target, or its canonical name if there is none. */
export const specTarget = (real: string): string =>
  Object.entries(SPEC_NAMES.target).find(([, name]) => name === real)?.[0] ?? real;

export const realSource = (name: string): string => canonicalName('source', name);
export const realTarget = (name: string): string => canonicalName('target', name);
