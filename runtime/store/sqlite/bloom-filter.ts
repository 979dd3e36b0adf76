/**
 * Which keys were added, as a Bloom filter (https://doi.org/10.1145/362686.362692): a "no" is certain, and some others
 * look as if they were. All bits of a key are in one block, which is as large as a line of the processor's cache.
 */

const BLOCK_WORDS = 16;
const BLOCK_BITS = BLOCK_WORDS * 32;
/** About 1 in 300 keys that were never added looks as if it was, once the filter is full. */
const BITS_PER_KEY = 16;

export class BloomFilter {
  readonly capacity: number;
  private readonly words: Uint32Array;
  private readonly blocks: number;
  private added = 0;

  /** @param capacity keys that it is made for */
  constructor(capacity: number) {
    this.capacity = capacity;
    this.blocks = Math.ceil((capacity * BITS_PER_KEY) / BLOCK_BITS);
    this.words = new Uint32Array(this.blocks * BLOCK_WORDS);
  }

  get isFull(): boolean {
    return this.added >= this.capacity;
  }

  /** False: it was never added before. */
  add(key: string): boolean {
    const { words } = this;
    let [a, b] = [0x811c9dc5, 0x9747b28c];
    for (let at = 0; at < key.length; at++) {
      const unit = key.charCodeAt(at);
      a = Math.imul(a ^ unit, 0x01000193);
      b = Math.imul(b ^ unit, 0x5bd1e995);
    }
    const first = (mix(a) >>> 0) % this.blocks;
    // Six bits of nine digits each, of which two numbers hold three.
    let [here, all] = [0, true];
    for (let bit = 0; bit < 6; bit++) {
      if (bit === 0) here = mix(b);
      else if (bit === 3) here = mix(a ^ b);
      const word = first * BLOCK_WORDS + ((here >>> 5) & 15);
      const mask = 1 << (here & 31);
      if (((words[word] ?? 0) & mask) === 0) {
        all = false;
        words[word] = (words[word] ?? 0) | mask;
      }
      here >>>= 9;
    }
    if (!all) this.added++;
    return all;
  }
}

/** Spreads what differs over all bits: the finalizer of MurmurHash3. */
function mix(hash: number): number {
  let h = hash ^ (hash >>> 16);
  h = Math.imul(h, 0x85ebca6b);
  h ^= h >>> 13;
  h = Math.imul(h, 0xc2b2ae35);
  return h ^ (h >>> 16);
}
