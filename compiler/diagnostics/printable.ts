/** Makes text from files fit to be shown: nothing in it may steer a terminal, and no literal secret is repeated. */

/** Controls (escape sequences start with one) and the marks that reorder text. */
const UNPRINTABLE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/** Keeps the length, so that columns stay right. */
export const printable = (text: string): string => text.replace(UNPRINTABLE, '\ufffd');

/** A value after a key that names a credential; references are no secret, nor is the word that stands for none. */
const CREDENTIAL =
  /((?:secrets?|value|tokens?|pass|passw(?:or)?d|api_?key|credentials?|private_key|auth_?key|[a-z0-9]+_(?:secret|token|pass|password|key))["']?\s*:\s*)(?!\s)((?!["']?(?:env:|file:|INSECURE_NO_AUTH))(?:"[^"]*"?|'[^']*'?|[^\s,}\]{["'|>&*][^,}\]]*))/gi;

/** Covers what looks like a literal credential on one line of YAML; keeps the length. */
export const maskCredentials = (line: string): string =>
  line.replace(CREDENTIAL, (_, key: string, value: string) => key + mask(value));

/** Covers the value behind a key, up to the end of its entry. */
export const maskValue = (rest: string): string =>
  rest.replace(
    /^(\s*:\s*)(?!\s)((?!["']?(?:env|file):)(?:"[^"]*"?|'[^']*'?|[^,}]*))/,
    (_, colon: string, value: string) => colon + mask(value),
  );

export const mask = (value: string): string => value.replace(/\S/gu, (unit) => '*'.repeat(unit.length));
