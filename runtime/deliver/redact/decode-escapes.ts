/**
 * Undoes one layer of escapes in a text of bytes: percent-encoding and `+`, the escapes of JSON and of programming languages,
 * and character references of HTML and XML. Whoever writes a text chooses which characters to escape and how, so that a
 * secret has more spellings than can be listed; decoded, it has one.
 */

/** Bytes as Latin-1, and where each came from. */
export interface Decoded {
  readonly text: string;
  /** The offset of each byte in the original text; after the last one, the length of that text. */
  readonly starts: Uint32Array;
}

/** A decoded sequence: its code point, or a byte as -1 - byte, and its length in the text. */
type Escape = readonly [code: number, length: number];

const HEX = '[0-9a-fA-F]';
const UNIT = new RegExp(`%u(${HEX}{4})`, 'y');
const BACKSLASH = new RegExp(`\\\\(?:u(${HEX}{4})|x(${HEX}{2})|u\\{(${HEX}{1,6})\\}|U(${HEX}{8}))`, 'y');
const REFERENCE = new RegExp(`&(?:(amp|lt|gt|quot|apos)|#([0-9]{1,7})|#[xX](${HEX}{1,6}));`, 'y');

/** Values of hexadecimal digits by their codes. */
const NO_DIGIT = 16;
const DIGITS = Uint8Array.from({ length: 256 }, (_, code) => {
  const value = Number.parseInt(String.fromCharCode(code), 16);
  return Number.isNaN(value) ? NO_DIGIT : value;
});

/** Characters behind a backslash, and what they stand for. */
const LETTERS: Readonly<Record<string, string>> = {
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  '"': '"',
  "'": "'",
  '/': '/',
  '\\': '\\',
};
const NAMES: Readonly<Record<string, number>> = { amp: 0x26, lt: 0x3c, gt: 0x3e, quot: 0x22, apos: 0x27 };

/** What each of these characters may begin. */
const READERS: Readonly<Record<string, (text: string, at: number) => Escape | null>> = {
  // A space in a form.
  '+': () => [0x20, 1],
  '%': (text, at) => {
    const high = DIGITS[text.charCodeAt(at + 1)] ?? NO_DIGIT;
    const low = DIGITS[text.charCodeAt(at + 2)] ?? NO_DIGIT;
    if (high < NO_DIGIT && low < NO_DIGIT) return [-1 - (high * 16 + low), 3];
    const [all = '', unit] = matchAt(UNIT, text, at);
    return ofHex(unit, all);
  },
  '\\': (text, at) => {
    const letter = LETTERS[text[at + 1] ?? ''];
    if (letter !== undefined) return [letter.charCodeAt(0), 2];
    const [all = '', unit, byte, braced, long] = matchAt(BACKSLASH, text, at);
    return byte === undefined ? ofHex(unit ?? braced ?? long, all) : [-1 - Number.parseInt(byte, 16), all.length];
  },
  '&': (text, at) => {
    const [all = '', name, decimal, hex] = matchAt(REFERENCE, text, at);
    if (name !== undefined) return [NAMES[name] ?? 0, all.length];
    return decimal === undefined ? ofHex(hex, all) : [Number(decimal), all.length];
  },
};

const BEGINS = Uint8Array.from({ length: 256 }, (_, code) => (String.fromCharCode(code) in READERS ? 1 : 0));

function matchAt(pattern: RegExp, text: string, at: number): readonly (string | undefined)[] {
  pattern.lastIndex = at;
  return pattern.exec(text) ?? [];
}

const ofHex = (digits: string | undefined, { length }: string): Escape | null =>
  digits === undefined ? null : [Number.parseInt(digits, 16), length];

/** Null when nothing is escaped. @param text bytes as Latin-1 */
function decodeEscapes(text: string): Decoded | null {
  let [at, found] = nextEscape(text, 0);
  if (found === null) return null;
  // No escape is shorter than the UTF-8 of what it stands for.
  const bytes = Buffer.from(text, 'latin1');
  const starts = new Uint32Array(text.length + 1);
  let length = 0;
  let copied = 0;
  for (; ; [at, found] = nextEscape(text, copied)) {
    for (; copied < at; copied++, length++) {
      bytes[length] = bytes[copied] ?? 0;
      starts[length] = copied;
    }
    starts[length] = at;
    if (found === null) return { text: bytes.toString('latin1', 0, length), starts: starts.subarray(0, length + 1) };
    const [point, size] = withLowSurrogate(text, at, found);
    for (const end = writePoint(bytes, length, point); length < end; length++) starts[length] = at;
    copied = at + size;
  }
}

/** What the text becomes when its escapes are decoded, once and again; `starts` are offsets in the text itself. @param most layers */
export function* decodedLayers(text: string, most: number): Iterable<Decoded> {
  let [inner, outer]: [string, Uint32Array | null] = [text, null];
  for (let count = 0; count < most; count++) {
    const decoded = decodeEscapes(inner);
    if (decoded === null) return;
    const { starts } = decoded;
    if (outer !== null) for (let at = 0; at < starts.length; at++) starts[at] = outer[starts[at] ?? 0] ?? 0;
    yield decoded;
    [inner, outer] = [decoded.text, starts];
  }
}

/** The next escape and its offset; the end of the text when there is none. */
function nextEscape(text: string, from: number): [at: number, found: Escape | null] {
  for (let at = from; at < text.length; at++) {
    if (BEGINS[text.charCodeAt(at)] !== 1) continue;
    const found = READERS[text[at] ?? '']?.(text, at) ?? null;
    if (found !== null) return [at, found];
  }
  return [text.length, null];
}

/** Two escaped surrogates are one character. */
function withLowSurrogate(text: string, at: number, found: Escape): Escape {
  const [high, size] = found;
  if (high < 0xd800 || high > 0xdbff) return found;
  const [low, more] = READERS[text[at + size] ?? '']?.(text, at + size) ?? [0, 0];
  if (low < 0xdc00 || low > 0xdfff) return found;
  return [0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00), size + more];
}

/** Writes a byte or the UTF-8 of a code point; returns the offset behind it. */
function writePoint(bytes: Buffer, at: number, point: number): number {
  if (point < 0x80) {
    bytes[at] = point < 0 ? -1 - point : point;
    return at + 1;
  }
  return at + bytes.write(point > 0x10ffff ? '\ufffd' : String.fromCodePoint(point), at, 'utf8');
}
