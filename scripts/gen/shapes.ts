/**
 * Reads shapes and operations from YAML files (`schemas/store.yaml` explains their format), and creates types and standalone
 * validators from them, for the other generators.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { AnySchema } from 'ajv';
import Ajv from 'ajv';
import standaloneCode from 'ajv/dist/standalone/index.js';
import type { JSONSchema } from 'json-schema-to-typescript';
import { compile } from 'json-schema-to-typescript';
import { parse } from 'yaml';
import { ALERT_KINDS, GUARD_KINDS } from '../../base/names.ts';
import { FAIL_ON } from '../../runtime/control/operations.ts';
import { STAGE_NAMES } from '../../runtime/intake/intake.ts';
import { ERROR_GROUPS, REASON_CODES } from '../../runtime/intake/reason-codes.ts';
import { OUTCOMES } from '../../runtime/intake/reply.ts';

import { FINAL_STATES, SHOWN_STATES, STEP_OUTCOMES } from '../../runtime/store/states.ts';
import { BLOCKED_BY } from '../../runtime/store/waits.ts';
import { withoutTexts } from './schemas.ts';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export type Node = Readonly<Record<string, unknown>>;
export type Shapes = Readonly<Record<string, Node>>;

export interface ObjectNode extends Node {
  readonly properties: Shapes;
  readonly optional?: readonly string[];
  readonly without?: readonly string[];
}

export interface Operation {
  readonly input: Node;
  readonly output: Node;
}

/** Lists of values that are defined elsewhere. */
const LISTS: Readonly<Record<string, readonly string[]>> = {
  ALERT_KINDS,
  FAIL_ON,
  FINAL_STATES,
  GUARD_KINDS,
  OUTCOMES,
  OUTCOME_FILTERS: [...Object.keys(ERROR_GROUPS), ...OUTCOMES],
  REASON_CODES,
  SHOWN_STATES,
  BLOCKED_BY,
  STAGE_NAMES,
  STEP_OUTCOMES,
};

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && !Array.isArray(value);

export const mapValues = (node: Node, change: (value: unknown, key: string) => unknown): Node =>
  Object.fromEntries(Object.entries(node).map(([key, value]) => [key, change(value, key)]));

function listNamed(name: unknown): readonly string[] {
  const list = LISTS[String(name)];
  if (list === undefined) throw new Error(`unknown list ${name}`);
  return list;
}

/** Expands the short form to JSON Schema. @param shapes shapes that `extends` may name, as written */
export function complete(value: unknown, shapes: Shapes): unknown {
  if (Array.isArray(value)) return value.map((member) => complete(member, shapes));
  if (!isNode(value)) return value;
  const { optional = [], extends: _, without: __, countOf, ...node } = extended(value, shapes);
  const rest = mapValues(node, (member, key) =>
    key === 'properties'
      ? mapValues(member as Node, (property) => complete(property, shapes))
      : key === 'enum' && typeof member === 'string'
        ? listNamed(member)
        : complete(member, shapes),
  );
  if (countOf !== undefined) return { ...rest, ...closed(countsOf(listNamed(countOf)), []) };
  return isNode(node.properties) && !('required' in node)
    ? { type: 'object', ...rest, ...closed(rest.properties as Shapes, optional as readonly string[]) }
    : rest;
}

const countsOf = (names: readonly string[]): Shapes =>
  Object.fromEntries(names.map((name) => [name, { type: 'integer' }]));

function closed(properties: Shapes, optional: readonly string[]): Node {
  const unknown = optional.find((name) => !Object.hasOwn(properties, name));
  if (unknown !== undefined) throw new Error(`${unknown} is optional but not a property`);
  const isRequired = (name: string): boolean => !optional.includes(name) && properties[name]?.default === undefined;
  return { additionalProperties: false, required: Object.keys(properties).filter(isRequired), properties };
}

function extended(node: Node, shapes: Shapes): Node {
  if (typeof node.extends !== 'string') return node;
  const named = shapes[node.extends];
  if (named === undefined) throw new Error(`unknown shape ${node.extends}`);
  const base = extended(named, shapes) as ObjectNode;
  const { properties, optional = [], without = [] } = node as Partial<ObjectNode>;
  const all = Object.entries({ ...base.properties, ...properties }).filter(([name]) => !without.includes(name));
  return { ...node, properties: Object.fromEntries(all), optional: [...(base.optional ?? []), ...optional] };
}

/** The files of shapes and operations by path: first the core's, then the modules'. */
const FILES: readonly string[] = [
  'schemas/store.yaml',
  'schemas/operations.yaml',
  ...readdirSync(join(ROOT, 'modules'))
    .sort()
    .map((module) => `modules/${module}/operations.yaml`)
    .filter((file) => existsSync(join(ROOT, file))),
];

