/** What a chat command and an application link both say: which blueprint, with which values. */
import type { BlueprintValues } from './fields.ts';

export interface Trigger {
  readonly key: string;
  /** By field name, in the order given. */
  readonly values: BlueprintValues;
}

export type ParsedTrigger =
  | { readonly ok: true; readonly trigger: Trigger }
  /** What is wrong and what would be right. */
  | { readonly ok: false; readonly message: string };

const KEY = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const NAME = /^[a-z][a-z0-9_]*$/;

function refuse(message: string): ParsedTrigger {
  return { ok: false, message };
}

/** Builds a trigger from its parts; refuses malformed keys and names, and a name given twice. */
export function createTrigger(key: string, pairs: Iterable<readonly [string, string]>): ParsedTrigger {
  if (!KEY.test(key)) {
    return refuse(
      `\`${key}\` is no blueprint key: keys are lower-case words joined by \`-\`, such as \`morning-brief\``,
    );
  }
  const values = new Map<string, string>();
  for (const [name, value] of pairs) {
    if (!NAME.test(name)) return refuse(`\`${name}\` is no field name: names are lower-case letters, digits and \`_\``);
    if (values.has(name)) return refuse(`\`${name}\` is given twice`);
    values.set(name, value);
  }
  return { ok: true, trigger: { key, values: Object.fromEntries(values) } };
}
