/** A set of JSON values compared deeply, for the `in` and `in_file` operators. */
import { jsonEqual } from './json-equal.ts';

export interface ValueSet {
  has(value: unknown): boolean;
}

function isNested(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

/** Scalars are found in constant time, nested values by comparing each. */
export function createValueSet(list: readonly unknown[]): ValueSet {
  const scalars = new Set(list.filter((value) => !isNested(value)));
  const nested = list.filter(isNested);
  return {
    has(value) {
      if (!isNested(value)) return scalars.has(value);
      for (const member of nested) if (jsonEqual(member, value)) return true;
      return false;
    },
  };
}
