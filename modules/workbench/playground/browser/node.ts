/**
 * What the code of the page uses of Node.js, in a browser. What it does not use there (signatures, sockets, the disk) is not
 * there: calling it is a bug, and throws (`scripts/playground/build-page.ts` has `absent` for each name).
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { Buffer } from 'buffer';
import posix from 'path-browserify';

export const { basename, dirname, extname, isAbsolute, join, normalize, relative, resolve, sep } = posix;
export { Buffer, posix };

export const isUtf8 = (bytes: Uint8Array): boolean => {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
};

const ascii = (bytes: Uint8Array): boolean => bytes.every((byte) => byte < 0x80);

export { ascii as isAscii };

/** @param name `sha256`, the only one that a table needs */
export function createHash(name: string) {
  if (name !== 'sha256') return absent();
  const hash = sha256.create();
  const hasher = {
    update(data: string | Uint8Array) {
      hash.update(typeof data === 'string' ? new TextEncoder().encode(data) : data);
      return hasher;
    },
    digest: (encoding: 'hex' | 'base64') => Buffer.from(hash.digest()).toString(encoding),
  };
  return hasher;
}

/** Of a request that has no connection. */
export class Socket {}
export class IncomingMessage {}
export class ServerResponse {}

/** A page shows control characters as text. */
export const stripVTControlCharacters = (text: string): string => text;
export const randomUUID = (): string => crypto.randomUUID();

/** Stands for everything else. */
export function absent(): never {
  throw new Error('the page has no Node.js');
}
