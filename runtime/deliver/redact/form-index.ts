/** Finds any of many texts in a text of bytes; the time for a text does not grow with their number. */

/** Part of a text: from `start` to before `end`. */
export type Hit = readonly [start: number, end: number];

/** Forms with the same first four characters, such as `whse` or `xoxb`. There may be thousands, but of few lengths. */
interface SameStart {
  readonly forms: Set<string>;
  /** Longest first. */
  lengths: readonly number[];
}

/** The first four characters decide in a bit filter whether forms are looked up; it has this many bits for each start. */
const SPARSENESS = 16;
const FEWEST_BITS = 12;

export class FormIndex {
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

  /** The parts of the text that are one of the forms, in their order; overlapping ones as one. */
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

  /** Length of the longest form that starts at this position; 0 when none does. */
  private lengthAt(text: string, at: number): number {
    const same = this.starts.get(text.slice(at, at + 4));
    if (same === undefined) return 0;
    return (
      same.lengths.find((length) => at + length <= text.length && same.forms.has(text.slice(at, at + length))) ?? 0
    );
  }
}

/** Joins ranges that overlap. @param ranges in the order of their starts */
export function merge(ranges: readonly Hit[]): Hit[] {
  const merged: Hit[] = [];
  for (const [start, end] of ranges) {
    const [from, to] = merged.at(-1) ?? [0, 0];
    if (start < to) merged[merged.length - 1] = [from, Math.max(to, end)];
    else merged.push([start, end]);
  }
  return merged;
}
