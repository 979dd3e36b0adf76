/** A trigger: a blueprint and values for its fields, as a chat command or an application link states them. */
import type { BlueprintValues } from './fields.ts';

export interface Trigger {
  readonly key: string;
  /** By field name, in the given order. */
  readonly values: BlueprintValues;
}

export type ParsedTrigger =
  | { readonly ok: true; readonly trigger: Trigger }
  /** States the problem and what is accepted. */
  | { readonly ok: false; readonly message: string };

const KEY = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const NAME = /^[a-z][a-z0-9_]*$/;

function refuse(message: string): ParsedTrigger {
  return { ok: false, message };
}

/** Creates a trigger from its parts. Malformed keys and names and duplicate names are errors. */
export function createTrigger(key: string, pairs: Iterable<readonly [string, string]>): ParsedTrigger {
  if (!KEY.test(key)) {
    return refuse(
      `\`${key}\` is not a blueprint key: keys are lower-case words joined by \`-\`, such as \`morning-brief\``,
    );
  }
  const values = new Map<string, string>();
  for (const [name, value] of pairs) {
    if (!NAME.test(name))
      return refuse(`\`${name}\` is not a field name: names consist of lower-case letters, digits and \`_\``);
    if (values.has(name)) return refuse(`\`${name}\` is given twice`);
    values.set(name, value);
  }
  return { ok: true, trigger: { key, values: Object.fromEntries(values) } };
}
