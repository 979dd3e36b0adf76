/** Tells by its name whether a parameter carries a secret: a trigger rule compares tokens and branch names alike. */

const WORDS = new Set(
  'token secret password passwd passphrase signature auth authorization authentication credential credentials apikey'.split(
    ' ',
  ),
);
/** Words that make a secret of the `key` behind them. */
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
