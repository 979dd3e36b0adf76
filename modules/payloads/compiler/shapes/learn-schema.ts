/** Infers a JSON Schema from payloads, for `source learn`. The result is a draft for review. */
import { ExactNumber, isJsonObject } from '../../../../base/exact-number.ts';
import { isPlainMap } from '../../../../compiler/text/plain-data.ts';
import type { JsonType } from './shape.ts';
import { JSON_TYPES, jsonType } from './shape.ts';

type LearnedSchema = Readonly<Record<string, unknown>>;

/** @param payloads payloads of one event */
export function learnSchema(payloads: readonly unknown[]): LearnedSchema {
  const seen = createValueStats();
  for (const payload of payloads) recordValue(seen, payload);
  return schemaOf(seen, '', 0);
}

/**
 * Widens a schema, perhaps one that was edited since, so that it accepts a payload; nothing else about it changes. What a
 * schema leaves open, or says by other keywords, is the author's.
 */
export function widenSchema(schema: LearnedSchema, value: unknown): LearnedSchema {
  const { type, enum: values, format, properties, required, items, additionalProperties: others } = schema;
  if (type === undefined) return schema;
  const types = JSON_TYPES.filter((each) => each === jsonType(value) || [type].flat().includes(each));
  const known = types.includes('number') ? types.filter((each) => each !== 'integer') : types;
  const wide: Record<string, unknown> = { ...schema, type: known.length === 1 ? known[0] : known };
  if (Array.isArray(values) && !values.includes(value)) wide.enum = [...values, value];
  if (typeof value === 'string' && (!WORD.test(value) || [values].flat().length > MAX_VALUES)) delete wide.enum;
  if (typeof value === 'string' && FORMATS[String(format)]?.test(value) === false) delete wide.format;
  if (Array.isArray(value) && value.length > 0) wide.items = value.reduce(widenOrLearn, items);
  // A schema cannot list a number that JavaScript cannot hold.
  if (value instanceof ExactNumber) delete wide.enum;
  if (!isJsonObject(value)) return wide;
  if (Array.isArray(required)) wide.required = required.filter((name) => Object.hasOwn(value, String(name)));
  if (isPlainMap(others)) wide.additionalProperties = Object.values(value).reduce(widenOrLearn, others);
  else {
    const all = new Map(Object.entries(isPlainMap(properties) ? properties : {}));
    for (const [name, each] of Object.entries(value)) all.set(name, widenOrLearn(all.get(name), each));
    wide.properties = Object.fromEntries(all);
  }
  return wide;
}

const widenOrLearn = (schema: unknown, value: unknown): unknown =>
  schema === undefined ? learnSchema([value]) : isPlainMap(schema) ? widenSchema(schema, value) : schema;

/** @param name name of the property @param depth number of enclosing objects */
function schemaOf(seen: ValueStats, name: string, depth: number): LearnedSchema {
  const types = typesOf(seen);
  return {
    ...(types.length === 0 ? {} : { type: types.length === 1 ? types[0] : types }),
    ...textSchema(seen, name, depth),
    ...(seen.counts.object === 0 ? {} : objectSchema(seen, depth + 1)),
    ...(seen.items === null ? {} : { items: schemaOf(seen.items, name, depth) }),
  };
}

function typesOf(seen: ValueStats): readonly string[] {
  const { counts } = seen;
  const types = JSON_TYPES.filter((type) => counts[type] > 0 && (type !== 'integer' || counts.number === 0));
  // A value that was always null may be anything.
  return types.length === 1 && types[0] === 'null' ? [] : types;
}

function textSchema(seen: ValueStats, name: string, depth: number): LearnedSchema {
  if (seen.counts.string === 0) return {};
  const values = [...(seen.texts?.keys() ?? [])];
  const format = Object.entries(FORMATS).find(
    ([, pattern]) => seen.texts !== null && values.every((text) => pattern.test(text)),
  )?.[0];
  if (format !== undefined) return { format };
  if (seen.texts === null || !isEnum(seen.texts, seen.counts.string, { name, depth })) return {};
  return { enum: [...values.sort(), ...(seen.counts.null > 0 ? [null] : [])] };
}

const FORMATS: Readonly<Record<string, RegExp>> = {
  'date-time': /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?$/,
  date: /^\d{4}-\d\d-\d\d$/,
  uri: /^https?:\/\/\S+$/,
  uuid: /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i,
  email: /^[^\s@<>]+@[^\s@<>]+\.[^\s@<>]+$/,
};

/** Names of fields that usually contain one word of a fixed list. */
const KINDS =
  /^(?:action|type|kind|status|state|event|event_type|level|severity|priority|category|role|currency|environment|conclusion|result|reason|visibility|mode)$/i;
/** Top-level fields of these names identify the payload, so a single known value is enough for an enum. */
const NAMES_PAYLOAD = /^(?:action|type|kind|event|event_type|event_name|object)$/i;
const WORD = /^[A-Za-z][A-Za-z0-9]*(?:[_.:/ -][A-Za-z0-9]+){0,4}$/;
const MAX_VALUES = 12;
const MAX_VALUE_LENGTH = 40;
/** The minimum number of occurrences per value, on average. */
const REPEATS = { kind: 2, other: 5 };

