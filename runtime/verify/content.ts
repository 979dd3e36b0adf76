/** Builds the signed bytes of a request from a scheme's template. */
import type { LocatorPlan, SignedSegment } from '../../schemas/generated/types.ts';
import { queryOf, readText } from './locator.ts';
import type { SignedRequest } from './request.ts';

/** Pieces in order: strings are Latin-1 (header text as received), buffers are bytes. */
export type Content = readonly (string | Buffer)[];

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

type Piece = (input: ContentInput) => string | Buffer;

const PIECES: Readonly<Record<SignedSegment['kind'], (value: string[]) => Piece>> = {
  text: ([text = '']) => {
    // The UTF-8 bytes of the literal, as Latin-1 text like everything around it.
    const literal = Buffer.from(text, 'utf8').toString('latin1');
    return () => literal;
  },
  body: () => (input) => input.request.body,
  timestamp: () => (input) => input.timestamp,
  id: () => (input) => input.id,
  method: () => (input) => input.request.method,
  json: (path) => {
    const at: LocatorPlan = { in: 'json', name: '', path, split: '', prefix: '' };
    return ({ request }) => Buffer.from(readText(at, request) ?? '', 'utf8');
  },
  params: () => (input) => Buffer.from(sortedParams(input.request.form()), 'utf8'),
  url: ([form]) => {
    const decode =
      form === 'decoded' ? (url: string) => url.replace(DECODED, decodeURIComponent) : (url: string) => url;
    return ({ request, base }) => {
      const query = queryOf(request.url);
      return Buffer.from(decode(query === '' ? base : `${base}?${query}`), 'utf8');
    };
  },
};

/** The template with everything done that does not depend on the request. */
export function linkContent(signed: readonly SignedSegment[]): (input: ContentInput) => Content {
  const pieces = signed.map(({ kind, value }) => PIECES[kind](value));
  const [only] = pieces;
  if (only !== undefined && pieces.length === 1) return (input) => [only(input)];
  return (input) => {
    const content: (string | Buffer)[] = [];
    // Neighbouring texts become one piece: each costs the digest a call.
    let text = '';
    for (const piece of pieces) {
      const next = piece(input);
      if (typeof next === 'string') {
        text += next;
      } else {
        if (text !== '') content.push(text);
        text = '';
        content.push(next);
      }
    }
    if (text !== '') content.push(text);
    return content;
  };
}

/** The content as one run of bytes. */
export function contentBytes(content: Content): Buffer {
  return Buffer.concat(content.map((piece) => (typeof piece === 'string' ? Buffer.from(piece, 'latin1') : piece)));
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
