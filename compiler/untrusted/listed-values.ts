/** The values that a condition lets through, where it lists them. */
import type { WrittenLeaf } from '../shapes/read-leaf.ts';

/** null: it does not list them here. */
export function listedValues({ operator, value }: WrittenLeaf, negated: boolean): readonly unknown[] | null {
  if (negated) return operator === 'not_equals' ? [value] : null;
  if (operator === 'equals') return [value];
  if (operator === 'in') return Array.isArray(value) ? value : null;
  return operator === 'regex' ? alternativesOf(String(value)) : null;
}

/** `^(a|b)$`: anchored as a whole, and words without a pattern. */
function alternativesOf(pattern: string): readonly string[] | null {
  const [, group, single] = /^\^(?:\((?:\?:)?([\w|-]+)\)|([\w-]+))\$$/.exec(pattern) ?? [];
  return single === undefined ? (group?.split('|') ?? null) : [single];
}
