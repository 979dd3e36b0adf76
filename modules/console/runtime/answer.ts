/** Responses of the console, its errors, and pages of lists. */
import type { ServerResponse } from 'node:http';
import { tryParseJson } from '../../../base/files.ts';

/** A response of the console. */
export interface Answer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Streams the body until the client disconnects; replaces `text`. */
  readonly stream?: (response: ServerResponse) => void;
}

/** An error response: an HTTP status, a code for programs and a message for people. */
export class ApiRefusal extends Error {
  override readonly name = 'ApiRefusal';
  readonly status: number;
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, code: string, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.headers = headers;
  }
}

export const plainText = (status: number, body: string): Answer => ({
  status,
  type: 'text/plain; charset=utf-8',
  text: `${body}\n`,
});

export const json = (status: number, value: unknown, headers: Answer['headers'] = {}): Answer => ({
  status,
  type: 'application/json',
  text: `${JSON.stringify(value)}\n`,
  headers,
});

export const refused = ({ status, code, message, headers }: ApiRefusal): Answer =>
  json(status, { status: 'error', error: message, code }, headers);

/** A page of a list. A cursor is opaque to clients; it identifies the last entry of the previous page. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly next: string | null;
}

/** @param rows one row more than the limit if there is a next page */
export function pageOf<Item>(rows: readonly Item[], limit: number, cursor: (last: Item) => string): Page<Item> {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return { items, next: rows.length > limit && last !== undefined ? cursor(last) : null };
}

/** The cursor of a list that is sorted by this key. */
export const cursorOf = (key: readonly string[]): string => Buffer.from(JSON.stringify(key)).toString('base64url');

/** @throws ApiRefusal for an invalid cursor */
export function keyIn(cursor: string): readonly string[] {
  const key = tryParseJson(Buffer.from(cursor, 'base64url').toString('utf8'));
  if (Array.isArray(key) && key.length === 2 && key.every((part) => typeof part === 'string')) return key;
  throw new ApiRefusal(400, 'bad_input', 'cursor must be the `next` of a page');
}

/** A page of a list in memory, sorted by key. @throws ApiRefusal for an invalid cursor */
export function sortedPage<Item>(
  all: readonly Item[],
  { limit, cursor }: { readonly limit: number; readonly cursor?: string },
  keyOf: (item: Item) => readonly [string, string],
): Page<Item> {
  const after = cursor === undefined ? null : keyIn(cursor).join('\n');
  const sorted = all
    .map((item) => ({ item, key: keyOf(item) }))
    .filter(({ key }) => after === null || key.join('\n') > after)
    .sort((a, b) => (a.key.join('\n') < b.key.join('\n') ? -1 : 1));
  const { items, next } = pageOf(sorted, limit, ({ key }) => cursorOf(key));
  return { items: items.map(({ item }) => item), next };
}
