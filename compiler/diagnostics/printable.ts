/** Makes text from files fit to be shown: nothing in it may steer a terminal, and no literal secret is repeated. */

import { isSecretName } from '../text/secret-names.ts';

/** Controls (escape sequences start with one) and the marks that reorder text. */
const UNPRINTABLE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/** Keeps the length, so that columns stay right. */
export const printable = (text: string): string => text.replace(UNPRINTABLE, '\ufffd');

/**
 * A value after a word that names a credential: for comments and for text that is no YAML. References are no secret, nor
 * is the word that stands for none. A list ends where its bracket closes.
 */
const CREDENTIAL =
  /((?:secrets?|value|tokens?|pass|passw(?:or)?d|api_?key|credentials?|private_key|auth_?key|(?<![a-z0-9])[a-z0-9]+_(?:secret|token|pass|password|key))["']?\s*[:=]\s*)(?!\s)((?!["']?(?:env:|file:|INSECURE_NO_AUTH))(?:\[[^\]]*\]?|"[^"]*"?|'[^']*'?|[^\s,}\]{["'|>&*][^,}\]]*))/gi;

/** Credentials inside a URL: the user information, and parameters that are called like secrets. */
const URL_CREDENTIAL =
  /(\w:\/\/)([^\s/@"']+)(?=@)|([?&](?:access_token|token|api_?key|key|secret|password|sig|signature)=)([^&#\s"']+)/gi;

/** Covers what looks like a literal credential on one line; keeps the length. */
export const maskCredentials = (line: string): string =>
  maskUrls(line.replace(CREDENTIAL, (_, key: string, value: string) => key + maskItems(value)));

/** Whether a text names or holds what looks like a credential: a message does not repeat it. */
export const holdsCredential = (text: string): boolean =>
  maskCredentials(text) !== text || text.split(/[\s=:,]+/).some((word) => isSecretName(word.replace(/^-+/, '')));

/** One value, or the items of a list but for its references. */
const maskItems = (value: string): string =>
  value.startsWith('[')
    ? value.replace(/[^\s,[\]{}]+/g, (item) => (HARMLESS.test(item) ? item : mask(item)))
    : mask(value);

/** A reference, nothing, or the key of a map. */
const HARMLESS = /^["']?(?:env|file):|^(?:""|'')$|:$/;

/** Host and path of a URL, and in the path what no word is as long as: a part of an incoming webhook's URL, say. */
const URL_PATH = /(\w:\/\/[^\s/"'?#]*)(\/[^\s"'?#]*)/g;
const LONG_PART = /[^/]{20,}/g;

/** Covers the credentials of the URLs in a text; keeps the length. */
export const maskUrls = (text: string): string =>
  text
    .replace(URL_CREDENTIAL, (_, scheme = '', user = '', name = '', value = '') =>
      scheme === '' ? name + mask(value) : scheme + mask(user),
    )
    .replace(
      URL_PATH,
      (_, host: string, path: string) =>
        host + path.replace(LONG_PART, (part) => (/[0-9A-Z]/.test(part) ? mask(part) : part)),
    );

export const mask = (value: string): string => value.replace(/\S/gu, (unit) => '*'.repeat(unit.length));
