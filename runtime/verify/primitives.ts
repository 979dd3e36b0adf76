/** The ways a signature can be checked, as a table: each prepares a secret once and then compares in constant time. */
import type { KeyObject } from 'node:crypto';
import { createHash, createHmac, createSecretKey, timingSafeEqual, verify } from 'node:crypto';
import type { SchemePlan } from '../../schemas/generated/types.ts';
import type { Content } from './content.ts';
import type { Encoding } from './encoding.ts';
import { canonicalForm, decodeCanonical, headerBytes } from './encoding.ts';
import { publicKey, secretKeys } from './keys.ts';

/** One secret made ready: whether any of the signatures is right for the content. */
export type Check = (content: Content, signatures: readonly string[]) => boolean;

export interface Primitive {
  /** Checks for every key the secret's text may mean; empty when it can be none. */
  readonly prepare: (secret: string) => readonly Check[];
  /** Whether a text has the shape of a signature at all: decided before any key is touched. */
  readonly wellFormed: (signature: string) => boolean;
}

type Link = (plan: SchemePlan) => Primitive;

const PRIMITIVES: Readonly<Record<SchemePlan['verify'], Link>> = {
  'hmac-sha1': (plan) => hmac('sha1', 20, plan),
  'hmac-sha256': (plan) => hmac('sha256', 32, plan),
  'hmac-sha512': (plan) => hmac('sha512', 64, plan),
  ed25519: (plan) => asymmetric(plan, null, 'ed25519', matcher(canonicalForm(plan.encoding, 64))),
  'ecdsa-p256': (plan) =>
    asymmetric(plan, 'sha256', 'prime256v1', (text) => {
      const bytes = decodeCanonical(plan.encoding, text);
      return bytes !== null && bytes.length >= 8 && bytes.length <= 72;
    }),
  token: (plan) => secretText(plan, plan.signature.every((at) => at.in === 'header') ? headerBytes : utf8Bytes),
  basic: (plan) => secretText(plan, (text) => decodeCanonical('base64', text)),
  none: () => ({ prepare: () => [], wellFormed: () => true }),
};

export function linkPrimitive(plan: SchemePlan): Primitive {
  return PRIMITIVES[plan.verify](plan);
}

/**
 * The digest is compared as text in the signature's own encoding, byte by byte in constant time: cheaper than decoding
 * the sender's text, and only the one canonical spelling can match.
 */
function hmac(algorithm: string, bytes: number, plan: SchemePlan): Primitive {
  const { encoding } = plan;
  const equal = textComparer(textLength(encoding, bytes));
  const fold = encoding === 'hex' ? (text: string) => text.toLowerCase() : (text: string) => text;
  return {
    wellFormed: matcher(canonicalForm(encoding, bytes)),
    prepare: (secret) =>
      secretKeys(secret, plan.secret).map((key) =>
        hmacCheck(algorithm, createSecretKey(key), encoding, (digest, given) => equal(digest, fold(given))),
      ),
  };
}

function hmacCheck(
  algorithm: string,
  key: KeyObject,
  encoding: Encoding,
  equal: (digest: string, given: string) => boolean,
): Check {
  return (content, signatures) => {
    const mac = createHmac(algorithm, key);
    for (const piece of content) {
      if (typeof piece === 'string') mac.update(piece, 'latin1');
      else mac.update(piece);
    }
    const digest = mac.digest(encoding);
    let right = false;
    for (const given of signatures) if (equal(digest, given)) right = true;
    return right;
  };
}

function asymmetric(
  plan: SchemePlan,
  digest: 'sha256' | null,
  curve: 'ed25519' | 'prime256v1',
  wellFormed: (text: string) => boolean,
): Primitive {
  return {
    wellFormed,
    prepare: (secret) => {
      const key = publicKey(secret, plan.secret, curve);
      if (key === null) return [];
      return [
        (content, signatures) => {
          const data = Buffer.concat(
            content.map((piece) => (typeof piece === 'string' ? Buffer.from(piece, 'latin1') : piece)),
          );
          return signatures.some((text) => verify(digest, data, key, Buffer.from(text, plan.encoding)));
        },
      ];
    },
  };
}

/** A secret sent as it is. Digests are compared, so that not even its length shows. */
function secretText(plan: SchemePlan, decode: (text: string) => Buffer | null): Primitive {
  return {
    wellFormed: (text) => decode(text) !== null,
    prepare: (secret) =>
      secretKeys(secret, plan.secret).map((key) => {
        const expected = sha256(key);
        return (_content, signatures) => {
          let right = false;
          for (const text of signatures) {
            if (timingSafeEqual(sha256(decode(text) ?? Buffer.alloc(0)), expected)) right = true;
          }
          return right;
        };
      }),
  };
}

/** Compares two ASCII texts of one known length through two buffers made once. */
function textComparer(length: number): (a: string, b: string) => boolean {
  const left = Buffer.alloc(length);
  const right = Buffer.alloc(length);
  return (a, b) => {
    if (a.length !== length || b.length !== length) return false;
    left.write(a, 'latin1');
    right.write(b, 'latin1');
    return timingSafeEqual(left, right);
  };
}

function textLength(encoding: Encoding, bytes: number): number {
  return Buffer.alloc(bytes).toString(encoding).length;
}

function matcher(form: RegExp): (text: string) => boolean {
  return (text) => form.test(text);
}

function utf8Bytes(text: string): Buffer {
  return Buffer.from(text, 'utf8');
}

function sha256(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest();
}
