/** Collects statistics on the values at one path of several payloads. */
import { isPlainMap } from '../../../../compiler/text/plain-map.ts';

export interface Seen {
  count: number;
  nulls: number;
  booleans: number;
  integers: number;
  /** Numbers that are not integers. */
  fractions: number;
  strings: number;
  /** Number of occurrences by text; null if there were too many different texts. */
  texts: Map<string, number> | null;
  objects: number;
  readonly properties: Map<string, Seen>;
  arrays: number;
  /** Statistics on the elements of all lists; null if there were none. */
  items: Seen | null;
}

/** Maximum number of different texts that are counted; more are not an enum. */
const MAX_TEXTS = 1000;

export const createSeen = (): Seen => ({
  count: 0,
  nulls: 0,
  booleans: 0,
  integers: 0,
  fractions: 0,
  strings: 0,
  texts: new Map(),
  objects: 0,
  properties: new Map(),
  arrays: 0,
  items: null,
});

export function recordValue(seen: Seen, value: unknown): void {
  seen.count++;
  if (value === null) seen.nulls++;
  else if (typeof value === 'boolean') seen.booleans++;
  else if (typeof value === 'number') seen[Number.isInteger(value) ? 'integers' : 'fractions']++;
  else if (typeof value === 'string') seeText(seen, value, 1);
  else if (Array.isArray(value)) seeList(seen, value);
  else if (isPlainMap(value)) seeObject(seen, value);
}

function seeText(seen: Seen, text: string, times: number): void {
  seen.strings += times;
  seen.texts?.set(text, (seen.texts.get(text) ?? 0) + times);
  if ((seen.texts?.size ?? 0) > MAX_TEXTS) seen.texts = null;
}

function seeList(seen: Seen, list: readonly unknown[]): void {
  seen.arrays++;
  for (const item of list) {
    seen.items ??= createSeen();
    recordValue(seen.items, item);
  }
}

function seeObject(seen: Seen, object: Readonly<Record<string, unknown>>): void {
  seen.objects++;
  for (const [name, value] of Object.entries(object)) recordValue(propertyOf(seen, name), value);
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
  for (const key of ['count', 'nulls', 'booleans', 'integers', 'fractions', 'objects', 'arrays'] as const)
    seen[key] += other[key];
  if (other.texts === null) {
    seen.strings += other.strings;
    seen.texts = null;
  } else for (const [text, times] of other.texts) seeText(seen, text, times);
  for (const [name, value] of other.properties) mergeSeen(propertyOf(seen, name), value);
  if (other.items !== null) seen.items = mergeSeen(seen.items ?? createSeen(), other.items);
  return seen;
}
