/** Adds what the catalog and the rules know to the schema of a config, for editors: the compiler says more than a schema that every version shares. */
import { OPERATORS } from '../../../../compiler/config/filter-keys.ts';
import type { ShippedCatalog } from '../../../../compiler/source/shipped-catalog.ts';
import { isPlainMap } from '../../../../compiler/text/plain-map.ts';
import type { Schema } from './bundle-schema.ts';

type Catalog = Pick<ShippedCatalog, 'sources' | 'targets' | 'toolsets'>;

/** @param schema of a config, with all that it refers to */
export function addCatalogHints(schema: Schema, catalog: Catalog): Schema {
  const names = namesOf(catalog);
  const root = edit(schema, {
    'properties platforms properties': (properties) => ({ ...targetSchemas(schema, catalog), ...properties }),
    'properties platform_toolsets additionalProperties items': () => oneOfOrText(names.toolsets),
    '$defs job properties': (properties) => ({
      ...properties,
      ...deliverAndToolsets(properties, names),
      schedule: { ...at(properties, 'schedule'), pattern: '^\\s*(\\S+\\s+){4}\\S+\\s*$' },
      timezone: { ...at(properties, 'timezone'), pattern: '^[A-Za-z][A-Za-z0-9_+/-]*$' },
    }),
    '$defs route.schema.json properties': (properties) => ({
      ...properties,
      ...deliverAndToolsets(properties, names),
      source: { ...at(properties, 'source'), ...oneOfOrText(names.sources) },
      auth: { ...at(properties, 'auth'), items: oneOfOrText(names.sources) },
    }),
    '$defs route.schema.json $defs filter': (filter) => ({ ...filter, oneOf: FILTER_FORMS }),
  });
  return withMergeKeys(root) as Schema;
}

type Names = Readonly<Record<keyof Catalog, readonly string[]>>;

const namesOf = ({ sources, targets, toolsets }: Catalog): Names => ({
  sources: allNames(sources),
  targets: allNames(targets),
  toolsets: Object.keys(toolsets).sort(),
});

const allNames = (entries: Readonly<Record<string, { readonly aliases?: readonly string[] }>>): readonly string[] =>
  [...new Set(Object.entries(entries).flatMap(([name, { aliases = [] }]) => [name, ...aliases]))].sort();

/** Those an editor offers. A config, or the home it is used with, may have further ones. */
const oneOfOrText = (names: readonly string[]): Schema => ({
  anyOf: [{ enum: names }, { type: 'string', minLength: 1 }],
});

function deliverAndToolsets(properties: Schema, { targets, toolsets }: Names): Schema {
  const name = oneOfOrText(targets);
  return {
    deliver: { ...at(properties, 'deliver'), oneOf: [name, { type: 'array', minItems: 1, items: name }] },
    toolsets: { ...at(properties, 'toolsets'), items: oneOfOrText(toolsets) },
  };
}

const GROUPS = ['all', 'any', 'not'];

/** A field with one operator, or one group. */
const FILTER_FORMS: readonly Schema[] = [
  ...OPERATORS.map((operator) => having('field', operator)),
  ...GROUPS.map((group) => ({ ...having(group), not: having('field') })),
];

/** Strict validators want what is required to be named as a property. */
function having(...keys: readonly string[]): Schema {
  return { properties: Object.fromEntries(keys.map((key) => [key, {}])), required: keys };
}

/** What may stand under `platforms`, by every name of each target: its own settings, and those that all have. */
function targetSchemas(schema: Schema, { targets }: Catalog): Schema {
  const shared = at(at(at(schema, '$defs'), 'target'), 'properties');
  const entries = Object.entries(targets).flatMap(([name, { aliases = [], title, lowered }]) => {
    if (lowered.plan === null) return [];
    const settings = lowered.plan.settings.flatMap((setting) => {
      const one = { type: ['string', 'integer', 'boolean'], description: describe(setting) };
      return [setting.name, ...setting.aliases].map((key) => [key, { ...at(shared, key), ...one }] as const);
    });
    const own = {
      title,
      type: 'object',
      properties: { ...shared, ...Object.fromEntries(settings) },
      additionalProperties: false,
    };
    return [name, ...aliases].map((key) => [key, own] as const);
  });
  return Object.fromEntries(entries);
}

const describe = ({ secret, required }: { readonly secret: boolean; readonly required: boolean }): string =>
  `${secret ? 'Secret: a literal, `env:NAME` or `file:path`' : 'Setting'}${required ? '; required' : ''}.`;

/** YAML merges (`<<: *anchor`) stand wherever keys are closed. */
function withMergeKeys(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withMergeKeys);
  if (!isPlainMap(node)) return node;
  const inner: Schema = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, withMergeKeys(value)]));
  const isClosed = inner.additionalProperties === false || inner.unevaluatedProperties === false;
  const { propertyNames } = inner;
  return {
    ...inner,
    ...(isClosed || propertyNames !== undefined
      ? { patternProperties: { ...at(inner, 'patternProperties'), '^<<$': {} } }
      : {}),
    ...(isPlainMap(propertyNames) ? { propertyNames: { anyOf: [{ const: '<<' }, propertyNames] } } : {}),
  };
}

const at = (schema: Schema, key: string): Schema => {
  const found = schema[key];
  return isPlainMap(found) ? found : {};
};

type Edit = (found: Schema) => Schema;

/** Replaces the values at the paths, whose parts are separated by spaces. */
function edit(schema: Schema, edits: Readonly<Record<string, Edit>>): Schema {
  return Object.entries(edits).reduce((whole, [path, change]) => replaceAt(whole, path.split(' '), change), schema);
}

function replaceAt(schema: Schema, [key, ...rest]: readonly string[], change: Edit): Schema {
  if (key === undefined) return change(schema);
  if (!Object.hasOwn(schema, key)) throw new Error(`the schema of a config has no ${key}`);
  return { ...schema, [key]: replaceAt(at(schema, key), rest, change) };
}
