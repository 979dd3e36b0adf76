/** Bytes that arrive in parts. */

/** Size of a block that small parts share, in bytes. */
const BLOCK = 16_384;

/** Copies small parts into blocks: a Buffer for each byte that a hostile sender sends by itself would need a hundred. */
export class Collected {
  private readonly full: Buffer[] = [];
  private block = Buffer.alloc(0);
  private used = 0;
  size = 0;

  add(part: Uint8Array): void {
    const rest = part.subarray(this.block.length - this.used);
    this.block.set(part.subarray(0, part.length - rest.length), this.used);
    this.used += part.length - rest.length;
    this.size += part.length;
    if (rest.length === 0) return;
    if (this.used > 0) this.full.push(this.block);
    // The first part is often the only one.
    this.block = Buffer.allocUnsafeSlow(this.used > 0 ? Math.max(BLOCK, rest.length) : rest.length);
    this.block.set(rest);
    this.used = rest.length;
  }

  whole(): Buffer {
    const last = this.block.subarray(0, this.used);
    return this.full.length === 0 ? last : Buffer.concat([...this.full, last], this.size);
  }
}
