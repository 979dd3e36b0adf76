/** The items of a batch: events that one request carries in lists of its body (`each` of a source). */

/** An item, as later stages get it in place of the payload. Its paths begin in the item, at `batch`, or at `parent`. */
export class Item {
  readonly value: unknown;
  /** The root of the body. */
  readonly batch: unknown;
  /** The enclosing item of a nested list; undefined: there is none. */
  readonly parent: unknown;

  constructor(value: unknown, batch: unknown, parent: unknown) {
    this.value = value;
    this.batch = batch;
    this.parent = parent;
  }

  /** The same item with another value. */
  with(value: unknown): Item {
    return new Item(value, this.batch, this.parent);
  }

  /** The value in which a path with this first part begins. */
  startOf(first: string | undefined): { readonly value: unknown; readonly skipped: 0 | 1 } {
    if (first === 'batch') return { value: this.batch, skipped: 1 };
    return first === 'parent' ? { value: this.parent, skipped: 1 } : { value: this.value, skipped: 0 };
  }

  /** Written as its value. */
  toJSON(): unknown {
    return this.value;
  }
}

/** The payload of an event, or the item that takes its place. */
export const plainPayload = (payload: unknown): unknown => (payload instanceof Item ? payload.value : payload);

/** The same payload, or the same item, with another value. */
export const replacePayload = (payload: unknown, value: unknown): unknown =>
  payload instanceof Item ? payload.with(value) : value;

/**
 * The value at a path; undefined if it does not resolve (JSON has no undefined). Follows own properties only, without
 * `__proto__`, which JSON.parse makes one, and arrays by decimal index.
 */
export function valueAtPath(root: unknown, path: readonly string[]): unknown {
  if (root instanceof Item) {
    const { value, skipped } = root.startOf(path[0]);
    return valueAtPath(value, path.slice(skipped));
  }
  let value = root;
  for (const part of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
    // The other own properties of an array are its elements, by their decimal index.
    if (part === '__proto__' || (part === 'length' && Array.isArray(value))) return undefined;
    value = (value as Record<string, unknown>)[part];
  }
  return value;
}

/**
 * The items of a body; null if it has no list at all. An object in place of a list is its only item. Where a list is missing, the
 * value that should hold it is an item itself, so that no event is lost.
 * @param lists the path of each list, in the body or in an item of the list before it
 */
export function itemsOf(
  body: unknown,
  lists: readonly (readonly string[])[],
  most: number,
): readonly Item[] | 'too_many' | null {
  const items: Item[] = [];
  const listAt = (value: unknown, depth: number): readonly unknown[] | null => {
    const list = depth < lists.length ? valueAtPath(value, lists[depth] ?? []) : null;
    if (Array.isArray(list)) return list;
    // XML, and JSON that was converted from it, has a single element without a list.
    return typeof list === 'object' && list !== null && lists[depth]?.length !== 0 ? [list] : null;
  };
  const add = (value: unknown, parent: unknown, depth: number): void => {
    const list = listAt(value, depth);
    if (items.length > most) return;
    if (list === null) items.push(new Item(value, body, parent));
    else for (const member of list) add(member, depth === 0 ? undefined : value, depth + 1);
  };
  if (listAt(body, 0) === null) return null;
  add(body, undefined, 0);
  return items.length > most ? 'too_many' : items;
}