interface Source {
  readonly stored?: readonly string[];
  readonly shapes?: Shapes;
  readonly operations?: Readonly<Record<string, Partial<Operation> & { readonly summary: string }>>;
}

const sources = FILES.map((file) => parse(readFileSync(join(ROOT, file), 'utf8')) as Source);

/** Merges entries by name. @throws Error if two have the same name */
function merged<Value>(parts: readonly Readonly<Record<string, Value>>[]): Readonly<Record<string, Value>> {
  const names = parts.flatMap(Object.keys);
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (twice !== undefined) throw new Error(`${twice} is described twice`);
  return Object.assign({}, ...parts) as Readonly<Record<string, Value>>;
}

/** The shapes as written. */
export const WRITTEN_SHAPES = merged(sources.map(({ shapes = {} }) => shapes));
export const SHAPES = mapValues(WRITTEN_SHAPES, (shape) => complete(shape, WRITTEN_SHAPES)) as Shapes;

/** The shapes that are read from rows. */
export const STORED: readonly string[] = sources.flatMap(({ stored = [] }) => stored);

/** The names of the operations of the core and of each module. */
export const OPERATION_OWNERS: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  sources.flatMap(({ operations }, at) => {
    const [room = '', module = ''] = (FILES[at] ?? '').split('/');
    return operations === undefined ? [] : [[room === 'modules' ? module : 'core', Object.keys(operations)]];
  }),
);

export const OPERATIONS: Readonly<Record<string, Operation & { readonly summary: string }>> = Object.fromEntries(
  Object.entries(merged(sources.map(({ operations = {} }) => operations))).map(
    ([name, { summary, input = { properties: {} }, output = {} }]) => {
      const [given, answer] = [input, output].map((schema) => complete(schema, WRITTEN_SHAPES) as Node);
      return [name, { summary, input: given ?? {}, output: answer ?? {} }] as const;
    },
  ),
);

/** Copies a tree, and replaces every `$ref` by another node. */
export function withRefs(node: unknown, change: (ref: string, beside: Node) => unknown): unknown {
  if (Array.isArray(node)) return node.map((member) => withRefs(member, change));
  if (!isNode(node)) return node;
  const { $ref, ...beside } = node;
  if (typeof $ref === 'string') return change($ref, beside);
  return mapValues(node, (value) => withRefs(value, change));
}

export const readSchema = (file: string): Node => JSON.parse(readFileSync(join(ROOT, 'schemas', file), 'utf8')) as Node;

/** Whether a reference leads to a file of `schemas/`. */
export const isOfSchemas = (ref: string): boolean => /^[a-z-]+\.schema\.json/.test(ref);

/** Resolves a reference to a file of `schemas/`, and completes the references in the result. */
export function findInSchemas(ref: string): Node {
  const [file = '', pointer = ''] = ref.split('#/');
  const parts = pointer === '' ? [] : pointer.split('/');
  const node = parts.reduce<Node>((at, part) => at[part] as Node, readSchema(file));
  return withRefs(node, (other) => ({ $ref: other.startsWith('#') ? `${file}${other}` : other })) as Node;
}

/** Modules from which a module of types imports. */
interface OtherTypes {
  /** The types of the files of `schemas/`. */
  readonly types: string;
  /** Types of shapes that the module does not define. */
  readonly shapes?: { readonly from: string; readonly names: readonly string[] };
}

/** Prints a module of types: the types of the shapes, and an interface with the members `root`. */
export async function typeModule(name: string, root: Shapes, shapes: Shapes, others: OtherTypes): Promise<string> {
  const imports = new Map<string, Set<string>>();
  const importFrom = (from: string, type: string): Node => {
    imports.set(from, (imports.get(from) ?? new Set()).add(type));
    return { tsType: type };
  };
  const typeOf = (ref: string): Node => {
    if (!isOfSchemas(ref)) {
      const isOther = others.shapes?.names.includes(ref) === true && !Object.hasOwn(shapes, ref);
      return isOther ? importFrom(others.shapes?.from ?? '', ref) : { $ref: `#/definitions/${ref}` };
    }
    const found = findInSchemas(ref);
    return typeof found.title === 'string' ? importFrom(others.types, found.title) : (inModule(found) as Node);
  };
  const inModule = (node: unknown): unknown =>
    withRefs(node, (ref, beside) => ({ ...typeOf(ref), ...(inModule(beside) as Node) }));
  const schema = {
    type: 'object',
    additionalProperties: false,
    required: Object.keys(root),
    properties: inModule(root),
    definitions: inModule(shapes),
  };
  const text = await compile(schema as JSONSchema, name, {
    bannerComment: '',
    additionalProperties: false,
    unreachableDefinitions: true,
    style: { singleQuote: true, printWidth: 120 },
  });
  const lines = [...imports].map(
    ([from, types]) => `import type { ${[...types].sort().join(', ')} } from '${from}';\n`,
  );
  return `${lines.sort().join('')}\n${withReadonly(text.replace(REFERENCED, ''))}`;
}

