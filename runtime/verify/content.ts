/** Builds the signed bytes of a request from a scheme's template. */
import type { LocatorPlan, SignedSegment } from '../../schemas/generated/types.ts';
import { queryOf, readText } from './locator.ts';
import type { SignedRequest } from './request.ts';

/** Pieces in order: strings are Latin-1 (header text as received), buffers are bytes. */
export type Content = readonly (string | Buffer)[];

export interface ContentInput {
  readonly request: SignedRequest;
  readonly timestamp: string;
  /** Bytes of the signed id. */
  readonly id: Buffer | null;
  /** The URL without its query, as the sender knows it. */
  readonly base: string;
}

/** Percent escapes that a sender signing the decoded URL undoes: punctuation only, never `%25` or `%26`. */
const DECODED = /%(3A|2F|3F|40|21|24|27|28|29|2A|2C|3B)/gi;

type Piece = (segment: SignedSegment, input: ContentInput) => string | Buffer;

const PIECES: Readonly<Record<SignedSegment['kind'], Piece>> = {
  text: (segment) => Buffer.from(segment.value[0] ?? '', 'utf8'),
  body: (_segment, input) => input.request.body,
  timestamp: (_segment, input) => input.timestamp,
  id: (_segment, input) => input.id ?? '',
  method: (_segment, input) => input.request.method,
  json: (segment, input) => Buffer.from(readText(jsonPlace(segment.value), input.request) ?? '', 'utf8'),
  params: (_segment, input) => Buffer.from(sortedParams(input.request.form()), 'utf8'),
  url: (segment, input) => {
    const query = queryOf(input.request.url);
    const text = query === '' ? input.base : `${input.base}?${query}`;
    return Buffer.from(segment.value[0] === 'decoded' ? text.replace(DECODED, decodeURIComponent) : text, 'utf8');
  },
};

/** The template with its literal text made bytes once. */
export function linkContent(signed: readonly SignedSegment[]): (input: ContentInput) => Content {
  const pieces = signed.map((segment) => {
    if (segment.kind !== 'text') return { segment, piece: PIECES[segment.kind] };
    const text = segment.value[0] ?? '';
    const literal = /^[\x00-\x7f]*$/.test(text) ? text : Buffer.from(text, 'utf8');
    return { segment, piece: () => literal };
  });
  return (input) => joinText(pieces.map(({ segment, piece }) => piece(segment, input)));
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

function jsonPlace(path: string[]): LocatorPlan {
  return { in: 'json', name: '', path, split: '', prefix: '' };
}

/** Neighbouring strings as one piece: each costs the digest a call. */
function joinText(pieces: readonly (string | Buffer)[]): Content {
  const joined: (string | Buffer)[] = [];
  for (const piece of pieces) {
    const last = joined.length - 1;
    const before = joined[last];
    if (typeof piece === 'string' && typeof before === 'string') joined[last] = before + piece;
    else joined.push(piece);
  }
  return joined;
}
