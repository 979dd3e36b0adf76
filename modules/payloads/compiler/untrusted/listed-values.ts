/** Lists the values that a condition accepts. */
import type { WrittenLeaf } from '../shapes/read-leaf.ts';

/** Returns null if the condition does not list values. */
export function listedValues({ operator, value }: WrittenLeaf, negated: boolean): readonly unknown[] | null {
  if (negated) return operator === 'not_equals' ? [value] : null;
  if (operator === 'equals') return [value];
  if (operator === 'in') return Array.isArray(value) ? value : null;
  return operator === 'regex' ? alternativesOf(String(value)) : null;
}

/** The alternatives of a fully anchored pattern of plain words, such as `^(a|b)$`. */
function alternativesOf(pattern: string): readonly string[] | null {
  const [, group, single] = /^\^(?:\((?:\?:)?([\w|-]+)\)|([\w-]+))\$$/.exec(pattern) ?? [];
  return single === undefined ? (group?.split('|') ?? null) : [single];
}
