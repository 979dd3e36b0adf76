/** Numbers of a file with the text in which they were written, for operands of filters and payloads of tests. */
import { isJsonObject, readNumber } from '../../base/exact-number.ts';
import type { NodePath } from '../diagnostics/diagnostic.ts';

/** Returns the text of the scalar at a path as it was written; null for a quoted or tagged one, and for any other value. */
export type WrittenText = (path: NodePath) => string | null;

const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/;

/** True for a number that JavaScript cannot hold. In files it becomes text, so that a chat id keeps its digits. */
export const isBeyond = (text: string): boolean =>
  /^-?\d+$/.test(text) ? !Number.isSafeInteger(Number(text)) : JSON_NUMBER.test(text) && !Number.isFinite(Number(text));

/** Copies a value of a file; its numbers, those beyond JavaScript too, keep their text. */
export function withWritten(value: unknown, path: NodePath, written: WrittenText): unknown {
  if (Array.isArray(value)) return value.map((item, index) => withWritten(item, [...path, index], written));
  if (isJsonObject(value)) {
    const entries = Object.entries(value).map(([key, item]) => [key, withWritten(item, [...path, key], written)]);
    return Object.fromEntries(entries) as unknown;
  }
  if (typeof value !== 'number' && (typeof value !== 'string' || !JSON_NUMBER.test(value))) return value;
  const text = written(path);
  return text !== null && JSON_NUMBER.test(text) ? readNumber(text) : value;
}
