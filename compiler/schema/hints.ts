/** Hints for problems of values, from examples and descriptions in the schema. */
import type { NodePath, Problem } from '../diagnostics/problem.ts';
import { flowText } from '../text/flow-text.ts';
import type { SchemaName } from './known-keys.ts';
import { descriptionAt, exampleAt } from './known-keys.ts';
import type { ShapePlace as Place } from './shape-problem.ts';
import { nameOf } from './shape-problem.ts';

/** Adds a hint from the schema: an example or the description of the value. */
export const described = ({ schema, path }: Place, problem: Problem): Problem => ({
  ...problem,
  ...hintFrom(schema, path),
});

/** An example of a map or list, else the description of the value. */
export function hintFrom(schema: SchemaName, path: NodePath): Pick<Problem, 'hint'> {
  const description = descriptionAt(schema, path);
  const example = exampleAt(schema, path);
  const name = nameOf(path);
  // An example explains a structure best; a word or a number needs the description.
  if (typeof example === 'object' && example !== null)
    return { hint: `write, for example, \`${name}: ${flowText(example)}\`` };
  return description === null ? {} : { hint: `\`${name}\`: ${description}` };
}

/** The hint for a key without a value. */
export function emptyHint({ schema, path }: Place): Pick<Problem, 'hint'> {
  const isItem = typeof path.at(-1) === 'number';
  const example = exampleAt(schema, isItem ? path.slice(0, -1) : path);
  const value: unknown = isItem && Array.isArray(example) ? example[0] : example;
  if (value === undefined) return { hint: 'write its content below, indented further, or remove the key' };
  return { hint: `write, for example, \`${isItem ? '-' : `${nameOf(path)}:`} ${flowText(value)}\`, or remove it` };
}

/** The boolean meant by `yes` and similar words, which are booleans in YAML 1.1 and text in 1.2, and by a quoted `true`. */
export function truthHint(found: string): string | undefined {
  if (/^(?:yes|y|on|true)$/i.test(found)) return 'true';
  return /^(?:no|n|off|false)$/i.test(found) ? 'false' : undefined;
}
