/** The table of signature checks. Each prepares a secret once and then compares in constant time. */
import { hash, timingSafeEqual, verify } from 'node:crypto';
import type { SchemePlan } from '../../schemas/generated/types.ts';
import type { SignedContent } from './content.ts';
import { contentBytes } from './content.ts';
import type { Encoding } from './encoding.ts';
import { canonicalForm, decodeCanonical, headerBytes, isAscii } from './encoding.ts';
import type { HmacAlgorithm } from './hmac.ts';
import { HMAC_LENGTHS, HmacKey, hmacScratch } from './hmac.ts';
import { publicKey, secretKeys } from './keys.ts';
import { MAX_PARTS } from './locator.ts';

/** Whether any of the signatures is right for the content, under one prepared secret. */
export type CheckSignature = (content: SignedContent, signatures: readonly string[]) => boolean;

/** Keys of one route's secrets. Schemes that read a secret in the same way share its keys. */
export type SharedKeys = Map<string, readonly HmacKey[]>;

export interface Primitive {
  /** Returns a check for every key that the secret's text may stand for; none when it cannot be a key. */
  readonly prepare: (secret: string, shared: SharedKeys) => readonly CheckSignature[];
  /** Whether a text has the shape of a signature at all. */
  readonly wellFormed: (signature: string) => boolean;
  /** Most signatures that a request may carry; fewer where each takes a check of its own. */
  readonly most: number;
}

/** A check takes about 0.1 ms, and a sender that changes its key signs with both. */
const MOST_ASYMMETRIC = 8;

type Link = (plan: SchemePlan) => Primitive;

const PRIMITIVES: Readonly<Record<SchemePlan['verify'], Link>> = {
  'hmac-sha1': (plan) => hmac('sha1', plan),
  'hmac-sha256': (plan) => hmac('sha256', plan),
  'hmac-sha512': (plan) => hmac('sha512', plan),
  ed25519: (plan) => asymmetric(plan, null, 'ed25519', matcher(canonicalForm(plan.encoding, 64))),
  'ecdsa-p256': (plan) => asymmetric(plan, 'sha256', 'prime256v1', (text) => isDer(text, plan.encoding)),
  token: (plan) => secretText(plan, isHeader(plan) ? headerBytes : (text) => Buffer.from(text, 'utf8')),
  basic: (plan) => secretText(plan, (text) => decodeCanonical('base64', text)),
  none: () => ({ prepare: () => [], wellFormed: () => true, most: MAX_PARTS }),
};

export function linkPrimitive(plan: SchemePlan): Primitive {
  return PRIMITIVES[plan.verify](plan);
}

/**
 * Compares the digest as text in the signature's own encoding, in constant time: this is cheaper than decoding the
 * sender's text, and only the canonical spelling can match.
 */
function hmac(algorithm: HmacAlgorithm, plan: SchemePlan): Primitive {
  const { encoding, secret: form } = plan;
  const bytes = HMAC_LENGTHS[algorithm].digest;
  const equal = textComparer(Buffer.alloc(bytes).toString(encoding).length, isHeader(plan));
  const isEqual =
    encoding === 'hex'
      ? (digest: string, given: string) => equal(digest, given) || equal(digest, given.toLowerCase())
      : equal;
  const scratch = hmacScratch(algorithm);
  const check = (key: HmacKey, content: SignedContent, signatures: readonly string[]): boolean => {
    const digest = key.digest(content, encoding);
    for (const given of signatures) if (isEqual(digest, given)) return true;
    return false;
  };
  const prepare = (secret: string, shared: SharedKeys): readonly CheckSignature[] => {
    const name = `${algorithm} ${form.strip} ${form.as} ${form.otherwise} ${secret}`;
    const keys = shared.get(name) ?? secretKeys(secret, form).map((key) => new HmacKey(algorithm, key, scratch));
    shared.set(name, keys);
    return keys.map((key) => (content, signatures) => check(key, content, signatures));
  };
  return { wellFormed: matcher(canonicalForm(encoding, bytes)), prepare, most: MAX_PARTS };
}

function asymmetric(
  plan: SchemePlan,
  digest: 'sha256' | null,
  curve: 'ed25519' | 'prime256v1',
  wellFormed: (text: string) => boolean,
): Primitive {
  const prepare = (secret: string): readonly CheckSignature[] => {
    const key = publicKey(secret, plan.secret, curve);
    if (key === null) return [];
    return [
      (content, signatures) => {
        const data = contentBytes(content);
        return signatures.some((text) => verify(digest, data, key, Buffer.from(text, plan.encoding)));
      },
    ];
  };
  return { wellFormed, prepare, most: MOST_ASYMMETRIC };
}

/** Whether the text is an ECDSA signature over a 256-bit curve in DER (RFC 3279 §2.2.3): a sequence of two integers. */
function isDer(text: string, encoding: Encoding): boolean {
  const bytes = decodeCanonical(encoding, text);
  if (bytes === null || bytes.length < 8 || bytes.length > 72) return false;
  const second = 4 + (bytes[3] ?? 0);
  return (
    bytes[0] === SEQUENCE &&
    bytes[1] === bytes.length - 2 &&
    bytes[2] === INTEGER &&
    bytes[second] === INTEGER &&
    bytes[second + 1] === bytes.length - second - 2
  );
}

const SEQUENCE = 0x30;
const INTEGER = 0x02;

/** A secret sent in plain text. Digests are compared, so that not even its length shows. */
function secretText(plan: SchemePlan, decode: (text: string) => Buffer | null): Primitive {
  const prepare = (secret: string): readonly CheckSignature[] =>
    secretKeys(secret, plan.secret).map((key) => {
      const expected = sha256(key);
      return (_content, signatures) => {
        let right = false;
        for (const text of signatures) {
          const given = decode(text);
          if (given !== null && timingSafeEqual(sha256(given), expected)) right = true;
        }
        return right;
      };
    });
  return { wellFormed: (text) => text !== '' && decode(text) !== null, prepare, most: MAX_PARTS };
}

/**
 * Returns a comparison of an ASCII text of this length with any other text, over two preallocated buffers.
 * @param latin1 the other text has only one-byte characters
 */
function textComparer(length: number, latin1: boolean): (expected: string, given: string) => boolean {
  const left = Buffer.alloc(length);
  const right = Buffer.alloc(length);
  return (expected, given) => {
    // For wider characters only the low byte would be compared.
    if (given.length !== length || (!latin1 && !isAscii(given))) return false;
    left.write(expected, 'latin1');
    right.write(given, 'latin1');
    return timingSafeEqual(left, right);
  };
}

/** Whether all signatures are in headers, which Node reads as Latin-1. */
function isHeader(plan: SchemePlan): boolean {
  return plan.signature.every((at) => at.in === 'header');
}

function matcher(form: RegExp): (text: string) => boolean {
  return (text) => form.test(text);
}

function sha256(bytes: Buffer): Buffer {
  return hash('sha256', bytes, 'buffer');
}
