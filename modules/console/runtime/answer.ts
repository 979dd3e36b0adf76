/** What the console responds with, the refusals that its parts throw, and pages of lists. */
import type { ServerResponse } from 'node:http';
import { tryParseJson } from '../../../base/files.ts';

/** What the console answers, and the refusals that its parts throw. */
export interface Answer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Writes what follows the head, until the client leaves; in place of `text`. */
  readonly stream?: (response: ServerResponse) => void;
}

/** A refusal with an HTTP status, a code for programs and a message for people. */
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

/** Pages of lists. A cursor names the last entry of the page before; what it holds is nobody's business but the server's. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly next: string | null;
}

/** @param rows one more than the page has, where there are more */
export function pageOf<Item>(rows: readonly Item[], limit: number, cursor: (last: Item) => string): Page<Item> {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return { items, next: rows.length > limit && last !== undefined ? cursor(last) : null };
}

/** A cursor of a list that is sorted by these texts. */
export const cursorOf = (key: readonly string[]): string => Buffer.from(JSON.stringify(key)).toString('base64url');

/** @throws ApiRefusal when the cursor is none of this server */
export function keyIn(cursor: string): readonly string[] {
  const key = tryParseJson(Buffer.from(cursor, 'base64url').toString('utf8'));
  if (Array.isArray(key) && key.length === 2 && key.every((part) => typeof part === 'string')) return key;
  throw new ApiRefusal(400, 'bad_input', 'cursor is not the `next` of a page');
}

/** A page of what is all in memory, sorted by these texts. @throws ApiRefusal for an odd cursor */
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
