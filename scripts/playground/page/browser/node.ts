/**
 * Implements the parts of Node.js that the page's code uses in a browser. Other parts (signatures, sockets, the disk) throw,
 * because calling them is a bug (`scripts/playground/build-page.ts` uses `absent` for each name).
 */
import { hmac } from '@noble/hashes/hmac.js';
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

const bytesOf = (data: string | Uint8Array): Uint8Array =>
  typeof data === 'string' ? new TextEncoder().encode(data) : data;

/** The used part of a hash: any number of `update`, one `digest`. */
function hasherOf(hash: { update(data: Uint8Array): unknown; digest(): Uint8Array }) {
  const hasher = {
    update(data: string | Uint8Array) {
      hash.update(bytesOf(data));
      return hasher;
    },
    digest(encoding?: 'hex' | 'base64') {
      const bytes = Buffer.from(hash.digest());
      return encoding === undefined ? bytes : bytes.toString(encoding);
    },
  };
  return hasher;
}

/** @param name `sha256`, the only hash that a table needs */
export const createHash = (name: string) => (name === 'sha256' ? hasherOf(sha256.create()) : absent());
/** Signs a delivery that is neither sent nor shown, so one hash is used for all names. */
export const createHmac = (_name: string, key: string | Uint8Array) => hasherOf(hmac.create(sha256, bytesOf(key)));

/** Returns 4, 6, or 0 for a text that is not an IP address. */
export function isIP(text: string): 0 | 4 | 6 {
  if (/^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/.test(text)) return 4;
  return text.includes(':') && URL.canParse(`http://[${text}]/`) ? 6 : 0;
}

/** Returns the address in binary digits. */
function bitsOf(address: string): string {
  const digits = (numbers: readonly number[], size: number): string =>
    numbers.map((each) => each.toString(2).padStart(size, '0')).join('');
  if (isIP(address) === 4) return digits(address.split('.').map(Number), 8);
  const [before = '', after] = new URL(`http://[${address}]/`).hostname.slice(1, -1).split('::');
  const groups = (text = ''): readonly number[] =>
    text === '' ? [] : text.split(':').map((each) => parseInt(each, 16));
  const [first, last] = [groups(before), groups(after)];
  return digits([...first, ...new Array<number>(8 - first.length - last.length).fill(0), ...last], 16);
}

export class BlockList {
  private readonly networks: string[] = [];

  addSubnet(address: string, prefix: number, family: string): void {
    this.networks.push(family + bitsOf(address).slice(0, prefix));
  }

  check(address: string, family: string): boolean {
    const text = family + bitsOf(address);
    return this.networks.some((network) => text.startsWith(network));
  }
}

/** Classes of Node.js for a request without a connection. */
export class Socket {}
export class IncomingMessage {}
export class ServerResponse {}

/** A page shows control characters as text. */
export const stripVTControlCharacters = (text: string): string => text;
export const randomUUID = (): string => crypto.randomUUID();

/** Replaces all other functions. */
export function absent(): never {
  throw new Error('the page does not have this function of Node.js');
}
