/** Replaces secrets in texts that are logged, stored or shown, in every encoding that a request can use. */

/** Part of a text: from `start` to before `end`. */
type Hit = readonly [start: number, end: number];

/** Forms with the same first four characters, such as `whse` or `xoxb`. There may be thousands, but of few lengths. */
interface SameStart {
  readonly forms: Set<string>;
  /** Longest first. */
  lengths: readonly number[];
}

/** The first four characters select in a bit filter whether forms are looked up; it has this many bits for each start. */
const SPARSENESS = 16;
const FEWEST_BITS = 12;

class FormIndex {
  private readonly starts = new Map<string, SameStart>();
  /** The filter has 2^bits bits. */
  private bits = FEWEST_BITS;
  private filter = new Uint8Array(2 ** (FEWEST_BITS - 3));

  /** @param form of at least four characters */
  add(form: string): void {
    const key = form.slice(0, 4);
    const same = this.starts.get(key) ?? { forms: new Set(), lengths: [] };
    same.forms.add(form);
    if (!same.lengths.includes(form.length)) same.lengths = [...same.lengths, form.length].sort((a, b) => b - a);
    if (this.starts.has(key)) return;
    this.starts.set(key, same);
    if (this.starts.size * SPARSENESS > 2 ** this.bits) this.grow();
    else this.mark(key);
  }

  /** Returns the ranges of the text that match a form, in order; overlapping ones are merged. */
  find(text: string): Hit[] {
    const found: Hit[] = [];
    let hash = 0;
    for (let at = 0; at < text.length; at++) {
      // Depends on the last four characters only.
      hash = (hash << 8) ^ text.charCodeAt(at);
      if (at < 3 || !this.mayStart(hash)) continue;
      const length = this.lengthAt(text, at - 3);
      if (length > 0) found.push([at - 3, at - 3 + length]);
    }
    return merge(found);
  }

  private grow(): void {
    this.bits += 1;
    this.filter = new Uint8Array(2 ** (this.bits - 3));
    for (const key of this.starts.keys()) this.mark(key);
  }

  private mark(key: string): void {
    let hash = 0;
    for (let at = 0; at < 4; at++) hash = (hash << 8) ^ key.charCodeAt(at);
    const bit = this.bitOf(hash);
    this.filter[bit >>> 3] = (this.filter[bit >>> 3] ?? 0) | (1 << (bit & 7));
  }

  private mayStart(hash: number): boolean {
    const bit = this.bitOf(hash);
    return ((this.filter[bit >>> 3] ?? 0) & (1 << (bit & 7))) !== 0;
  }

  private bitOf(hash: number): number {
    return Math.imul(hash, 0x9e3779b1) >>> (32 - this.bits);
  }

  /** Length of the longest form that starts at this position; 0 if none does. */
  private lengthAt(text: string, at: number): number {
    const same = this.starts.get(text.slice(at, at + 4));
    if (same === undefined) return 0;
    return (
      same.lengths.find((length) => at + length <= text.length && same.forms.has(text.slice(at, at + length))) ?? 0
    );
  }
}

/** Joins ranges that overlap. @param ranges in the order of their starts */
function merge(ranges: readonly Hit[]): Hit[] {
  const merged: Hit[] = [];
  for (const [start, end] of ranges) {
    const [from, to] = merged.at(-1) ?? [0, 0];
    if (start < to) merged[merged.length - 1] = [from, Math.max(to, end)];
    else merged.push([start, end]);
  }
  return merged;
}

export type Redact = (text: string) => string;

/** Shorter values would match ordinary words. */
const MIN_LENGTH = 4;
/** Route and field names are frequent in logs: a password such as `push` must not redact them. */
const MIN_LOG_LENGTH = 6;
const MARK = '***';

/** Returns a redacting function; its cost for a text does not grow with the number of secrets. */
export function createRedact(secrets: readonly string[]): Redact {
  const index = new FormIndex();
  for (const secret of secrets) for (const form of secretForms(secret, MIN_LENGTH)) index.add(form);
  return (text) => redactText(text, index);
}

/**
 * Replaces secrets in texts with `***`, also when they are escaped (percent-encoding, JSON, HTML; in several layers), in
 * hex, or part of base64. Secrets are only added, because a replaced one may still appear somewhere. Values of fewer than
 * 6 characters are not redacted.
 */
