/** Describes a source for commands: the form of its key, the maximum age of events, and the setup at the sender. */
import type { SourceFile } from '../../schemas/generated/types.ts';

/** How the key is derived from the secret; null if the secret is used unchanged. */
export function describeSecret({ verify, secret = {} }: SourceFile): string | null {
  const form = KEY_TEXTS[secret.as ?? 'utf8'];
  if (verify === 'basic') return '`user:password`';
  const strip = secret.strip === undefined ? '' : `after removing the prefix \`${secret.strip}\``;
  if (secret.otherwise === 'utf8-or-base64')
    return `\`${secret.strip}\` followed by base64; a secret without this prefix is tried as text and as base64`;
  if (form === null) return strip === '' ? null : `the text ${strip}`;
  return strip === '' ? form : `${form}, ${strip}`;
}

const KEY_TEXTS: Readonly<Record<NonNullable<NonNullable<SourceFile['secret']>['as']>, string | null>> = {
  utf8: null,
  hex: 'hex',
  base64: 'base64',
  'raw-hex': 'public key as 32 bytes in hex, or PEM',
  'raw-base64': 'public key as 32 bytes in base64, or PEM',
  'spki-base64': 'public key as base64 of its DER (SPKI), or PEM',
};

/** The replay window and its origin; null if the sender does not sign a timestamp. */
export function describeWindow({ timestamp }: SourceFile): string | null {
  if (timestamp === undefined) return null;
  return `${timestamp.tolerance} s${timestamp.tolerance_by === 'ours' ? ' (ours)' : ''}`;
}

/** Setup steps at the sender, or general ones if the source has none. `{url}` is a placeholder for the route's URL. */
export function setupSteps(file: SourceFile): readonly string[] {
  if (file.setup !== undefined) return file.setup;
  const key = file.verify === 'ed25519' || file.verify === 'ecdsa-p256' ? 'public_key' : 'secret';
  const given =
    file.verify === 'token' || file.verify === 'basic'
      ? 'At the sender, enter the route’s `secret` as the credential of the webhook.'
      : `Copy the webhook’s signing ${key === 'secret' ? 'secret' : 'key'} into the route’s \`${key}\`.`;
  return ['At the sender, create a webhook with the URL `{url}`.', given];
}
