/** Finds the one change that would make an invalid signature valid, by trying the usual mistakes one at a time. */
import type { SchemePlan } from '../../../../schemas/generated/types.ts';
import type { Trial } from './trial.ts';
import { tryTrial } from './trial.ts';

interface NearMiss {
  readonly code: NearMissCode;
  /** The difference, in words. */
  readonly says: string;
}

interface Variation {
  readonly code: string;
  readonly says: string;
  readonly trials: (trial: Trial) => Iterable<Trial>;
}

const withBody = (trial: Trial, body: Buffer | string): Trial => ({
  ...trial,
  parts: { ...trial.parts, body: Buffer.from(body) },
});
const withPlan = (trial: Trial, plan: Partial<SchemePlan>): Trial => ({ ...trial, plan: { ...trial.plan, ...plan } });
const withSecret = (trial: Trial, secret: string): Trial => ({ ...trial, secret });
const textOf = (trial: Trial): string => trial.parts.body.toString('utf8');
const withPrefix = (trial: Trial, prefix: string): Trial =>
  withPlan(trial, { signature: trial.plan.signature.map((at) => ({ ...at, prefix })) });
const isHmac = ({ plan }: Trial): boolean => plan.verify.startsWith('hmac-');
const hasEncoding = ({ plan }: Trial): boolean => plan.verify !== 'token' && plan.verify !== 'basic';
const otherEncodings = ({ plan }: Trial): readonly SchemePlan['encoding'][] =>
  (['hex', 'base64', 'base64url'] as const).filter((encoding) => encoding !== plan.encoding);

/** The byte order mark of UTF-8, decoded. */
const MARK = '\ufeff';

/** Plausible signed-content templates of other schemes. */
const BODY: SchemePlan['signed'] = [{ kind: 'body', value: [] }];
const TIMED = ['.', ':', '', ','].map((separator): SchemePlan['signed'] => [
  { kind: 'timestamp', value: [] },
  ...(separator === '' ? [] : [{ kind: 'text' as const, value: [separator] }]),
  ...BODY,
]);

