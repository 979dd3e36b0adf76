/** Turns a secret's text into keys, once, when a route is linked. */
import type { KeyObject } from 'node:crypto';
import { createPublicKey } from 'node:crypto';
import type { SecretForm } from '../../schemas/generated/types.ts';
import { decodeCanonical } from './encoding.ts';

/** DER of an ed25519 SubjectPublicKeyInfo up to the 32 key bytes (RFC 8410 §4). */
const ED25519_SPKI = Buffer.from('302a300506032b6570032100', 'hex');

const DECODERS: Readonly<Record<SecretForm['as'], (text: string) => Buffer | null>> = {
  utf8: (text) => Buffer.from(text, 'utf8'),
  hex: (text) => decodeCanonical('hex', text),
  base64: decodeKeyBase64,
  'raw-hex': (text) => decodeCanonical('hex', text),
  'raw-base64': decodeKeyBase64,
  'spki-base64': decodeKeyBase64,
};

/**
 * Every key a secret's text may mean. More than one only where senders differ (`utf8-or-base64`); none when the text
 * cannot be a key. An empty key is no key: an HMAC under it "verifies" for everyone.
 */
export function secretKeys(text: string, form: SecretForm): Buffer[] {
  const marked = form.strip !== '' && text.startsWith(form.strip);
  if (!marked && form.strip !== '' && form.otherwise === 'refuse') return [];
  if (!marked && form.otherwise === 'utf8-or-base64') {
    return [DECODERS.utf8(text), decodeCanonical('base64', text)].filter(isKey);
  }
  return [DECODERS[form.as](marked ? text.slice(form.strip.length) : text)].filter(isKey);
}

/** Parses a public key (PEM, or in the scheme's own form); null when it is none, or not of this curve. */
export function publicKey(text: string, form: SecretForm, curve: 'ed25519' | 'prime256v1'): KeyObject | null {
  try {
    const key = text.includes('-----BEGIN') ? createPublicKey(text) : rawPublicKey(text, form);
    if (key === null) return null;
    const actual = key.asymmetricKeyType === 'ec' ? key.asymmetricKeyDetails?.namedCurve : key.asymmetricKeyType;
    return actual === curve ? key : null;
  } catch {
    return null;
  }
}

function rawPublicKey(text: string, form: SecretForm): KeyObject | null {
  const bytes = secretKeys(text, form)[0];
  if (bytes === undefined) return null;
  const raw = form.as === 'raw-hex' || form.as === 'raw-base64';
  if (raw && bytes.length !== 32) return null;
  return createPublicKey({ key: raw ? Buffer.concat([ED25519_SPKI, bytes]) : bytes, format: 'der', type: 'spki' });
}

/** Keys are pasted by people: padding may be missing; anything else must be exact. */
function decodeKeyBase64(text: string): Buffer | null {
  const padded = text.endsWith('=') ? text : text.padEnd(Math.ceil(text.length / 4) * 4, '=');
  return decodeCanonical('base64', padded);
}

function isKey(bytes: Buffer | null): bytes is Buffer {
  return bytes !== null && bytes.length > 0;
}
