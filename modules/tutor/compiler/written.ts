/** What stands where the schema rejects a key or a value. */
import type { NodePath, Problem, SchemaError } from '../../../compiler/diagnostics/problem.ts';
import type { ShapePlace } from '../../../compiler/schema/explain.ts';
import { typesOf } from '../../../compiler/schema/explain.ts';
import type { SchemaName } from '../../../compiler/schema/known-keys.ts';
import { knownKeys } from '../../../compiler/schema/known-keys.ts';
import { valueAt } from '../../../compiler/schema/pointer.ts';
import { isPlainMap } from '../../../compiler/text/plain-map.ts';

export type PlainMap = Readonly<Record<string, unknown>>;

export interface Written {
  readonly schema: SchemaName;
  /** The data of the whole file. */
  readonly data: unknown;
  /** An unknown key, a value of the wrong type, or another mistake. */
  readonly mistake: 'key' | 'type' | 'other';
  /** The path of the key or the value. */
  readonly path: NodePath;
  /** The last name of the path; empty for an item of a list. */
  readonly key: string;
  readonly value: unknown;
  /** The map that holds the key; empty if there is none. */
  readonly map: PlainMap;
  /** The keys that the schema knows: beside an unknown key, or in a value of the wrong type. */
  readonly known: readonly string[];
  /** The types that the value may have. */
  readonly types: readonly string[];
}

export function writtenAt({ schema, data, path: at }: ShapePlace, { keyword, params }: SchemaError): Written {
  const unknown = params.additionalProperty ?? params.unevaluatedProperty;
  const path = unknown === undefined ? at : [...at, String(unknown)];
  const last = path.at(-1);
  const map = valueAt(data, path.slice(0, -1));
  return {
    schema,
    data,
    mistake: unknown !== undefined ? 'key' : keyword === 'type' ? 'type' : 'other',
    path,
    key: typeof last === 'string' ? last : '',
    value: valueAt(data, path),
    map: isPlainMap(map) ? map : {},
    known: knownKeys(schema, at),
    types: typesOf(params),
  };
}

/** A mistake that is recognised. */
export interface Slip extends Problem {
  /** Paths at and below which it explains all that is reported. */
  readonly covers?: readonly NodePath[];
  /** The known key that was meant by an unknown one. */
  readonly instead?: string;
}

type More = { readonly [Key in keyof Slip]?: Slip[Key] | undefined };

/** The problem of an unknown key or of a value, unless `more` says otherwise. What is undefined is left out. */
export function problemOf({ mistake, path }: Written, message: string, more: More): Slip {
  const base =
    mistake === 'key' ? ({ rule: 'unknown-key', at: 'key' } as const) : ({ rule: 'wrong-type', at: 'value' } as const);
  const given = Object.entries(more).filter(([, value]) => value !== undefined);
  return { ...base, path, message, ...Object.fromEntries(given) };
}

/** What other names mean. One name, or several separated by spaces. */
export type Spellings = Readonly<Record<string, string>>;

/** Whether the key is one of the names; case and separators are ignored. */
export function isNamed(names: string, key: string): boolean {
  const list = names.split(' ');
  return list.includes(key) || list.includes(key.toLowerCase().replaceAll(/[- ]/g, '_'));
}

export const meaningOf = (spellings: Spellings, key: string): string | undefined =>
  Object.entries(spellings).find(([names]) => isNamed(names, key))?.[1];
