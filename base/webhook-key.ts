/** Reads a secret of Standard Webhooks. */

/** Says what a secret has to be. */
export const WEBHOOK_SECRET =
  'secret must be `whsec_` and base64, or the base64 of at least 24 bytes; make one with `echo "whsec_$(openssl rand -base64 32)"`';

/** The key, decoded; null when the text is no such secret. Without `whsec_` it has to have the length that the specification asks for. */
export function webhookKey(secret: string): Buffer | null {
  const text = secret.replace(/^whsec_/, '');
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return null;
  const key = Buffer.from(text, 'base64');
  return key.length < (text === secret ? 24 : 1) ||
    key.toString('base64').replace(/=+$/, '') !== text.replace(/=+$/, '')
    ? null
    : key;
}
