/** Recognises keys for secrets by their names, for files without a schema and for unknown keys. */
import { suggest } from './suggest.ts';

const NAME =
  /secret|token|passw|passphrase|pwd$|credential|(?:^|[_-])pass$|[a-z0-9][_-]key$|(?:api|access|auth|private|sign|signing)key$|cookie|authorization|hook_?url|dsn$/i;
/** Keys that end like names of secrets but contain templates. */
const NO_SECRET = /^(?:session_key|message_key)$/i;

/** Whether a value is none of a secret for certain, although its key may be called like one: a template, or the count of a budget. */
export const isHarmless = (key: string, value: string): boolean =>
  NO_SECRET.test(key) || (key === 'tokens' && /^\d+\s*$/.test(value));

export const isSecretName = (key: string): boolean => NAME.test(key) && !NO_SECRET.test(key);

/** Words whose misspellings are recognised. */
const WORDS = ['secret', 'secrets', 'token', 'tokens', 'password', 'api_key', 'credentials', 'verify_token'];

/** Also true for misspelt names. The first letter must match: it is rarely misspelt, and many words would be similar without it. */
export const mayBeSecretName = (key: string): boolean =>
  isSecretName(key) || suggest(key, WORDS).some((word) => word[0] === key[0]?.toLowerCase());