export class Redactor {
  private readonly index = new FormIndex();
  private readonly known = new Set<string>();

  /** @param secrets values that must not appear in texts; known ones are ignored */
  add(secrets: Iterable<string>): void {
    for (const secret of secrets) {
      if (this.known.has(secret)) continue;
      this.known.add(secret);
      for (const form of secretForms(secret, MIN_LOG_LENGTH)) this.index.add(form);
    }
  }

  /** All secrets, in the order in which they were added. */
  get secrets(): ReadonlySet<string> {
    return this.known;
  }

  /** Returns the text without the secrets. Bound, so it can be passed as a function. */
  readonly redact: Redact = (text) => redactText(text, this.index);

  /** Returns the bytes without the secrets, whatever their encoding. */
  redactBytes(bytes: Buffer): Buffer {
    return replaceBytes(bytes, this.index, MARK);
  }
}

/**
 * Replaces these texts in bytes, in all their forms, except inside words and numbers. @param texts of at least four characters
 */
export function replaceInBytes(bytes: Buffer, texts: readonly string[], by: string): Buffer {
  const index = new FormIndex();
  for (const text of texts) for (const form of secretForms(text, MIN_LENGTH)) index.add(form);
  return replaceBytes(bytes, wholeWords(index), by);
}

/** Finds forms in a text of bytes. */
type Finder = Pick<FormIndex, 'find'>;

const wholeWords = (index: FormIndex): Finder => ({
  find: (text) => index.find(text).filter(([start, end]) => !isWord(text[start - 1]) && !isWord(text[end])),
});

const isWord = (char: string | undefined): boolean => char !== undefined && /[A-Za-z0-9]/.test(char);

function replaceBytes(bytes: Buffer, index: Finder, by: string): Buffer {
  const text = bytes.toString('latin1');
  const clean = replaceForms(text, index, by);
  return clean === text ? bytes : Buffer.from(clean, 'latin1');
}

const WIDE = /[^\x00-\x7f]/;

function redactText(text: string, index: Finder): string {
  const isWide = WIDE.test(text);
  const bytes = isWide ? Buffer.from(text, 'utf8').toString('latin1') : text;
  const clean = replaceForms(bytes, index, MARK);
  if (clean === bytes) return text;
  return isWide ? Buffer.from(clean, 'latin1').toString('utf8') : clean;
}

/** Replaces each form, both verbatim and escaped. @param text bytes as Latin-1 */
function replaceForms(text: string, index: Finder, by: string): string {
  const found = index.find(text);
  let plain = found.length;
  for (const { text: inner, starts } of decodedLayers(text, MAX_LAYERS)) {
    // Escapes are replaced as a whole, so that the rest can still be parsed.
    while (plain > 0) found[--plain] = widen(found[plain] as Hit, starts);
    for (const [start, end] of index.find(inner)) found.push([starts[start] ?? 0, starts[end] ?? text.length]);
  }
  if (found.length === 0) return text;
  let result = '';
  let copied = 0;
  for (const [start, end] of merge(found.sort((a, b) => a[0] - b[0]))) {
    result += text.slice(copied, start) + by;
    copied = end;
  }
  return result + text.slice(copied);
}

/** Extends the range to whole escapes. @param starts of the decoded text */
function widen([start, end]: Hit, starts: Uint32Array): Hit {
  const first = indexOfAtLeast(starts, start);
  return [starts[first] === start ? start : (starts[first - 1] ?? 0), starts[indexOfAtLeast(starts, end)] ?? end];
}

/** Index of the first value that is at least this one. @param sorted ascending */
function indexOfAtLeast(sorted: Uint32Array, value: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? 0) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Decodes one layer of escapes in a text of bytes: percent-encoding and `+`, the escapes of JSON and programming languages, and
 * character references of HTML and XML. The sender chooses which characters to escape and how, so a secret has more spellings
 * than can be listed. Decoded, it has one.
 */

