/** Replaces secrets in texts that are logged, stored or shown, in every encoding that a request can give them. */
import { decodedLayers } from './decode-escapes.ts';
import type { Hit } from './form-index.ts';
import { FormIndex, merge } from './form-index.ts';
import { MAX_LAYERS, secretForms } from './secret-forms.ts';

export type Redact = (text: string) => string;

/** Shorter values would match ordinary words. */
const MIN_LENGTH = 4;
/** Route and field names are everywhere in a log: a password such as `push` must not redact them. */
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

  /** Returns the text without the secrets. Bound: it can be passed as a function. */
  readonly redact: Redact = (text) => redactText(text, this.index);

  /** Returns the bytes without the secrets, whatever their encoding. */
  redactBytes(bytes: Buffer): Buffer {
    return replaceBytes(bytes, this.index, MARK);
  }
}

/** Replaces these texts in bytes, in all their forms, except inside of words and numbers. @param texts of at least four characters */
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

/** Replaces what is one of the forms as it stands, or once escapes are decoded. @param text bytes as Latin-1 */
function replaceForms(text: string, index: Finder, by: string): string {
  const found = index.find(text);
  let plain = found.length;
  for (const { text: inner, starts } of decodedLayers(text, MAX_LAYERS)) {
    // An escape is replaced as a whole, so that what is left can be parsed.
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

/** The range with the escapes that it cuts. @param starts of the decoded text */
function widen([start, end]: Hit, starts: Uint32Array): Hit {
  const first = indexOfAtLeast(starts, start);
  return [starts[first] === start ? start : (starts[first - 1] ?? 0), starts[indexOfAtLeast(starts, end)] ?? end];
}

/** The first index of a value that is not less than this one. @param sorted ascending */
function indexOfAtLeast(sorted: Uint32Array, value: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? 0) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
