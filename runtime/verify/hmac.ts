/**
 * HMAC (RFC 2104) with a key that is prepared once.
 *
 *     HMAC(K, m) = H((K ^ opad) || H((K ^ ipad) || m))
 *
 * A short message is hashed with two one-shot digests over prepared pads: at a few hundred bytes the stream object of
 * `createHmac` costs more than the hashing (300 bytes: 1.1 us in place of 1.8 us, 2000 bytes: 2.1 us in place of 2.9 us).
 * A long message would have to be copied after its pad, so it uses `createHmac`.
 */
import { createHmac, hash } from 'node:crypto';
import type { SignedContent } from './content.ts';
import type { Encoding } from './encoding.ts';

export type HmacAlgorithm = 'sha1' | 'sha256' | 'sha512';

/** Digest and block lengths in bytes (FIPS 180-4). */
export const HMAC_LENGTHS: Readonly<Record<HmacAlgorithm, { readonly digest: number; readonly block: number }>> = {
  sha1: { digest: 20, block: 64 },
  sha256: { digest: 32, block: 64 },
  sha512: { digest: 64, block: 128 },
};

/** Messages up to this length, in bytes, are copied after the pad. */
const SHORT = 2048;
const IPAD = 0x36;
const OPAD = 0x5c;

/** Room for the inner pad and a short message. */
export const hmacScratch = (algorithm: HmacAlgorithm): Buffer => Buffer.alloc(HMAC_LENGTHS[algorithm].block + SHORT);

export class HmacKey {
  readonly #algorithm: HmacAlgorithm;
  readonly #key: Buffer;
  readonly #inner: Buffer;
  /** The outer pad with room for the inner digest. */
  readonly #outer: Buffer;

  /** Work space for a short message; keys may share one, because digests are computed one at a time. */
  readonly #scratch: Buffer;

  constructor(algorithm: HmacAlgorithm, key: Buffer, scratch: Buffer = hmacScratch(algorithm)) {
    const { block, digest } = HMAC_LENGTHS[algorithm];
    const short = key.length > block ? hash(algorithm, key, 'buffer') : key;
    this.#algorithm = algorithm;
    this.#key = key;
    this.#scratch = scratch;
    this.#inner = pad(short, IPAD, block, block);
    this.#outer = pad(short, OPAD, block, block + digest);
  }

  /** The digest as text: hex in lower case, base64 in its canonical form. */
  digest(content: SignedContent, encoding: Encoding): string {
    const length = content.head.length + content.body.length + content.tail.length;
    return length > SHORT ? this.#long(content, encoding) : this.#short(content, encoding);
  }

  #short({ head, body, tail }: SignedContent, encoding: Encoding): string {
    const inner = this.#inner;
    const message = this.#scratch;
    message.set(inner, 0);
    let at = inner.length;
    if (head !== '') at += message.write(head, at, 'latin1');
    message.set(body, at);
    at += body.length;
    if (tail !== '') at += message.write(tail, at, 'latin1');
    const digest = hash(this.#algorithm, message.subarray(0, at), 'binary');
    this.#outer.write(digest, inner.length, 'latin1');
    return hash(this.#algorithm, this.#outer, encoding);
  }

  #long({ head, body, tail }: SignedContent, encoding: Encoding): string {
    const mac = createHmac(this.#algorithm, this.#key);
    if (head !== '') mac.update(head, 'latin1');
    mac.update(body);
    if (tail !== '') mac.update(tail, 'latin1');
    return mac.digest(encoding);
  }
}

/** Allocates from Node's buffer pool, because a table of many routes holds many keys. */
function pad(key: Buffer, byte: number, block: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length).fill(byte, 0, block);
  for (let index = 0; index < key.length; index += 1) bytes[index] = (key[index] ?? 0) ^ byte;
  return bytes;
}
