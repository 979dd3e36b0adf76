/** Converts JSON pointers of schema errors to paths of keys and indexes. */
import type { NodePath } from '../diagnostics/diagnostic.ts';
import { isPlainMap } from '../text/plain-data.ts';

/** A part is an index if the data has a list there; `0` can also be a key. */
export function parsePointer(pointer: string, data: unknown): NodePath {
  const path: (string | number)[] = [];
  let value = data;
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    path.push(Array.isArray(value) ? Number(key) : key);
    value = childOf(value, key);
  }
  return path;
}

/** Returns the value at a path, or undefined. */
export function valueAt(data: unknown, path: NodePath): unknown {
  return path.reduce<unknown>((value, key) => childOf(value, String(key)), data);
}

const childOf = (value: unknown, key: string): unknown => {
  if (Array.isArray(value)) return value[Number(key)];
  return isPlainMap(value) && Object.hasOwn(value, key) ? value[key] : undefined;
};
