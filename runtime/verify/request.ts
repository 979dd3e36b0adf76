/** A request as verifier and intake read it: raw bytes, views that are parsed at most once, and single values. */

import type { IncomingHttpHeaders } from 'node:http';
import { isNumber, readJson } from '../../base/exact-number.ts';
import { tryParseJson } from '../../base/files.ts';
import { printPath } from '../../base/paths.ts';
import type { LocatorPlan } from '../../schemas/generated/types.ts';
import { valueAtPath } from './items.ts';

/** A request as the verifier reads it: raw bytes, and views of them that are parsed at most once. */
export interface SignedRequest {
  readonly method: string;
  /** Request target as received: path and query. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** Alternating names and values, as received; `headers` does not show repeated ones. */
  readonly rawHeaders: readonly string[];
  /** The body as transmitted. */
  readonly body: Buffer;
  /** The address from which it came. Absent: unknown. */
  client?(): string;
  /** The body without its content encoding; a text says why it cannot be decoded. Absent: it has none. */
  decoded?(): Buffer | string;
  /** The body as the intake parses it; undefined if it cannot be parsed. Memoised: verifier and intake share it. */
  payload(): unknown;
  /** The fields of a form body; null if the body is not a form. Memoised. */
  form(): URLSearchParams | null;
}

export type RequestParts = Pick<SignedRequest, 'method' | 'url' | 'headers' | 'rawHeaders' | 'body'>;

const FORM = /^application\/x-www-form-urlencoded\s*(;|$)/i;

export function isFormEncoded(headers: IncomingHttpHeaders): boolean {
  const type = headers['content-type'];
  return typeof type === 'string' && FORM.test(type);
}

/** A request whose body is parsed on first use. For callers without an intake (the CLI, tests). */
export class LazyRequest implements SignedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  #payload: { readonly value: unknown } | null = null;
  #form: { readonly value: URLSearchParams | null } | null = null;

  constructor(parts: RequestParts) {
    this.method = parts.method;
    this.url = parts.url;
    this.headers = parts.headers;
    this.rawHeaders = parts.rawHeaders;
    this.body = parts.body;
  }

  payload(): unknown {
    this.#payload ??= { value: this.#parse() };
    return this.#payload.value;
  }

  form(): URLSearchParams | null {
    this.#form ??= { value: isFormEncoded(this.headers) ? new URLSearchParams(this.body.toString('utf8')) : null };
    return this.#form.value;
  }

  #parse(): unknown {
    const form = this.form();
    const text = form === null ? this.body.toString('utf8') : form.get('payload');
    if (text === null) return Object.fromEntries(form ?? []);
    return tryParseJson(text, readJson);
  }
}

/** A request as node:http presents it: header names in lower case, repeated values joined. */
export function partsOf(
  method: string,
  url: string,
  headers: readonly (readonly [name: string, value: string])[],
  body: Buffer,
): RequestParts {
  const joined: Record<string, string> = {};
  for (const [name, value] of headers) {
    const key = name.toLowerCase();
    joined[key] = Object.hasOwn(joined, key) ? `${joined[key]}, ${value}` : value;
  }
  return { method, url, headers: joined, rawHeaders: headers.flat(), body };
}

/** Maximum length of a header or field value that the verifier reads, in UTF-16 units. */
export const MAX_VALUE_LENGTH = 8192;
/** Maximum number of parts of a split value. */
export const MAX_PARTS = 64;

/** The parts of a request from which an event type or a delivery id is read. */
export type LocatorSource = Pick<SignedRequest, 'url' | 'headers' | 'payload' | 'form'>;

type Reader = (at: LocatorPlan, request: LocatorSource) => unknown;

const READERS = {
  header: (at, request) => request.headers[at.name],
  query: (at, request) => single(new URLSearchParams(queryOf(request.url)).getAll(at.name)),
  json: (at, request) => valueAtPath(request.payload(), at.path),
  form: (at, request) => {
    const field = single(request.form()?.getAll(at.name) ?? []);
    return at.path.length === 0 || field === undefined ? field : valueAtPath(tryParseJson(field, readJson), at.path);
  },
} satisfies Record<LocatorPlan['in'], Reader> as Record<LocatorPlan['in'], Reader>;