/** Bytes as Latin-1, with their offsets in the original text. */
interface Decoded {
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

/** Escaped characters after a backslash, with their values. */
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

/** Readers of escapes, by first character. */
const READERS: Readonly<Record<string, (text: string, at: number) => Escape | null>> = {
  // A space in form encoding.
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

/** Returns null if nothing is escaped. @param text bytes as Latin-1 */
function decodeEscapes(text: string): Decoded | null {
  let [at, found] = nextEscape(text, 0);
  if (found === null) return null;
  // No escape is shorter than the UTF-8 of its character.
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

/**
 * Decodes the escapes repeatedly and returns each layer; `starts` are offsets in the text itself. @param most maximum number of
 * layers
 */
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

/** The next escape and its offset; the end of the text if there is none. */
function nextEscape(text: string, from: number): [at: number, found: Escape | null] {
  for (let at = from; at < text.length; at++) {
    if (BEGINS[text.charCodeAt(at)] !== 1) continue;
    const found = READERS[text[at] ?? '']?.(text, at) ?? null;
    if (found !== null) return [at, found];
  }
  return [text.length, null];
}

/** Two escaped surrogates form one character. */
function withLowSurrogate(text: string, at: number, found: Escape): Escape {
  const [high, size] = found;
  if (high < 0xd800 || high > 0xdbff) return found;
  const [low, more] = READERS[text[at + size] ?? '']?.(text, at + size) ?? [0, 0];
  if (low < 0xdc00 || low > 0xdfff) return found;
  return [0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00), size + more];
}

/** Writes a byte or the UTF-8 of a code point; returns the offset after it. */
function writePoint(bytes: Buffer, at: number, point: number): number {
  if (point < 0x80) {
    bytes[at] = point < 0 ? -1 - point : point;
    return at + 1;
  }
  return at + bytes.write(point > 0x10ffff ? '\ufffd' : String.fromCodePoint(point), at, 'utf8');
}

/** Shorter parts of a URL are words such as `hooks` and `webhooks`. */
const MIN_PART_LENGTH = 10;
/** Shorter parts of base64 are in ordinary texts. */
const MIN_PIECE_LENGTH = 6;
/** Decoded layers of escapes; a form body in JSON text in a log line has three. */
const MAX_LAYERS = 4;

/** Texts of bytes, as Latin-1. @param minLength of the secret and of its parts, in UTF-16 units */
function secretForms(secret: string, minLength: number): ReadonlySet<string> {
  const forms = new Set<string>();
  for (const value of withParts(secret)) {
    if (value.length < minLength) continue;
    for (const bytes of encodings(value)) {
      for (const layer of layersOf(bytes.toString('latin1'))) forms.add(layer);
      forms.add(bytes.toString('hex')).add(bytes.toString('hex').toUpperCase());
      for (const piece of base64Pieces(bytes)) forms.add(piece).add(piece.replaceAll('+', '-').replaceAll('/', '_'));
    }
  }
  // Decoding turns `+` into a space.
  for (const form of forms) if (form.includes('+')) forms.add(form.replaceAll('+', ' '));
  return forms;
}

/** The secret itself. For a secret URL (an incoming webhook), also the parts that are secret on their own. */
function withParts(secret: string): string[] {
  if (!secret.includes('://') || !URL.canParse(secret)) return [secret];
  const url = new URL(secret);
  const parts = `${url.pathname}${url.search}`.split(/[/?&=]/);
  return [secret, ...parts.filter((part) => part.length >= MIN_PART_LENGTH)];
}

/** As UTF-8. Beyond ASCII also as Latin-1, and as UTF-8 read as Latin-1, as node:http reads headers. */
function encodings(value: string): Buffer[] {
  const utf8 = Buffer.from(value, 'utf8');
  if (utf8.length === value.length) return [utf8];
  const latin1 = /^[\x00-\xff]*$/.test(value) ? [Buffer.from(value, 'latin1')] : [];
  return [utf8, ...latin1, Buffer.from(utf8.toString('latin1'), 'utf8')];
}

/** The text, and its decoded layers in case a surrounding text is decoded. */
const layersOf = (text: string): string[] => [
  text,
  ...Array.from(decodedLayers(text, MAX_LAYERS), (layer) => layer.text),
];

/**
 * Base64 of the bytes alone, and the characters that they determine after one or two preceding bytes (`user:` of Basic),
 * whatever follows.
 */
function base64Pieces(bytes: Buffer): string[] {
  const pieces = [0, 1, 2].map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    return text.slice(Math.ceil((before * 4) / 3), Math.floor(((before + bytes.length) * 4) / 3));
  });
  return [bytes.toString('base64'), ...pieces.filter(({ length }) => length >= MIN_PIECE_LENGTH)];
}
