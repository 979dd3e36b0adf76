/**
 * `hookwright schema`: prints the JSON Schemas of the files that a user writes, each bundled, with names of the catalog
 * for editors.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { assetFolder } from '../../../base/files.ts';
import { CliError } from '../../../cli/base/errors.ts';
import { loadPart } from '../../../cli/base/module.ts';
import { command, flag, list, optionalArgument, text } from '../../../cli/command-line/command.ts';
import { printJson, printLine } from '../../../cli/output/print.ts';
import { OPERATORS } from '../../../compiler/config/grammar.ts';
import type { ShippedCatalog } from '../../../compiler/source/load-catalog.ts';
import { isPlainMap } from '../../../compiler/text/plain-data.ts';
import { suggest } from '../../../compiler/text/suggest.ts';

/** `hookwright schema`: lists the schemas, or prints one. */
export const schemaCommand = command({
  options: {
    json: flag('Print the list as JSON'),
    source: text('source', 'Add the events and payload paths of this sender'),
    event: list('event', 'Only the paths of this event; repeatable'),
  },
  args: { name: optionalArgument('schema') },
  async run(context, given) {
    const names = schemaNames();
    if (given.name === undefined) {
      const listed = names.map((name) => ({ name, title: String(readSchema(name).title) }));
      if (given.json) return printJson(context, listed);
      for (const { name } of listed) printLine(context, name);
      return;
    }
    if (!names.includes(given.name)) {
      const [close] = suggest(given.name, names);
      throw new CliError(
        `there is no schema "${given.name}"`,
        close === undefined ? `one of: ${names.join(', ')}` : `did you mean: hookwright schema ${close}`,
      );
    }
    const bundled = bundleSchema(given.name);
    const schema = given.name === 'config' ? addCatalogHints(bundled, await context.catalog()) : bundled;
    if (given.source === undefined) return printJson(context, schema);
    const payloads = await loadPart(context.modules, 'payloads');
    printJson(context, await payloads.addHints(context, schema, given.source, given.event ?? []));
  },
});

const SUFFIX = '.schema.json';

/** A JSON Schema of this program. */
export type Schema = Readonly<Record<string, unknown>>;

export const schemaNames = (): string[] =>
  readdirSync(assetFolder('schemas'))
    .filter((file) => file.endsWith(SUFFIX))
    .map((file) => file.slice(0, -SUFFIX.length))
    .sort();

export const readSchema = (name: string): Schema =>
  JSON.parse(readFileSync(join(assetFolder('schemas'), `${name}${SUFFIX}`), 'utf8')) as Schema;

/** Bundles a schema with all schemas it refers to, under `$defs` with their `$id`, so that references still resolve. */
export function bundleSchema(name: string): Schema {
  const root = readSchema(name);
  const needed = new Map<string, Schema>();
  const visit = (schema: Schema): void => {
    for (const file of referencedFiles(schema)) {
      if (file === `${name}${SUFFIX}` || needed.has(file)) continue;
      const other = readSchema(file.slice(0, -SUFFIX.length));
      needed.set(file, other);
      visit(other);
    }
  };
  visit(root);
  if (needed.size === 0) return root;
  return { ...root, $defs: { ...(root.$defs as Schema | undefined), ...Object.fromEntries(needed) } };
}

function referencedFiles(node: unknown): string[] {
  if (Array.isArray(node)) return node.flatMap(referencedFiles);
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node).flatMap(([key, value]) => {
    if (key !== '$ref' || typeof value !== 'string') return referencedFiles(value);
    const [file = ''] = value.split('#', 1);
    return file === '' ? [] : [file];
  });
}

type Catalog = Pick<ShippedCatalog, 'sources' | 'targets' | 'toolsets'>;

/** @param schema the bundled schema of a config */
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

/** Names that an editor offers. A config or its home may have more. */
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
  ...['any_of', 'all_of'].map((list) => ({ ...having(list, 'where'), not: having('field') })),
];

/** Strict validators need every required key as a property. */
function having(...keys: readonly string[]): Schema {
  return { properties: Object.fromEntries(keys.map((key) => [key, {}])), required: keys };
}

/** The keys under `platforms`, by every name of each target: its own settings and the shared ones. */
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

/** Allows YAML merges (`<<: *anchor`) in every map with a closed set of keys. */
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

/** Replaces the values at the paths, whose keys are separated by spaces. */
function edit(schema: Schema, edits: Readonly<Record<string, Edit>>): Schema {
  return Object.entries(edits).reduce((whole, [path, change]) => replaceAt(whole, path.split(' '), change), schema);
}

function replaceAt(schema: Schema, [key, ...rest]: readonly string[], change: Edit): Schema {
  if (key === undefined) return change(schema);
  if (!Object.hasOwn(schema, key)) throw new Error(`the schema of a config has no ${key}`);
  return { ...schema, [key]: replaceAt(at(schema, key), rest, change) };
}
