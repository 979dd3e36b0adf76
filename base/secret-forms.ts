/** The forms of secrets: webhook keys, and texts that are encrypted with the key of a shared store. */

/** The prefix of texts that are encrypted with `gateway.store.key`. */
export const SEALED_PREFIX = 'sealed:v1:';

export const isSealed = (text: string): boolean => text.startsWith(SEALED_PREFIX);

/** The message for an invalid secret. */
export const WEBHOOK_SECRET =
  'secret must be `whsec_` and base64, or the base64 of at least 24 bytes; make one with `echo "whsec_$(openssl rand -base64 32)"`';

/** The decoded key; null if the text is not a valid secret. Without `whsec_`, it needs the length that the specification requires. */
export function webhookKey(secret: string): Buffer | null {
  const text = secret.replace(/^whsec_/, '');
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return null;
  const key = Buffer.from(text, 'base64');
  return key.length < (text === secret ? 24 : 1) ||
    key.toString('base64').replace(/=+$/, '') !== text.replace(/=+$/, '')
    ? null
    : key;
}
