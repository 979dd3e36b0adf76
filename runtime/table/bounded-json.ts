/** Writes only the beginning of a value's JSON, for dumps and nested values in templates (§2.5, §8). */

/** Applied to every string of a value, keys included, before it is written. */
export type CleanText = (text: string) => string;

function isLead(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isTrail(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

/** The first `limit` code points of `text`; a surrogate pair is never split. */
export function cutText(text: string, limit: number): string {
  if (text.length <= limit) return text;
  let end = limit;
  for (let unit = 0; unit < end && unit < text.length - 1; unit++) {
    if (isLead(text.charCodeAt(unit)) && isTrail(text.charCodeAt(unit + 1))) {
      unit++;
      end++;
    }
  }
  return text.slice(0, end);
}

/** Characters that JSON escapes, and surrogates: JSON.stringify escapes those that are not in a pair. */
const NOT_PLAIN = /["\\\u0000-\u001f\ud800-\udfff]/;

/**
 * A JSON writer that stops at `limit` code points: its work is bounded by the limit, not by the payload.
 * It counts UTF-16 units; when the goal is reached, each surrogate pair found in the text moves the goal by one.
 */
class BoundedWriter {
  text = '';
  readonly #indent: string;
  readonly #clean: CleanText | null;
  #goal: number;
  #counted = 0;

  constructor(limit: number, indent: string, clean: CleanText | null) {
    this.#goal = limit;
    this.#indent = indent;
    this.#clean = clean;
  }

  write(value: unknown, gap: string): void {
    if (typeof value === 'string') this.#string(value);
    else if (typeof value === 'number') this.text += Number.isFinite(value) ? String(value) : 'null';
    else if (typeof value !== 'object' || value === null) this.text += String(value);
    else if (Array.isArray(value)) this.#array(value, gap);
    else this.#object(value as Record<string, unknown>, gap);
  }

  #full(): boolean {
    if (this.text.length < this.#goal) return false;
    this.#countPairs();
    return this.text.length >= this.#goal;
  }

  #countPairs(): void {
    for (; this.#counted < this.text.length - 1; this.#counted++) {
      if (isLead(this.text.charCodeAt(this.#counted)) && isTrail(this.text.charCodeAt(this.#counted + 1))) {
        this.#counted++;
        this.#goal++;
      }
    }
  }

  /** Each unit of the value becomes at least one unit of JSON, so a slice suffices; a pair that it splits is beyond the limit. */
  #string(written: string): void {
    const value = this.#clean === null ? written : this.#clean(written);
    let part = value;
    if (value.length > this.#goal - this.text.length) {
      this.#countPairs();
      // The rest may consist of pairs, which have two units each.
      part = value.slice(0, Math.max(0, 2 * (this.#goal - this.text.length)) + 2);
    }
    this.text += NOT_PLAIN.test(part) ? JSON.stringify(part) : `"${part}"`;
  }

  #array(value: readonly unknown[], gap: string): void {
    if (value.length === 0) {
      this.text += '[]';
      return;
    }
    const inner = gap + this.#indent;
    this.text += '[';
    for (let index = 0; index < value.length && !this.#full(); index++) {
      if (index > 0) this.text += ',';
      this.text += inner;
      this.write(value[index], inner);
    }
    this.text += `${gap}]`;
  }

  #object(value: Record<string, unknown>, gap: string): void {
    const inner = gap + this.#indent;
    const colon = this.#indent === '' ? ':' : ': ';
    let first = true;
    this.text += '{';
    for (const key in value) {
      if (!Object.hasOwn(value, key)) continue;
      if (this.#full()) break;
      this.text += first ? inner : `,${inner}`;
      first = false;
      this.#string(key);
      this.text += colon;
      this.write(value[key], inner);
    }
    this.text += first ? '}' : `${gap}}`;
  }
}

/** The first `limit` code points of the value's compact JSON. */
export function compactJson(value: unknown, limit: number, clean: CleanText | null = null): string {
  const writer = new BoundedWriter(limit, '', clean);
  writer.write(value, '');
  return cutText(writer.text, limit);
}

/** The first `limit` code points of the value's JSON, indented by two spaces. */
export function indentedJson(value: unknown, limit: number, clean: CleanText | null = null): string {
  const writer = new BoundedWriter(limit, '  ', clean);
  writer.write(value, '\n');
  return cutText(writer.text, limit);
}
