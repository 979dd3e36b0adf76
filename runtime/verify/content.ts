/** Builds the signed bytes of a request from a scheme's template. */
import type { LocatorPlan, SignedSegment } from '../../schemas/generated/types.ts';
import { queryOf, readLocatedText } from './locator.ts';
import type { SignedRequest } from './request.ts';

/** What is signed, in order. Texts are Latin-1: header text as received, anything else the bytes of its UTF-8 form. */
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

/** Percent escapes that a sender signing the decoded URL undoes: punctuation only, never `%25` or `%26`. */
const DECODED = /%(3A|2F|3F|40|21|24|27|28|29|2A|2C|3B)/gi;

type Reader = (input: ContentInput) => string;

const READERS: Readonly<Record<SignedSegment['kind'], (value: string[]) => Reader>> = {
  text: ([text = '']) => {
    const literal = utf8Text(text);
    return () => literal;
  },
  // A body that is signed twice: the first one is not copied into a text.
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

/** The template with everything done that does not depend on the request. */
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

/** The UTF-8 bytes of a text, one character each. */
function utf8Text(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

/** The content as one run of bytes. */
export function contentBytes({ head, body, tail }: SignedContent): Buffer {
  return head === '' && tail === ''
    ? body
    : Buffer.concat([Buffer.from(head, 'latin1'), body, Buffer.from(tail, 'latin1')]);
}

/** URLs the sender may have signed, without their query: with `either-port` both spellings of a default port. */
export function urlBases(publicUrl: string | null, signed: readonly SignedSegment[]): string[] {
  const url = signed.find((segment) => segment.kind === 'url');
  if (url === undefined) return [''];
  if (publicUrl === null) return [];
  const base = publicUrl.split('?')[0] ?? '';
  return url.value[0] === 'either-port' ? [base, otherPort(base)].filter((text) => text !== null) : [base];
}

/** `https://h/x` for `https://h:443/x` and the reverse; null when the port is not the scheme's own. */
function otherPort(base: string): string | null {
  const match = /^(https?):\/\/([^/]*@)?([^/@]+?)(:\d+)?(\/.*)?$/.exec(base);
  if (match === null) return null;
  const [, scheme = '', user = '', host = '', port = '', path = ''] = match;
  const standard = scheme === 'https' ? ':443' : ':80';
  if (port !== '' && port !== standard) return null;
  return `${scheme}://${user}${host}${port === '' ? standard : ''}${path}`;
}

/** Every parameter's name and value, sorted by name; several values of one name sorted, repeated ones once. */
function sortedParams(form: URLSearchParams | null): string {
  if (form === null) return '';
  const names = [...new Set(form.keys())].sort();
  return names.flatMap((name) => [...new Set(form.getAll(name))].sort().map((value) => name + value)).join('');
}
