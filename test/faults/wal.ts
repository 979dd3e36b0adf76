/** SQLite's write-ahead log as bytes: the positions of its frames, and ways in which a disk damages them. */

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;

export interface WalFrame {
  /** Offset of its header. */
  readonly at: number;
  readonly length: number;
  readonly endsCommit: boolean;
}

/** Frames of the log's current run, without those of earlier runs behind them. */
export function walFrames(wal: Buffer): readonly WalFrame[] {
  if (wal.length < HEADER_BYTES) return [];
  const length = FRAME_HEADER_BYTES + wal.readUInt32BE(8);
  const salts = wal.subarray(16, 24);
  const frames: WalFrame[] = [];
  for (let at = HEADER_BYTES; at + length <= wal.length; at += length) {
    if (!wal.subarray(at + 8, at + 16).equals(salts)) break;
    frames.push({ at, length, endsCommit: wal.readUInt32BE(at + 4) !== 0 });
  }
  return frames;
}

export interface Damage {
  readonly name: string;
  /**
   * Whether it must be reported. A tail that the kill itself has torn must not, because nothing acknowledged is lost
   * then.
   */
  readonly said: boolean | 'if lost';
  readonly apply: (wal: Buffer) => Buffer;
}

function flipped(wal: Buffer, at: number): Buffer {
  const copy = Buffer.from(wal);
  copy[at] = (copy[at] ?? 0) ^ 0x10;
  return copy;
}

const frameAt = (wal: Buffer, share: number): WalFrame => {
  const frames = walFrames(wal);
  const frame = frames[Math.floor(frames.length * share)];
  if (frame === undefined) throw new Error('no such frame');
  return frame;
};

const lastFrame = (wal: Buffer): WalFrame => walFrames(wal).at(-1) ?? { at: 0, length: 0, endsCommit: false };

/** A byte of a page, of a frame's checksum (at 16 of its header), of the log's header (a salt, at 16). */
const pageByte = ({ at }: WalFrame): number => at + FRAME_HEADER_BYTES + 100;

export const DAMAGES: readonly Damage[] = [
  { name: 'none', said: false, apply: (wal) => wal },
  {
    name: 'last frame cut off',
    said: 'if lost',
    apply: (wal) => wal.subarray(0, lastFrame(wal).at + lastFrame(wal).length / 2),
  },
  { name: 'byte of the last frame', said: 'if lost', apply: (wal) => flipped(wal, pageByte(lastFrame(wal))) },
  { name: 'byte of the first page', said: true, apply: (wal) => flipped(wal, pageByte(frameAt(wal, 0))) },
  { name: 'byte of a page in the middle', said: true, apply: (wal) => flipped(wal, pageByte(frameAt(wal, 0.5))) },
  { name: 'checksum in the middle', said: true, apply: (wal) => flipped(wal, frameAt(wal, 0.5).at + 16) },
  { name: 'page zeroed in the middle', said: true, apply: zeroed },
  { name: 'byte of the head', said: true, apply: (wal) => flipped(wal, 16) },
  { name: 'first block zeroed', said: true, apply: (wal) => Buffer.from(wal).fill(0, 0, 512) },
];

function zeroed(wal: Buffer): Buffer {
  const { at, length } = frameAt(wal, 0.5);
  return Buffer.from(wal).fill(0, at + FRAME_HEADER_BYTES, at + length);
}

/** A byte flipped at a share (0..1) of the frames, except the last tenth, which might be a tail. */
export const flipAt = (share: number): Damage => ({
  name: `byte at ${Math.round(share * 100)} %`,
  said: true,
  apply: (wal) => flipped(wal, pageByte(frameAt(wal, share * 0.9))),
});
