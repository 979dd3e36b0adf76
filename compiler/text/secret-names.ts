/** Keys that hold secrets, told by their name: for files whose schema does not say it, and for keys that no schema knows. */
import { suggest } from './suggest.ts';

const NAME =
  /secret|token|passw|passphrase|pwd$|credential|(?:^|[_-])pass$|[a-z0-9][_-]key$|(?:api|access|auth|private|sign|signing)key$|cookie|authorization|hook_?url|dsn$/i;
/** End like the name of a key, and hold templates. */
const NO_SECRET = /^(?:session_key|message_key)$/i;

export const isSecretName = (key: string): boolean => NAME.test(key) && !NO_SECRET.test(key);

/** What people misspell. */
const WORDS = ['secret', 'secrets', 'token', 'tokens', 'password', 'api_key', 'credentials', 'verify_token'];

/** Misspelt, such a key may still have a literal secret behind it. Few get the first letter wrong, and many words are near. */
export const mayBeSecretName = (key: string): boolean =>
  isSecretName(key) || suggest(key, WORDS).some((word) => word[0] === key[0]?.toLowerCase());
