/** Replaces secrets in texts that are logged, stored or shown, in every encoding that a request can give them. */

export type Redact = (text: string) => string;

/** Shorter values would match ordinary words. */
const MIN_LENGTH = 4;

/** Shorter parts of a URL are words such as `hooks` and `webhooks`. */
const MIN_PART_LENGTH = 10;

const PLAIN = /^[A-Za-z0-9_.~-]*$/;

/** Returns a redacting function; its cost for a text does not grow with the number of secrets. */
export function createRedact(secrets: readonly string[]): Redact {
  const index = new FormIndex();
  for (const secret of secrets) index.add(secret, MIN_LENGTH);
  return (text) => index.redact(text);
}

/**
 * Replaces secrets in texts with `***`, also when they are percent-encoded, JSON-escaped or in base64. Secrets are only
 * added, because a replaced one may still appear somewhere. Values of fewer than 6 characters are not redacted.
 *
 * @example
 * ```ts
 * import { Redactor } from 'hookwright/runtime';
 *
 * const redactor = new Redactor();
 * redactor.add(['hunter2-hunter2']);
 * console.log(redactor.redact('password: hunter2-hunter2')); // password: ***
 * ```
 */
export class Redactor {
  private readonly index = new FormIndex();
  private readonly known = new Set<string>();

  /** @param secrets values that must not appear in texts; known ones are ignored */
  add(secrets: Iterable<string>): void {
    for (const secret of secrets) {
      if (this.known.has(secret)) continue;
      this.known.add(secret);
      this.index.add(secret, MIN_LOG_LENGTH);
    }
  }

  /** All secrets, in the order in which they were added. */
  get secrets(): ReadonlySet<string> {
    return this.known;
  }

  /** Returns the text without the secrets. Bound: it can be passed as a function. */
  readonly redact: Redact = (text) => this.index.redact(text);
}

/** Route and field names are everywhere in a log: a password such as `push` must not redact them. */
const MIN_LOG_LENGTH = 6;

/** Forms are found by their first four characters, with a bit filter of this size (2^16). */
const BITS = 65_536;

class FormIndex {
  private readonly bits = new Uint8Array(BITS / 8);
  private readonly forms = new Map<string, SameStart>();

  add(secret: string, minLength: number): void {
    for (const value of withParts(secret)) {
      if (value.length < minLength) continue;
      this.addForm(value);
      this.addForm(Buffer.from(value, 'utf8').toString('base64'));
      if (PLAIN.test(value)) continue;
      this.addForm(encode(value));
      this.addForm(JSON.stringify(value).slice(1, -1));
    }
  }

  /** Replaces each part of the text that is covered by one form, or by several overlapping ones, with `***`. */
  redact(text: string): string {
    let hash = 0;
    let result = '';
    let copied = 0;
    let [start, end] = [0, 0];
    for (let at = 0; at < text.length; at++) {
      // Depends on the last four characters only.
      hash = (hash << 8) ^ text.charCodeAt(at);
      if (at < 3 || !this.mayStart(hash)) continue;
      const length = this.lengthAt(text, at - 3);
      if (length === 0) continue;
      if (at - 3 >= end) {
        if (end > 0) [result, copied] = [`${result}${text.slice(copied, start)}***`, end];
        start = at - 3;
      }
      end = Math.max(end, at - 3 + length);
    }
    return end === 0 ? text : `${result}${text.slice(copied, start)}***${text.slice(end)}`;
  }

  private addForm(form: string): void {
    const key = form.slice(0, 4);
    const same = this.forms.get(key) ?? { forms: new Set(), lengths: [] };
    this.forms.set(key, same);
    same.forms.add(form);
    if (!same.lengths.includes(form.length)) same.lengths = [...same.lengths, form.length].sort((a, b) => b - a);
    let hash = 0;
    for (let at = 0; at < 4; at++) hash = (hash << 8) ^ key.charCodeAt(at);
    const bit = bitOf(hash);
    this.bits[bit >>> 3] = (this.bits[bit >>> 3] ?? 0) | (1 << (bit & 7));
  }

  private mayStart(hash: number): boolean {
    const bit = bitOf(hash);
    return ((this.bits[bit >>> 3] ?? 0) & (1 << (bit & 7))) !== 0;
  }

  /** Length of the longest form that starts at this position; 0 when none does. */
  private lengthAt(text: string, at: number): number {
    const same = this.forms.get(text.slice(at, at + 4));
    if (same === undefined) return 0;
    return (
      same.lengths.find((length) => at + length <= text.length && same.forms.has(text.slice(at, at + length))) ?? 0
    );
  }
}

/** Forms with the same first four characters, such as `whse` or `xoxb`. There may be thousands, but of few lengths. */
interface SameStart {
  readonly forms: Set<string>;
  /** Longest first. */
  lengths: readonly number[];
}

function bitOf(hash: number): number {
  return Math.imul(hash, 0x9e3779b1) >>> 16;
}

/** Percent-encodes; lone surrogates, which have no encoding, are replaced first. */
function encode(value: string): string {
  return encodeURIComponent(Buffer.from(value, 'utf8').toString('utf8'));
}

/** The secret itself, and, of a secret URL (an incoming webhook), the parts that are secret on their own. */
function withParts(secret: string): string[] {
  if (!secret.includes('://') || !URL.canParse(secret)) return [secret];
  const url = new URL(secret);
  const parts = `${url.pathname}${url.search}`.split(/[/?&=]/);
  return [secret, ...parts.filter((part) => part.length >= MIN_PART_LENGTH)];
}