/** Matches the comments that the library adds to definitions. */
const REFERENCED =
  /^\/\*\*\n(?: \* This interface was referenced by .*\n \* via the `definition` .*\n \*\/\n)|^ \*\n \* This interface was referenced by .*\n \* via the `definition` .*\n/gm;

/** Makes all members read-only, because exchanged values are never changed. */
function withReadonly(text: string): string {
  const lines = text
    .split('\n')
    .map((line) => line.replace(/^( +)((?:[\w$]+|'[^']+')\??:(?: |$)|\[k: string\]: )/, '$1readonly $2'));
  let marked = lines.join('\n');
  for (let at = marked.indexOf('[]'); at >= 0; at = marked.indexOf('[]', at + 1)) {
    if (/^ *\*/.test(marked.slice(marked.lastIndexOf('\n', at) + 1, at))) continue;
    const start = elementStart(marked, at);
    const element = marked.slice(start, at);
    const read = element.startsWith('[') ? `readonly (readonly ${element})` : `readonly ${element}`;
    marked = marked.slice(0, start) + read + marked.slice(at);
    at += read.length - element.length;
  }
  return marked;
}

/** Returns the start of an array's element type. */
function elementStart(text: string, end: number): number {
  let depth = 0;
  for (let at = end - 1; at >= 0; at--) {
    if (/[)}\]>]/.test(text[at] ?? '')) depth++;
    else if (/[({[<]/.test(text[at] ?? '')) depth--;
    if (depth === 0 && !/\w/.test(text[at - 1] ?? '')) return at;
    if (depth === 0 && /[({[<]/.test(text[at] ?? '')) return at;
  }
  return 0;
}

export interface ValidatorOptions {
  /** Converts texts to numbers and booleans. */
  readonly coerceTypes?: boolean;
  readonly useDefaults?: boolean;
  readonly messages?: boolean;
}

/**
 * Creates an ajv with the files of `schemas/` and the shapes. Its validators are self-contained and stop at the first error. It does
 * not support `unevaluatedProperties`, which would make every validator a third larger.
 * @param change transforms each schema
 */
export function createAjv(shapes: Shapes, options: ValidatorOptions = {}, change = unchanged): Ajv.default {
  const ajv = new Ajv.default({
    strict: true,
    strictTypes: false,
    allowUnionTypes: true,
    discriminator: true,
    messages: false,
    logger: false,
    // Lengths in UTF-16 units: the code point counter would be an import of ajv in the generated file.
    unicode: false,
    // A definition is one function, wherever it is referred to.
    inlineRefs: false,
    code: { source: true, esm: true },
    ...options,
  });
  for (const ignored of ['x-payload', UNSUPPORTED]) ajv.addKeyword(ignored);
  for (const file of readdirSync(join(ROOT, 'schemas')).filter((each) => each.endsWith('.schema.json')))
    ajv.addSchema(withoutTexts(change(withoutDialect(readSchema(file)))) as AnySchema);
  for (const [name, node] of Object.entries(shapes)) ajv.addSchema(withoutTexts(change(node)) as AnySchema, name);
  return ajv;
}

const unchanged = (schema: Node): Node => schema;

const withoutDialect = ({ $schema: _, ...schema }: Node): Node => schema;

/** Prints a module that exports validators of these schemas by name. */
export function validatorModule(ajv: Ajv.default, schemas: Shapes): string {
  const ids = Object.keys(schemas).map((name) => {
    const id = `${name}-${added++}`;
    ajv.addSchema(withoutTexts(schemas[name] ?? {}) as AnySchema, id);
    return [name, id];
  });
  const code = standaloneCode.default(ajv, Object.fromEntries(ids));
  if (/\brequire\(|\bimport\b/.test(code) || code.includes(UNSUPPORTED))
    throw new Error(`${Object.keys(schemas)}: a keyword needs an ajv helper at run time; use other keywords`);
  return `// @ts-nocheck\n${code.replaceAll(SCHEMA_PATH, '')}\n`;
}

const UNSUPPORTED = 'unevaluatedProperties';

/** Makes ids unique, because an ajv may get two schemas with the same name. */
let added = 0;

/** Of an error: the place in the schema, which no message needs. */
const SCHEMA_PATH = /schemaPath:"(?:[^"\\]|\\.)*",/g;
