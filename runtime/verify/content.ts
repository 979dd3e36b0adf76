/** Builds the signed bytes of a request and reads its signed timestamp, also for requests with several signed items. */
import type { LocatorPlan, SchemePlan, SignedSegment, TimestampPlan } from '../../schemas/generated/types.ts';
import type { SignedRequest } from './request.ts';
import { MAX_VALUE_LENGTH, queryOf, readLocatedText, splitParts } from './request.ts';
import type { VerifyReason } from './verification.ts';

/** The signed parts, in order. Texts are Latin-1: header text as received, anything else as its UTF-8 bytes. */
export interface SignedContent {
  readonly head: string;
  readonly body: Buffer;
  readonly tail: string;
}

export interface ContentInput {
  readonly request: SignedRequest;
  readonly timestamp: string;
  /** The signed id, as Latin-1 text like every header. */
  readonly id: string;
  /** The URL without its query, as the sender knows it. */
  readonly base: string;
}

/** Percent escapes that a sender decodes before it signs the URL: punctuation only, never `%25` or `%26`. */
const DECODED = /%(3A|2F|3F|40|21|24|27|28|29|2A|2C|3B)/gi;

type Reader = (input: ContentInput) => string;

const READERS: Readonly<Record<SignedSegment['kind'], (value: string[]) => Reader>> = {
  text: ([text = '']) => {
    const literal = utf8Text(text);
    return () => literal;
  },
  // Only for a body that is signed a second time; the first one is never copied into a text.
  body: () => (input) => input.request.body.toString('latin1'),
  timestamp: () => (input) => input.timestamp,
  id: () => (input) => input.id,
  method: () => (input) => input.request.method,
  json: (path) => {
    const at: LocatorPlan = { in: 'json', name: '', path, split: '', prefix: '' };
    return ({ request }) => utf8Text(readLocatedText(at, request) ?? '');
  },
  params: () => (input) => utf8Text(sortedParams(input.request.form())),
  url: ([form]) => {
    const decode =
      form === 'decoded' ? (url: string) => url.replace(DECODED, decodeURIComponent) : (url: string) => url;
    return ({ request, base }) => {
      const query = queryOf(request.url);
      return utf8Text(decode(query === '' ? base : `${base}?${query}`));
    };
  },
};

const NO_BYTES = Buffer.alloc(0);

/**
 * Links the template; everything that does not depend on the request is done here, once. @param decoded the sender signs the
 * body before it applies the content encoding
 */
export function linkContent(signed: readonly SignedSegment[], decoded = false): (input: ContentInput) => SignedContent {
  const at = signed.findIndex(({ kind }) => kind === 'body');
  const head = linkText(at < 0 ? signed : signed.slice(0, at));
  if (at < 0) return (input) => ({ head: head(input), body: NO_BYTES, tail: '' });
  const tail = linkText(signed.slice(at + 1));
  const bodyOf = decoded ? decodedBody : ({ body }: SignedRequest): Buffer => body;
  return (input) => ({ head: head(input), body: bodyOf(input.request), tail: tail(input) });
}

/** A body that cannot be decoded has no signed bytes, and fails the parse stage if these are signed. */
function decodedBody(request: SignedRequest): Buffer {
  const decoded = request.decoded?.() ?? request.body;
  return typeof decoded === 'string' ? NO_BYTES : decoded;
}

function linkText(segments: readonly SignedSegment[]): Reader {
  const readers = segments.map(({ kind, value }) => READERS[kind](value));
  const [first, ...others] = readers;
  if (first === undefined) return () => '';
  return (input) => {
    let text = first(input);
    for (const read of others) text += read(input);
    return text;
  };
}

