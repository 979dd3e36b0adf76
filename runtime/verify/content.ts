/** Builds the signed bytes of a request from a scheme's template. */
import type { LocatorPlan, SignedSegment } from '../../schemas/generated/types.ts';
import { queryOf, readLocatedText } from './locator.ts';
import type { SignedRequest } from './request.ts';

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

/** Links the template; everything that does not depend on the request is done here, once. */
export function linkContent(signed: readonly SignedSegment[]): (input: ContentInput) => SignedContent {
  const at = signed.findIndex(({ kind }) => kind === 'body');
  const head = linkText(at < 0 ? signed : signed.slice(0, at));
  if (at < 0) return (input) => ({ head: head(input), body: NO_BYTES, tail: '' });
  const tail = linkText(signed.slice(at + 1));
  return (input) => ({ head: head(input), body: input.request.body, tail: tail(input) });
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

/** URLs that the sender may have signed, without query; with `either-port`, both with and without the default port. */
export function urlBases(publicUrl: string | null, signed: readonly SignedSegment[]): string[] {
  const url = signed.find((segment) => segment.kind === 'url');
  if (url === undefined) return [''];
  if (publicUrl === null) return [];
  const base = publicUrl.split('?')[0] ?? '';
  return url.value[0] === 'either-port' ? [base, otherPort(base)].filter((text) => text !== null) : [base];
}

/** `https://h/x` for `https://h:443/x` and the reverse; null when the port is not the protocol's default. */
function otherPort(base: string): string | null {
  const match = /^(https?):\/\/([^/]*@)?([^/@]+?)(:\d+)?(\/.*)?$/.exec(base);
  if (match === null) return null;
  const [, scheme = '', user = '', host = '', port = '', path = ''] = match;
  const standard = scheme === 'https' ? ':443' : ':80';
  if (port !== '' && port !== standard) return null;
  return `${scheme}://${user}${host}${port === '' ? standard : ''}${path}`;
}

/** All parameter names and values, sorted by name; the values of one name are sorted and duplicates dropped. */
function sortedParams(form: URLSearchParams | null): string {
  if (form === null) return '';
  const names = [...new Set(form.keys())].sort();
  return names.flatMap((name) => [...new Set(form.getAll(name))].sort().map((value) => name + value)).join('');
}