const VARIATIONS = [
  {
    code: 'line_break',
    says: 'the body lost or gained a line break at its end on the way',
    trials: (trial) => {
      const text = textOf(trial);
      const bare = text.replace(/[\r\n]+$/, '');
      return [bare, `${bare}\n`, `${bare}\r\n`].filter((body) => body !== text).map((body) => withBody(trial, body));
    },
  },
  {
    code: 'line_endings',
    says: 'the line breaks of the body were changed on the way (LF and CRLF)',
    trials: (trial) => [
      withBody(trial, textOf(trial).replace(/\r\n/g, '\n')),
      withBody(trial, textOf(trial).replace(/\r?\n/g, '\r\n')),
    ],
  },
  {
    code: 'byte_order_mark',
    says: 'the body lost or gained a byte order mark at its start on the way',
    trials: (trial) => {
      const text = textOf(trial);
      return [withBody(trial, text.startsWith(MARK) ? text.slice(MARK.length) : MARK + text)];
    },
  },
  {
    code: 'body_rewritten',
    says: 'the body is JSON that was parsed and written again on the way; forward the bytes unchanged',
    trials: function* (trial) {
      for (const body of jsonSpellings(textOf(trial).replace(/^\ufeff/, ''))) yield withBody(trial, body);
    },
  },
  {
    code: 'form_payload',
    says: 'the sender signed the JSON inside the form field `payload`; set the content type JSON at the sender',
    trials: (trial) => {
      const inner = new URLSearchParams(textOf(trial)).get('payload');
      return inner === null ? [] : [withBody(trial, inner)];
    },
  },
  {
    code: 'secret_whitespace',
    says: 'the secret has a space or a line break at its start or end',
    trials: (trial) =>
      [trial.secret.trim(), `${trial.secret.trim()}\n`]
        .filter((text) => text !== trial.secret)
        .map((text) => withSecret(trial, text)),
  },
  {
    code: 'secret_form',
    says: 'the secret must be in another form: as text instead of decoded, or decoded instead of as text',
    trials: (trial) => (isHmac(trial) ? secretForms(trial) : []),
  },
  {
    code: 'prefix',
    says: 'the signature has no prefix, or another prefix than this source uses',
    trials: (trial) =>
      ['', 'sha1=', 'sha256=', 'sha512=', 'v0=', 'v1=', 'v1,', 'Bearer '].map((prefix) => withPrefix(trial, prefix)),
  },
  {
    code: 'encoding',
    says: 'the signature has another encoding (hex, base64) than this source uses',
    trials: (trial) =>
      hasEncoding(trial) ? otherEncodings(trial).map((encoding) => withPlan(trial, { encoding })) : [],
  },
  {
    code: 'encoding',
    says: 'the signature lacks the prefix of this source, and has another encoding (hex, base64)',
    trials: (trial) =>
      hasEncoding(trial) ? otherEncodings(trial).map((encoding) => withPrefix(withPlan(trial, { encoding }), '')) : [],
  },
  {
    code: 'hash_function',
    says: 'the signature uses another hash function',
    trials: (trial) =>
      isHmac(trial)
        ? (['hmac-sha1', 'hmac-sha256', 'hmac-sha512'] as const).map((verify) => withPlan(trial, { verify }))
        : [],
  },
  {
    code: 'signed_content',
    says: 'the sender signed something else: the body alone, or the timestamp with another separator',
    trials: (trial) =>
      isHmac(trial)
        ? [BODY, ...(trial.plan.timestamp === null ? [] : TIMED)].map((signed) => withPlan(trial, { signed }))
        : [],
  },
  {
    code: 'public_url',
    says: 'the URL at the sender differs: http or https, with or without a slash at its end',
    trials: (trial) => (trial.url === null ? [] : urlSpellings(trial.url).map((url) => ({ ...trial, url }))),
  },
] as const satisfies readonly Variation[];

/** Codes of changes that would make a signature valid. */
export type NearMissCode = (typeof VARIATIONS)[number]['code'];

/** Returns the one change that would make the signature valid; null if none of the usual mistakes explains it. */
export function findNearMiss(trial: Trial): NearMiss | null {
  for (const variation of VARIATIONS) {
    for (const changed of variation.trials(trial)) if (tryTrial(changed).ok) return variation;
  }
  return null;
}

function secretForms(trial: Trial): Trial[] {
  const bare = trial.secret.replace(/^(v1,)?whsec_/, '');
  return [trial.secret, bare].flatMap((secret) =>
    (['utf8', 'base64', 'hex'] as const).map((as) =>
      withSecret(withPlan(trial, { secret: { strip: '', as, otherwise: 'same' } }), secret),
    ),
  );
}

function urlSpellings(url: string): string[] {
  const other = url.startsWith('https:') ? url.replace(/^https:/, 'http:') : url.replace(/^http:/, 'https:');
  return [url, other].flatMap((spelling) => [
    spelling,
    spelling.endsWith('/') ? spelling.slice(0, -1) : `${spelling}/`,
  ]);
}

/*
 * Creates other spellings of a JSON text: the layouts and string escapes of common serializers. Numbers, duplicate keys and
 * key order are preserved, although a parser might change them.
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

/** Escapes a string with its quotes, as one serializer does. */
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

/** Maximum depth. Deeper texts would grow quadratically when indented. */
const MAX_DEPTH = 200;

/** Maximum length in UTF-16 units. An outsider's body must not keep the thread busy that stores requests. */
export const MAX_SPELLED = 262_144;

/** Yields each spelling with and without a final line break; nothing for a text that is not JSON, is too long or too deep. */
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

/** Returns the tokens: strings, numbers, words and punctuation; null if the text is not JSON, or nested too deeply. */
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
