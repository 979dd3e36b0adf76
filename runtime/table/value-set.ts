/** A set of JSON values compared deeply, for the `in` and `in_file` operators. Numbers are compared by their exact value. */
import { compareNumbers, ExactNumber, exactValue, isNumber, simplest } from '../../base/exact-number.ts';

export interface ValueSet {
  has(value: unknown): boolean;
}

function isNested(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !(value instanceof ExactNumber);
}

/** Scalars are found in constant time, nested values by comparing each. */
export function createValueSet(list: readonly unknown[]): ValueSet {
  const numbers = list.filter((value) => value instanceof ExactNumber);
  const scalars = new Set([...list.filter((value) => !isNested(value)), ...numbers.map(simplest)]);
  const exact = new Set(numbers.map(exactValue));
  const nested = list.filter(isNested);
  return {
    has(value) {
      if (value instanceof ExactNumber) return scalars.has(simplest(value)) || exact.has(exactValue(value));
      if (!isNested(value)) return scalars.has(value);
      for (const member of nested) if (jsonEqual(member, value)) return true;
      return false;
    },
  };
}

/** Recurses as deep as the shallower value: in a filter, at most the operand from the config. */
export function jsonEqual(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (left instanceof ExactNumber || right instanceof ExactNumber)
    return isNumber(left) && isNumber(right) && compareNumbers(left, right) === 0;
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  if (Array.isArray(left) !== Array.isArray(right)) return false;
  const keys = Object.keys(left);
  if (keys.length !== Object.keys(right).length) return false;
  for (const key of keys) {
    if (!Object.hasOwn(right, key)) return false;
    if (!jsonEqual((left as Record<string, unknown>)[key], (right as Record<string, unknown>)[key])) return false;
  }
  return true;
}
