/** Reads the maps of a hooks file as the original does: keys in any case. */
import type { NodePath } from '../../diagnostics/problem.ts';
import { isPlainMap } from '../../text/plain-map.ts';
import type { DraftRoute, Settings } from '../draft.ts';
import type { ConversionReport } from '../report.ts';

/** Where a part of a hook is converted to. */
export interface HookContext {
  readonly report: ConversionReport;
  readonly route: DraftRoute;
}

export interface Field {
  readonly value: unknown;
  readonly path: NodePath;
}

/** The value of a key, and its path as it is written. A null is no value. */
export function fieldOf(map: Settings, key: string, path: NodePath): Field | null {
  const written = Object.hasOwn(map, key) ? key : Object.keys(map).find((name) => name.toLowerCase() === key);
  if (written === undefined || map[written] === null || map[written] === undefined) return null;
  return { value: map[written], path: [...path, written] };
}

/** A text, or what people write for one; null: neither. */
export function textOf(map: Settings, key: string): string | null {
  const value = fieldOf(map, key, [])?.value;
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : null;
}

/** `#text` and `-attribute`: how parts of an XML body are named. */
export const isXmlPath = (name: string): boolean => /(?:^|\.)[#-][A-Za-z]/.test(name);

export const asMap = (value: unknown): Settings => (isPlainMap(value) ? (value as Settings) : {});

export const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
