/**
 * Other spellings of one JSON text: the layouts and string escapes of common serializers. Numbers, duplicate keys and
 * key order are kept, so that nothing is lost that a parser would change.
 */

/** How a serializer separates values. An empty `indent` keeps everything on one line. */
interface Layout {
  readonly comma: string;
  readonly colon: string;
  readonly indent: string;
}

const LAYOUTS: readonly Layout[] = [
  { comma: ',', colon: ':', indent: '' },
  { comma: ', ', colon: ': ', indent: '' },
  ...['  ', '    ', '\t'].map((indent) => ({ comma: ',', colon: ': ', indent })),
];

/** Escapes a string, given with its quotes, as one serializer does. */
type Escape = (piece: string) => string;

const plain: Escape = (piece) => JSON.stringify(JSON.parse(piece));
const escaping = (chars: RegExp): Escape => {
  return (piece) => plain(piece).replace(chars, (char) => (char === '/' ? '\\/' : unicodeEscape(char)));
};

const ESCAPES: readonly Escape[] = [
  (piece) => piece,
  plain,
  // Python.
  escaping(/[\u0080-\uffff]/g),
  // PHP, with and without JSON_UNESCAPED_UNICODE.
  escaping(/[/\u0080-\uffff]/g),
  escaping(/\//g),
  // Go, Ruby on Rails.
  escaping(/[<>&\u2028\u2029]/g),
];

/** Deeper texts would grow quadratically once they are indented. */
const MAX_DEPTH = 200;

/** In UTF-16 units. An outsider's body must not keep the thread busy that stores requests. */
export const MAX_SPELLED = 262_144;

/** Yields each spelling with and without a final line break; nothing for a text that is not JSON, too long or too deep. */
export function* jsonSpellings(text: string): Iterable<string> {
  const pieces = text.length > MAX_SPELLED ? null : piecesOf(text);
  if (pieces === null) return;
  const seen = new Set<string>();
  for (const escapeText of ESCAPES) {
    const spelled = pieces.map((piece) => (piece.startsWith('"') ? escapeText(piece) : piece));
    const compact = spelled.join('');
    if (seen.has(compact)) continue;
    seen.add(compact);
    for (const layout of LAYOUTS) {
      const written = write(spelled, layout);
      yield written;
      yield `${written}\n`;
    }
  }
}

function write(pieces: readonly string[], { comma, colon, indent }: Layout): string {
  let depth = 0;
  const breakAt = (level: number): string => (indent === '' ? '' : `\n${indent.repeat(level)}`);
  return pieces
    .map((piece, at) => {
      if (piece === ',') return comma + breakAt(depth);
      if (piece === ':') return colon;
      if (isOpening(piece)) depth += 1;
      if (isOpening(piece)) return isClosing(pieces[at + 1]) ? piece : piece + breakAt(depth);
      if (!isClosing(piece)) return piece;
      depth -= 1;
      return isOpening(pieces[at - 1]) ? piece : breakAt(depth) + piece;
    })
    .join('');
}

const isOpening = (piece: string | undefined): boolean => piece === '{' || piece === '[';
const isClosing = (piece: string | undefined): boolean => piece === '}' || piece === ']';

/** The tokens: strings, numbers, words and punctuation; null when the text is not JSON, or nested too deeply. */
function piecesOf(text: string): readonly string[] | null {
  try {
    JSON.parse(text);
  } catch {
    return null;
  }
  const pieces: string[] = [];
  let depth = 0;
  for (let at = 0; at < text.length; ) {
    const end = endOfToken(text, at);
    const piece = text.slice(at, end);
    at = end;
    if (isOpening(piece)) depth += 1;
    if (isClosing(piece)) depth -= 1;
    if (depth > MAX_DEPTH) return null;
    if (!SPACE.has(piece)) pieces.push(piece);
  }
  return pieces;
}

const SPACE = new Set(' \t\r\n');
const PUNCTUATION = new Set('{}[],:');

/** @param text valid JSON */
function endOfToken(text: string, start: number): number {
  const first = text[start] ?? '';
  let end = start + 1;
  if (SPACE.has(first) || PUNCTUATION.has(first)) return end;
  if (first === '"') {
    while (text[end] !== '"') end += text[end] === '\\' ? 2 : 1;
    return end + 1;
  }
  while (end < text.length && !SPACE.has(text[end] ?? '') && !PUNCTUATION.has(text[end] ?? '')) end += 1;
  return end;
}

const unicodeEscape = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
