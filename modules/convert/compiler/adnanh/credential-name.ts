/** Decides by its name whether a parameter contains a secret: trigger rules compare tokens and branch names in the same way. */

const WORDS = new Set(
  'token secret password passwd passphrase signature auth authorization authentication credential credentials apikey'.split(
    ' ',
  ),
);
/** Words that, followed by `key`, name a secret. */
const KEYS = new Set(['api', 'access', 'secret', 'private', 'shared', 'auth', 'webhook', 'hook', 'deploy', 'signing']);

export function isCredentialName(name: string): boolean {
  const words = name
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/);
  return words.some(
    (word, at) => WORDS.has(word) || (word === 'key' && (words.length === 1 || KEYS.has(words[at - 1] ?? ''))),
  );
}
