/** Reads `length` bytes of a file at an offset; fewer when the file ends before. */
import { readSync } from 'node:fs';

export function readAt(file: number, at: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  let read = 0;
  for (let got = 1; read < length && got > 0; read += got) got = readSync(file, bytes, read, length - read, at + read);
  return bytes.subarray(0, read);
}
