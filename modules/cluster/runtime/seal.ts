/**
 * Encrypts secrets that leave this machine, with AES-256-GCM: a random 96-bit nonce and a 128-bit tag (NIST SP 800-38D).
 * The key is derived from a text with HKDF-SHA-256 (RFC 5869), which does not strengthen a guessable text, so the text
 * must be long.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { SEALED_PREFIX } from '../../../base/sealed-text.ts';

const [NONCE_BYTES, TAG_BYTES, KEY_BYTES] = [12, 16, 32];
/** Least length, in characters, of the text from which a key is derived. */
const SHORTEST_KEY_TEXT = 32;

export interface Seal {
  /** Encrypts. @param place what the secret belongs to; it cannot be opened for another place */
  seal(secret: string, place: string): string;
  /** Decrypts. @throws Error when the secret was sealed with another key, or for another place */
  open(sealed: string, place: string): string;
}

/** @throws Error when the text is too short */
export function createSeal(keyText: string): Seal {
  if (keyText.length < SHORTEST_KEY_TEXT)
    throw new Error(`gateway.store.key has fewer than ${SHORTEST_KEY_TEXT} characters: openssl rand -hex 32 makes one`);
  const key = Buffer.from(hkdfSync('sha256', keyText, '', 'hookwright gateway.store.key', KEY_BYTES));
  return {
    seal(secret, place) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(place, 'utf8'));
      const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
      return SEALED_PREFIX + Buffer.concat([nonce, cipher.getAuthTag(), text]).toString('base64');
    },
    open(sealed, place) {
      const bytes = Buffer.from(sealed.slice(SEALED_PREFIX.length), 'base64');
      const [nonce, rest] = [bytes.subarray(0, NONCE_BYTES), bytes.subarray(NONCE_BYTES)];
      try {
        const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
        decipher.setAAD(Buffer.from(place, 'utf8')).setAuthTag(rest.subarray(0, TAG_BYTES));
        return Buffer.concat([decipher.update(rest.subarray(TAG_BYTES)), decipher.final()]).toString('utf8');
      } catch {
        throw new Error('it was encrypted with another gateway.store.key');
      }
    },
  };
}