/** Whether texts are a few recurring words. Other texts count as free text, even if few of them have been seen. */
function isEnum(
  texts: ReadonlyMap<string, number>,
  count: number,
  { name, depth }: { readonly name: string; readonly depth: number },
): boolean {
  const isWords = [...texts.keys()].every(
    (text) => text.length <= MAX_VALUE_LENGTH && WORD.test(text) && !/\d{3}/.test(text),
  );
  if (!isWords || texts.size > MAX_VALUES) return false;
  if (texts.size === 1 && !(depth === 1 && NAMES_PAYLOAD.test(name))) return false;
  return count >= texts.size * (KINDS.test(name.replace(/^.*_/, '')) ? REPEATS.kind : REPEATS.other);
}

function objectSchema(seen: ValueStats, depth: number): LearnedSchema {
  const entries = [...seen.properties];
  if (entries.length === 0) return {};
  if (isMap(seen, depth)) {
    const values = entries.map(([, value]) => value).reduce(mergeValueStats);
    return { additionalProperties: schemaOf(values, '', depth) };
  }
  const properties = entries.map(([name, value]) => [name, schemaOf(value, name, depth)] as const);
  const required = entries.filter(([, value]) => totalOf(value) === seen.counts.object).map(([name]) => name);
  return { ...(required.length === 0 ? {} : { required }), properties: Object.fromEntries(properties) };
}

/** Keys that are data, such as numbers, ids and addresses. */
const DATA_KEY = /^(?:\d+|[0-9a-f-]{12,}|.*[@\s/].*|[A-Za-z]{0,6}[_-]?[A-Za-z0-9]*\d{3,}[A-Za-z0-9]*)$/i;

/** A name and a number: `k1`, `item_2`. */
const NUMBERED = /^(.*?)\d{1,2}$/;
/** The minimum number of objects, and of names in them, before varying names are treated as data. */
const MIN_OBJECTS = 3;

/** Whether the keys of objects are data: they look like data or, below the top level, differ between objects. */
function isMap({ properties, counts: { object: objects } }: ValueStats, depth: number): boolean {
  const names = [...properties.keys()];
  if (names.every((name) => DATA_KEY.test(name))) return true;
  if (depth === 1) return false;
  const counts = [...properties.values()].map(totalOf);
  const stems = new Set(names.map((name) => NUMBERED.exec(name)?.[1] ?? null));
  const isNumbered = names.length > 1 && stems.size === 1 && !stems.has(null);
  // `line1` and `line2` of each address are fields.
  if (isNumbered && counts.some((count) => count < objects)) return true;
  const isRare = counts.every((count) => count * MIN_OBJECTS <= objects);
  return isRare && objects >= MIN_OBJECTS && names.length >= MIN_OBJECTS;
}

interface ValueStats {
  readonly counts: Record<JsonType, number>;
  /** Number of occurrences by text; null if there were too many different texts. */
  texts: Map<string, number> | null;
  readonly properties: Map<string, ValueStats>;
  /** Statistics on the elements of all lists; null if there were none. */
  items: ValueStats | null;
}

/** Maximum number of different texts that are counted; more are not an enum. */
const MAX_TEXTS = 1000;

const createValueStats = (): ValueStats => ({
  counts: { string: 0, integer: 0, number: 0, boolean: 0, object: 0, array: 0, null: 0 },
  texts: new Map(),
  properties: new Map(),
  items: null,
});

const totalOf = ({ counts }: ValueStats): number => Object.values(counts).reduce((sum, count) => sum + count, 0);

/** @param value of JSON */
function recordValue(seen: ValueStats, value: unknown): void {
  seen.counts[jsonType(value)]++;
  if (typeof value === 'string') recordText(seen, value, 1);
  else if (Array.isArray(value)) {
    if (value.length > 0) seen.items ??= createValueStats();
    for (const item of value) if (seen.items !== null) recordValue(seen.items, item);
  } else if (isJsonObject(value))
    for (const [name, each] of Object.entries(value)) recordValue(propertyOf(seen, name), each);
}

function recordText(seen: ValueStats, text: string, times: number): void {
  seen.texts?.set(text, (seen.texts.get(text) ?? 0) + times);
  if ((seen.texts?.size ?? 0) > MAX_TEXTS) seen.texts = null;
}

function propertyOf(seen: ValueStats, name: string): ValueStats {
  const property = seen.properties.get(name) ?? createValueStats();
  seen.properties.set(name, property);
  return property;
}

/** Adds the second statistics to the first. */
function mergeValueStats(seen: ValueStats, other: ValueStats): ValueStats {
  for (const type of JSON_TYPES) seen.counts[type] += other.counts[type];
  if (other.texts === null) seen.texts = null;
  else for (const [text, times] of other.texts) recordText(seen, text, times);
  for (const [name, value] of other.properties) mergeValueStats(propertyOf(seen, name), value);
  if (other.items !== null) seen.items = mergeValueStats(seen.items ?? createValueStats(), other.items);
  return seen;
}
