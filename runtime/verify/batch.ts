/**
 * Requests that carry several items, each with a signature of its own: a source names the first (`items.0.signature`), and
 * every other one is verified in its place. An item without a signature fails, as in the libraries of vendors.
 */
import type { SchemePlan } from '../../schemas/generated/types.ts';
import type { SignedRequest } from './request.ts';

/** Most items of one request; senders put at most a few hundred into one. */
export const MAX_ITEMS = 1000;

/**
 * The path to the place that each item has, `0` standing for its index; null for a scheme whose signature covers more than
 * an item. A token stands for its item alone, and a signature for what it signs beside it.
 */
export function itemPath({ verify, signature, signed }: SchemePlan): readonly string[] | null {
  const at = signature.find(({ in: place }) => place === 'json');
  if (at === undefined) return null;
  const inItem = signed.flatMap(({ kind, value }) => (kind === 'json' ? [sharedStart(at.path, value)] : []));
  const shared = verify === 'token' ? [at.path] : inItem;
  const [longest = []] = shared.toSorted((a, b) => b.length - a.length);
  const last = longest.lastIndexOf('0');
  return last < 0 ? null : longest.slice(0, last + 1);
}

function sharedStart(a: readonly string[], b: readonly string[]): readonly string[] {
  const differs = a.findIndex((part, index) => part !== b[index]);
  return differs < 0 ? a : a.slice(0, differs);
}

/** A payload with one item in the list, and the path that the item has in the whole payload. */
export type Item = readonly [payload: unknown, path: readonly string[]];

/** Yields each item; the payload as it is, with an empty path, when it has no such list. @param path as `itemPath` returns it */
export function* eachItem(payload: unknown, [part, ...rest]: readonly string[]): Iterable<Item> {
  if (part === '0' && isList(payload)) {
    for (const [index, value] of Object.entries(payload))
      for (const [item, path] of eachItem(value, rest)) yield [[item], [index, ...path]];
  } else if (part !== undefined && isRecord(payload) && Object.hasOwn(payload, part)) {
    for (const [item, path] of eachItem(payload[part], rest)) yield [{ ...payload, [part]: item }, [part, ...path]];
  } else yield [payload, []];
}

/** The request as if it had this payload. */
export function withPayload(request: SignedRequest, payload: unknown): SignedRequest {
  const { method, url, headers, rawHeaders, body } = request;
  return { method, url, headers, rawHeaders, body, payload: () => payload, form: () => request.form() };
}

/** An object with a member `0` is read like a list, whose other members are items too. */
const isList = (value: unknown): value is object =>
  Array.isArray(value) || (isRecord(value) && Object.hasOwn(value, '0'));

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
