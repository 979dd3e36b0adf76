/** Collects statistics on the values at one path of several payloads. */
import { isPlainMap } from '../../../../compiler/text/plain-map.ts';
import { jsonType } from './json-type.ts';

/** Types of values, in the order of a schema; `number` is one that is no integer. */
export const SEEN_TYPES = ['string', 'integer', 'number', 'boolean', 'object', 'array', 'null'] as const;

type SeenType = (typeof SEEN_TYPES)[number];

export interface Seen {
  readonly counts: Record<SeenType, number>;
  /** Number of occurrences by text; null if there were too many different texts. */
  texts: Map<string, number> | null;
  readonly properties: Map<string, Seen>;
  /** Statistics on the elements of all lists; null if there were none. */
  items: Seen | null;
}

/** Maximum number of different texts that are counted; more are not an enum. */
const MAX_TEXTS = 1000;

export const createSeen = (): Seen => ({
  counts: { string: 0, integer: 0, number: 0, boolean: 0, object: 0, array: 0, null: 0 },
  texts: new Map(),
  properties: new Map(),
  items: null,
});

export const totalOf = ({ counts }: Seen): number => Object.values(counts).reduce((sum, count) => sum + count, 0);

/** @param value of JSON */
export function recordValue(seen: Seen, value: unknown): void {
  seen.counts[jsonType(value)]++;
  if (typeof value === 'string') seeText(seen, value, 1);
  else if (Array.isArray(value)) seeList(seen, value);
  else if (isPlainMap(value))
    for (const [name, each] of Object.entries(value)) recordValue(propertyOf(seen, name), each);
}

function seeText(seen: Seen, text: string, times: number): void {
  seen.texts?.set(text, (seen.texts.get(text) ?? 0) + times);
  if ((seen.texts?.size ?? 0) > MAX_TEXTS) seen.texts = null;
}

function seeList(seen: Seen, list: readonly unknown[]): void {
  for (const item of list) {
    seen.items ??= createSeen();
    recordValue(seen.items, item);
  }
}

function propertyOf(seen: Seen, name: string): Seen {
  const known = seen.properties.get(name);
  if (known !== undefined) return known;
  const property = createSeen();
  seen.properties.set(name, property);
  return property;
}

/** Adds the second statistics to the first. */
export function mergeSeen(seen: Seen, other: Seen): Seen {
  for (const type of SEEN_TYPES) seen.counts[type] += other.counts[type];
  if (other.texts === null) seen.texts = null;
  else for (const [text, times] of other.texts) seeText(seen, text, times);
  for (const [name, value] of other.properties) mergeSeen(propertyOf(seen, name), value);
  if (other.items !== null) seen.items = mergeSeen(seen.items ?? createSeen(), other.items);
  return seen;
}
