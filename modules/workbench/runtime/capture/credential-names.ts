/** Names of headers and query parameters that suggest a credential although no source says so. */

/** Anywhere in a name, because names are also written without separators (`accesstoken`). */
const PARTS =
  /token|secret|passw|passcode|passphrase|passkey|pwd|auth(?!or(?!i))|signature|hmac|credential|cookie|session|sessid|jwt|oidc|saml|bearer|assertion|dpop/;

/** As a word of a name: parts of ordinary words, such as `opinion` and `compass`. */
const WORDS: ReadonlySet<string> = new Set('pass pin otp totp mfa sas sig psk pat pw cred creds csrf xsrf'.split(' '));

/** In front of `key`: what the key identifies or sorts. */
const HARMLESS_KEYS: ReadonlySet<string> = new Set(
  [
    'idempotency event public partition issue project sort order primary foreign group row object cache surrogate message',
    'dedup dedupe deduplication correlation websocket socket tracking collapse shard hash range lookup record item entity resource',
    'file team space board role status type feature flag label tag template search translation',
    // Words that end like one.
    'mon tur don hoc joc whis hot',
  ].flatMap((line) => line.split(' ')),
);
/** Behind `key`: what is said of a key. */
const ABOUT_KEYS: ReadonlySet<string> = new Set('id ids name type version alg algorithm size usage count'.split(' '));
/** In front of `code`: what the code gives access to. */
const SECRET_CODES: ReadonlySet<string> = new Set(
  'access verification confirmation activation recovery backup invite device user security'.split(' '),
);
/** In front of `sid`; any other names an object (`MessageSid`). */
const SESSIONS: ReadonlySet<string | undefined> = new Set([undefined, 'x', 'connect']);
/** Behind `sign`: what somebody does. */
const SIGNING: ReadonlySet<string | undefined> = new Set(['in', 'up', 'out', 'off']);

/** Whether a value of this name may be a credential. @param name in any case: `X-Api-Key`, `apiKey`, `client_secret` */
export function soundsSecret(name: string): boolean {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((word) => word !== '');
  return PARTS.test(name.toLowerCase()) || words.some((word, at) => isSecretWord(word, words[at - 1], words[at + 1]));
}

function isSecretWord(word: string, before: string | undefined, after: string | undefined): boolean {
  if (WORDS.has(word)) return true;
  if (word === 'sid') return SESSIONS.has(before);
  if (word === 'sign') return !SIGNING.has(after);
  if (word === 'code') return SECRET_CODES.has(before ?? '');
  if (!word.endsWith('key') || ABOUT_KEYS.has(after ?? '')) return false;
  return !HARMLESS_KEYS.has(word === 'key' ? (before ?? '') : word.slice(0, -'key'.length));
}
