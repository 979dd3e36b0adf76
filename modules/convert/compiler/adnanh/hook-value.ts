/** Reads values of a hooks file. Keys are case-insensitive, as in the original. */
import type { NodePath } from '../../../../compiler/diagnostics/diagnostic.ts';
import type { Settings } from '../draft.ts';

interface Field {
  readonly value: unknown;
  readonly path: NodePath;
}

/** The value of a key, and the path as written. Null values count as absent. */
export function fieldOf(map: Settings, key: string, path: NodePath): Field | null {
  const written = Object.hasOwn(map, key) ? key : Object.keys(map).find((name) => name.toLowerCase() === key);
  if (written === undefined || map[written] === null || map[written] === undefined) return null;
  return { value: map[written], path: [...path, written] };
}

/** The value as text; numbers and booleans are converted. Null if it is neither. */
export function textOf(map: Settings, key: string): string | null {
  const value = fieldOf(map, key, [])?.value;
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : null;
}

/** Whether a path names a part of an XML body: `#text` or `-attribute`. */
export const isXmlPath = (name: string): boolean => /(?:^|\.)[#-][A-Za-z]/.test(name);