/** A text with one character for each byte of the UTF-8 form. */
function utf8Text(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

export function contentBytes({ head, body, tail }: SignedContent): Buffer {
  return head === '' && tail === ''
    ? body
    : Buffer.concat([Buffer.from(head, 'latin1'), body, Buffer.from(tail, 'latin1')]);
}

/** URLs that the sender may have signed, without query; with `either-port`, both with and without a port. */
export function urlBases(publicUrl: string | null, signed: readonly SignedSegment[]): string[] {
  const url = signed.find((segment) => segment.kind === 'url');
  if (url === undefined) return [''];
  if (publicUrl === null) return [];
  const base = publicUrl.split('?')[0] ?? '';
  return url.value[0] === 'either-port' ? [base, otherPort(base)].filter((text) => text !== null) : [base];
}

/**
 * The URL without its port, or with the port of its protocol if it has none: some senders sign one or the other, and leave
 * out an explicit port. Null if it is not a URL.
 */
function otherPort(base: string): string | null {
  const match = /^(https?):\/\/([^/]*@)?([^/@]+?)(:\d+)?(\/.*)?$/.exec(base);
  if (match === null) return null;
  const [, scheme = '', user = '', host = '', port = '', path = ''] = match;
  const standard = scheme === 'https' ? ':443' : ':80';
  return `${scheme}://${user}${host}${port === '' ? standard : ''}${path}`;
}

/** All parameter names and values, sorted by name; the values of one name are sorted and duplicates dropped. */
function sortedParams(form: URLSearchParams | null): string {
  if (form === null) return '';
  const names = [...new Set(form.keys())].sort();
  return names.flatMap((name) => [...new Set(form.getAll(name))].sort().map((value) => name + value)).join('');
}

type Plan = NonNullable<TimestampPlan>;

/** RFC 3339, with any number of fraction digits. */
const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;
const MAX_DIGITS = 15;

/** The timestamp's text exactly as received, because that text was signed; a reason unless there is exactly one. */
export function readTimestamp(plan: Plan, request: SignedRequest): { text: string } | VerifyReason {
  const value = readLocatedText(plan.at, request);
  if (value === null) return 'missing_timestamp';
  if (value.length > MAX_VALUE_LENGTH) return 'oversized_header';
  if (plan.at.split === '' && plan.at.prefix === '') return { text: value };
  const parts = splitParts(plan.at, value);
  if (typeof parts === 'string') return parts;
  const [text] = parts;
  if (text === undefined) return 'missing_timestamp';
  return parts.length === 1 ? { text } : 'ambiguous_timestamp';
}

/**
 * Null if the instant is within the tolerance of `now` (ms) in either direction, limits included. Whole seconds are compared
 * with whole seconds, because the sender truncated its clock too.
 */
export function checkWindow(plan: Plan, text: string, now: number): VerifyReason | null {
  const age = ageOf(plan, text, now);
  if (age === null) return 'bad_timestamp';
  if (age > plan.tolerance * 1000) return 'stale_timestamp';
  return -age > plan.tolerance * 1000 ? 'future_timestamp' : null;
}

/** The age in ms, negative for an instant in the future; null if the text is not an instant. */
export function ageOf({ unit }: Plan, text: string, now: number): number | null {
  const instant = parseInstant(unit, text);
  if (instant === null) return null;
  return unit === 's' ? Math.floor(now / 1000) * 1000 - instant : now - instant;
}

/** Unix time in ms; null if the text is not an instant in this unit. */
function parseInstant(unit: Plan['unit'], text: string): number | null {
  if (unit === 'iso') {
    const instant = RFC3339.test(text) ? Date.parse(text) : Number.NaN;
    return Number.isNaN(instant) ? null : instant;
  }
  const value = parseDigits(text);
  return unit === 's' && value !== null ? value * 1000 : value;
}

/** Parses up to fifteen digits; null for any other text. */
function parseDigits(text: string): number | null {
  if (text === '' || text.length > MAX_DIGITS) return null;
  let value = 0;
  for (let at = 0; at < text.length; at += 1) {
    const digit = text.charCodeAt(at) - 0x30;
    if (digit < 0 || digit > 9) return null;
    value = value * 10 + digit;
  }
  return value;
}

/**
 * Requests that carry several items, each with its own signature. A source names the first (`items.0.signature`), and every
 * item is verified separately. An item without a signature fails, as in the libraries of vendors.
 */

/** Maximum number of items of one request; senders use at most a few hundred. */
export const MAX_ITEMS = 1000;

/**
 * The path of each item, with `0` in place of its index; null for a scheme whose signature covers more than an item. A token
 * covers only its item, and a signature covers the signed values beside it.
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
type Item = readonly [payload: unknown, path: readonly string[]];

/**
 * Yields each item, or the unchanged payload with an empty path if it has no such list. @param path as returned by `itemPath`
 */
export function* eachItem(payload: unknown, [part, ...rest]: readonly string[]): Iterable<Item> {
  if (part === '0' && isList(payload)) {
    for (const [index, value] of Object.entries(payload))
      for (const [item, path] of eachItem(value, rest)) yield [[item], [index, ...path]];
  } else if (part !== undefined && isRecord(payload) && Object.hasOwn(payload, part)) {
    for (const [item, path] of eachItem(payload[part], rest)) yield [{ ...payload, [part]: item }, [part, ...path]];
    // `0` is an index and never a key: an item that is not in the list would not be verified.
  } else yield [part === '0' ? [] : payload, []];
}

/** Returns the request with another payload. */
export function withPayload(request: SignedRequest, payload: unknown): SignedRequest {
  const { method, url, headers, rawHeaders, body } = request;
  return { method, url, headers, rawHeaders, body, payload: () => payload, form: () => request.form() };
}

/** An object with a member `0` is read like a list; its other members are items too. */
const isList = (value: unknown): value is object =>
  Array.isArray(value) || (isRecord(value) && Object.hasOwn(value, '0'));

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
