/** The end of what a program prints: collected with bounded memory, and cut and redacted for the store. Also what it was denied. */

/** Bytes of stderr, or of stdout, that are stored with a run. */
const STORED_BYTES = 64 * 1024;
/** Bytes read before these: a secret that is cut at their start cannot be recognised, so they are not stored. */
const MARGIN_BYTES = 16 * 1024;
const TAIL_BYTES = STORED_BYTES + MARGIN_BYTES;

export class StderrTail {
  private chunks: Buffer[] = [];
  private bytes = 0;

  push(chunk: Buffer): void {
    this.chunks.push(chunk);
    this.bytes += chunk.length;
    // Joined only occasionally, because a program may write many small pieces.
    if (this.bytes < 2 * TAIL_BYTES) return;
    this.chunks = [this.last()];
    this.bytes = TAIL_BYTES;
  }

  /** The last 80 KiB. */
  text(): string {
    return tailText(this.last());
  }

  private last(): Buffer {
    return Buffer.concat(this.chunks, this.bytes).subarray(-TAIL_BYTES);
  }
}

/** The text of the last 80 KiB. */
export const tailText = (bytes: Buffer): string => bytes.subarray(-TAIL_BYTES).toString('utf8');

/** The stored text: the last 64 KiB of such a text, without secrets. */
export function storedTail(text: string, redact: (text: string) => string): string {
  const bytes = Buffer.from(redact(text));
  const isCut = Buffer.byteLength(text) >= TAIL_BYTES;
  let from = Math.max(isCut ? MARGIN_BYTES : 0, bytes.length - STORED_BYTES);
  // A cut within a character leaves its continuation bytes, 10xxxxxx.
  while (from > 0 && ((bytes[from] ?? 0) & 0xc0) === 0x80) from++;
  return bytes.toString('utf8', from);
}

/** Names what the sandbox denied, which may be why a run has no result. */
export const deniedNote = (program: { readonly denied?: readonly string[] } | null): string =>
  program?.denied === undefined ? '' : `; the sandbox denied ${program.denied.slice(0, 5).join(', ')}`;
