/** Reads a file as text for the parsers, and describes failures in a sentence. */
import { MAX_FILE_BYTES } from '../../base/read-regular-file.ts';
import type { Finding } from '../diagnostics/diagnostic.ts';
import type { SourceText } from '../text/source-text.ts';
import { START } from '../text/source-text.ts';
import type { Files } from './files.ts';

export type TextRead =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly missing: boolean; readonly message: string };

const SENTENCES: Readonly<Record<string, string>> = {
  EACCES: 'cannot be read: permission denied',
  EPERM: 'cannot be read: permission denied',
  ELOOP: 'cannot be read: its symbolic links form a loop',
  ENOENT: 'does not exist',
  EISDIR: 'is a directory; a file is expected here',
  ENOTREG: 'is not a regular file',
};

const refuse = (message: string, missing = false): TextRead => ({ ok: false, missing, message });

/** Removes a byte order mark. Line ends are kept, so that offsets match the file. */
export function readText(files: Files, path: string): TextRead {
  const stat = files.stat(path);
  if (stat === null) return refuse('does not exist', true);
  if (stat.kind === 'directory') return refuse('is a directory; a file is expected here');
  if (stat.kind === 'other') return refuse('is not a regular file');
  if (stat.size > MAX_FILE_BYTES) return refuse(tooLarge(stat.size));
  let bytes: Uint8Array;
  try {
    bytes = files.read(path);
  } catch (error) {
    return refuse(SENTENCES[codeOf(error)] ?? `cannot be read: ${codeOf(error)}`, codeOf(error) === 'ENOENT');
  }
  if (bytes.byteLength > MAX_FILE_BYTES) return refuse(tooLarge(bytes.byteLength));
  return decode(bytes);
}

function decode(bytes: Uint8Array): TextRead {
  try {
    return { ok: true, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch {
    const hint = bytes[0] === 0xff || bytes[0] === 0xfe ? ' (it looks like UTF-16)' : '';
    return refuse(`is not valid UTF-8${hint}; save it as UTF-8`);
  }
}

const tooLarge = (size: number): string =>
  `is ${(size / 1024 / 1024).toFixed(1)} MiB large; at most ${MAX_FILE_BYTES / 1024 / 1024} MiB are read`;

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown error';

/** The finding of a file that cannot be read, at the file itself. */
export const unreadable = (source: SourceText, message: string): Finding => ({
  rule: 'unreadable-file',
  source,
  range: START,
  message,
});
