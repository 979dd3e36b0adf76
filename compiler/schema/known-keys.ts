/** Looks up what a schema allows at a path: keys, types, descriptions and examples. */
import { SCHEMAS } from '../../schemas/built/schemas.ts';
import type { NodePath } from '../diagnostics/diagnostic.ts';
import { isPlainMap } from '../text/plain-data.ts';
import { suggest } from '../text/suggest.ts';

type Schema = Readonly<Record<string, unknown>>;

interface Resolved {
  readonly schema: Schema;
  /** The schema's file, to resolve relative references. */
  readonly root: Schema;
}

const BY_ID: ReadonlyMap<string, Schema> = new Map(
  Object.values(SCHEMAS).map((schema: Schema) => [String(schema.$id), schema]),
);

export type SchemaName = keyof typeof SCHEMAS;

/** All branches of the schema that can apply at this path. */
function schemasAt(name: SchemaName, path: NodePath): readonly Schema[] {
  const root: Schema = SCHEMAS[name];
  let places = branches({ schema: root, root });
  for (const part of path) places = places.flatMap((place) => children(place, part)).flatMap(branches);
  return places.map(({ schema }) => schema);
}

/** The keys that any applicable branch of the schema names. */
export const knownKeys = (name: SchemaName, path: NodePath): readonly string[] => [
  ...new Set(schemasAt(name, path).flatMap((schema) => Object.keys(mapOf(schema.properties)))),
];

/** The JSON types that are allowed at this path. */
export const typesAt = (name: SchemaName, path: NodePath): ReadonlySet<unknown> =>
  new Set(schemasAt(name, path).flatMap(({ type }) => type));

/** Whether the map at this path accepts the key, because it is known or may have any name. */
export const acceptsKey = (name: SchemaName, path: NodePath, key: string): boolean =>
  knownKeys(name, path).includes(key) ||
  schemasAt(name, path).some(({ additionalProperties }) => isPlainMap(additionalProperties));

export function descriptionAt(name: SchemaName, path: NodePath): string | null {
  const found = schemasAt(name, path).find(({ description }) => typeof description === 'string');
  return found === undefined ? null : String(found.description);
}

export const exampleAt = (name: SchemaName, path: NodePath): unknown =>
  schemasAt(name, path).flatMap(({ examples }): unknown[] => (Array.isArray(examples) ? examples : []))[0];

/** The known key that is most similar to an unknown one. */
export function guessKey(name: SchemaName, path: NodePath): string | null {
  return suggest(String(path.at(-1)), knownKeys(name, path.slice(0, -1)))[0] ?? null;
}

/** Resolves the reference of a schema and flattens its combinators. */
function branches(place: Resolved): readonly Resolved[] {
  const { schema, root } = place;
  const target = typeof schema.$ref === 'string' ? resolveRef(schema.$ref, root) : null;
  const combined = [schema.allOf, schema.oneOf, schema.anyOf].flatMap((list) => (Array.isArray(list) ? list : []));
  const inner = combined.filter(isPlainMap).flatMap((branch) => branches({ schema: branch, root }));
  return [place, ...(target === null ? [] : branches(target)), ...inner];
}

function children({ schema, root }: Resolved, part: string | number): readonly Resolved[] {
  const named = mapOf(schema.properties)[String(part)];
  const child = typeof part === 'number' ? schema.items : (named ?? schema.additionalProperties);
  return isPlainMap(child) ? [{ schema: child, root }] : [];
}

/** `file.schema.json`, `#/$defs/x` or both. */
function resolveRef(ref: string, from: Schema): Resolved | null {
  const [file = '', pointer = ''] = ref.split('#');
  const root = file === '' ? from : BY_ID.get(file);
  if (root === undefined) return null;
  let schema: unknown = root;
  for (const part of pointer.split('/').slice(1)) schema = mapOf(schema)[part];
  return isPlainMap(schema) ? { schema, root } : null;
}

const mapOf = (value: unknown): Readonly<Record<string, unknown>> => (isPlainMap(value) ? value : {});