/** The value at a location; undefined if it is absent or repeated. */
export function readValue(at: LocatorPlan, request: LocatorSource): unknown {
  return READERS[at.in](at, request);
}

/** True if a location can be read without the body. */
export const isOutsideBody = ({ in: place }: LocatorPlan): boolean => place === 'header' || place === 'query';

/** The text at a location; numbers and booleans as in JSON. Null if it is absent or not a scalar. */
export function readLocatedText(at: LocatorPlan, request: LocatorSource): string | null {
  return scalarText(readValue(at, request));
}

/**
 * The first non-empty text at several locations, for event types and delivery ids.
 * @param scalars also accept numbers and booleans: for the locations that a source names. The default search accepts only
 * strings.
 */
export function readFirst(places: readonly LocatorPlan[], request: LocatorSource, scalars: boolean): string | null {
  for (const at of places) {
    const value = readValue(at, request);
    const text = scalars ? scalarText(value) : typeof value === 'string' ? value : null;
    if (text === null || text === '') continue;
    const parts = at.split === '' && at.prefix === '' ? null : splitParts(at, text);
    const found = parts === null ? text : parts === 'too_many_parts' ? '' : (parts[0] ?? '');
    if (found !== '') return found;
  }
  return null;
}

/** The parts of a value that have the location's prefix, with the prefix removed. Parts of a split value are trimmed. */
export function splitParts(at: LocatorPlan, value: string): string[] | 'too_many_parts' {
  const { split, prefix } = at;
  const text = at.name === 'authorization' ? withScheme(prefix, value) : value;
  if (split === '') return text.startsWith(prefix) ? [text.slice(prefix.length)] : [];
  const parts: string[] = [];
  let start = 0;
  for (let count = 0; start <= text.length; count += 1) {
    if (count === MAX_PARTS) return 'too_many_parts';
    const found = text.indexOf(split, start);
    const end = found < 0 ? text.length : found;
    while (start < end && isBlank(text.charCodeAt(start))) start += 1;
    if (text.startsWith(prefix, start) && start + prefix.length <= end) {
      let last = end;
      while (last > start + prefix.length && isBlank(text.charCodeAt(last - 1))) last -= 1;
      parts.push(text.slice(start + prefix.length, last));
    }
    if (found < 0) break;
    start = end + split.length;
  }
  return parts;
}

/** The value of `Authorization` with its scheme as in the prefix: any case and number of blanks counts (RFC 9110 §11.1). */
function withScheme(prefix: string, value: string): string {
  const scheme = prefix.slice(0, Math.max(0, prefix.indexOf(' ')));
  const rest = value.slice(scheme.length);
  const isSame = scheme !== '' && value.slice(0, scheme.length).toLowerCase() === scheme.toLowerCase();
  return isSame && isBlank(rest.charCodeAt(0)) ? `${scheme} ${rest.trim()}` : value;
}

/** White space allowed around the elements of a header (RFC 9110 §5.6.3). */
const isBlank = (code: number): boolean => code === 0x20 || code === 0x09;

/** The query of a request target, without the question mark. */
export function queryOf(url: string): string {
  const mark = url.indexOf('?');
  return mark < 0 ? '' : url.slice(mark + 1);
}

function scalarText(value: unknown): string | null {
  if (typeof value === 'string') return value;
  return isNumber(value) || typeof value === 'boolean' ? String(value) : null;
}

function single(values: readonly string[]): string | undefined {
  return values.length === 1 ? values[0] : undefined;
}

/** A header by its name, a query parameter as `?name`, a part of the body as `body.path`. */
export function printLocation({ in: place, name, path }: LocatorPlan): string {
  switch (place) {
    case 'header':
      return name;
    case 'query':
      return `?${name}`;
    case 'json':
      return printPath(['body', ...path]);
    case 'form':
      return printPath(['body', name, ...path]);
  }
}
