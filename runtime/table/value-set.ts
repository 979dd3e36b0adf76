/** A set of JSON values compared deeply, for the `in` and `in_file` operators. Numbers are compared by their exact value. */
import { compareNumbers, ExactNumber, exactValue, isNumber } from '../../base/exact-number.ts';

export interface ValueSet {
  has(value: unknown): boolean;
}

/** An object or a list. */
export function isNested(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !(value instanceof ExactNumber);
}

/** Scalars are found in constant time, nested values by comparing each. */
export function createValueSet(list: readonly unknown[]): ValueSet {
  const numbers = new Set(list.filter(isNumber).map(exactValue));
  const others = new Set(list.filter((value) => !isNested(value) && !isNumber(value)));
  const nested = list.filter(isNested);
  return {
    has(value) {
      if (isNumber(value)) return numbers.has(exactValue(value));
      if (!isNested(value)) return others.has(value);
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
