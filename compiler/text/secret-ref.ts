/** Secrets as written in a config: a literal, `env:NAME` or `file:path`, and the keys that hold them. */

import { editDistance } from '../../base/edit-distance.ts';
import type { SecretRef } from '../../schemas/generated/types.ts';
import { NO_AUTH } from './built/stand-ins.ts';
import { suggest } from './suggest.ts';

/** Disables signature checks; accepted only if the server binds a loopback address (§5.3). */
export const INSECURE_NO_AUTH = 'INSECURE_NO_AUTH';

const OTHER_SPELLINGS = new Set(NO_AUTH.split(' '));
const PLAIN = 'insecurenoauth';

/** Whether the text probably means INSECURE_NO_AUTH: another case, other separators, a typo or a synonym. */
export function isNearNoAuth(text: string): boolean {
  if (text.length > 2 * PLAIN.length) return false;
  const plain = text.toLowerCase().replace(/[^a-z]/g, '');
  const isBare = !/[0-9]/.test(text);
  return isBare && (OTHER_SPELLINGS.has(plain) || editDistance(plain, PLAIN, 3) <= 2);
}

/** @param scope the profile whose environment and files resolve the reference */
export function parseSecretRef(text: string, scope: string): SecretRef {
  if (text.startsWith('env:')) return { kind: 'env', value: text.slice('env:'.length), scope };
  if (text.startsWith('file:')) return { kind: 'file', value: text.slice('file:'.length), scope };
  return { kind: 'literal', value: text, scope };
}

/** Returns why a reference can never be resolved, or null. */
export function secretRefProblem(ref: SecretRef): string | null {
  if (ref.kind === 'env' && !/^[A-Za-z_][A-Za-z0-9_]*$/.test(ref.value)) {
    return '`env:` needs the name of an environment variable, such as `env:WEBHOOK_SECRET`';
  }
  if (ref.kind === 'file' && ref.value === '') return '`file:` needs a path, such as `file:secrets/webhook`';
  return null;
}

const NAME =
  /secret|token|passw|passphrase|pwd$|credential|(?:^|[_-])pass$|[a-z0-9][_-]key$|(?:api|access|auth|private|sign|signing)key$|cookie|authorization|hook_?url|dsn$/i;
/** Keys that are named like secrets but contain templates. */
const NO_SECRET = /^(?:session_key|message_key)$/i;

/** Whether a value is certainly not a secret, although its key may be named like one: a template, or a budget's count. */
export const isHarmless = (key: string, value: string): boolean =>
  NO_SECRET.test(key) || (key === 'tokens' && /^\d+\s*$/.test(value));

export const isSecretName = (key: string): boolean => NAME.test(key) && !NO_SECRET.test(key);

/** Words whose misspellings are recognised. */
const WORDS = ['secret', 'secrets', 'token', 'tokens', 'password', 'api_key', 'credentials', 'verify_token'];

/** Also true for misspelt names. The first letter must match: it is rarely misspelt, and many words would be similar without it. */
export const mayBeSecretName = (key: string): boolean =>
  isSecretName(key) || suggest(key, WORDS).some((word) => word[0] === key[0]?.toLowerCase());
