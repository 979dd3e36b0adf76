/** Makes text from files safe to display: removes terminal control characters and masks literal secrets. */

import { INVISIBLE_ALONE } from '../../base/text.ts';
import { isHarmless, isSecretName } from '../text/secret-ref.ts';

const UNPRINTABLE = new RegExp(String.raw`(?![\t\n])${INVISIBLE_ALONE}`, 'gu');

/** Replaces invisible and control characters. Keeps the length, so that columns stay valid. */
export const printable = (text: string): string =>
  text.replace(UNPRINTABLE, (character) => '\ufffd'.repeat(character.length));

/**
 * A value after a word that names a credential, in comments and in text that is not YAML. References and
 * INSECURE_NO_AUTH are not secrets. A list ends at its closing bracket.
 */
const CREDENTIAL =
  /((?:secrets?|value|tokens?|pass|passw(?:or)?d|api_?key|credentials?|private_key|auth_?key|(?<![a-z0-9])[a-z0-9]+_(?:secret|token|pass|password|key))["']?\s*[:=]\s*)(?!\s)((?!["']?(?:env:|file:|INSECURE_NO_AUTH))(?:\[[^\]]*\]?|"[^"]*"?|'[^']*'?|[^\s,}\]{["'|>&*][^,}\]]*))/gi;

/** A value after `key` that is longer than words of a path. */
const LONG_KEY = /((?<![\w.-])key["']?\s*[:=]\s*["']?)((?:sk-|(?=[\w-]*\d)(?=[\w-]{20}))[\w-]+)(?![\w.-]*[.}])/gi;

/** Credentials in a URL: user information, and parameters whose names indicate a secret. */
const URL_CREDENTIAL =
  /(\w:\/\/)([^\s/@"']+)(?=@)|([?&](?:access_token|token|api_?key|key|secret|password|sig|signature)=)([^&#\s"']+)/gi;

/** Masks anything that looks like a literal credential on one line. Keeps the length. */
export const maskCredentials = (line: string): string =>
  maskUrls(
    line
      .replace(CREDENTIAL, (whole, key: string, value: string) =>
        isHarmless(/^\w+/.exec(key)?.[0] ?? '', value) ? whole : key + maskItems(value),
      )
      .replace(LONG_KEY, (_, key: string, value: string) => key + mask(value)),
  );

/** Whether a text contains or names something that looks like a credential; messages do not repeat such texts. */
export const holdsCredential = (text: string): boolean =>
  maskCredentials(text) !== text || text.split(/[\s=:,]+/).some((word) => isSecretName(word.replace(/^-+/, '')));

/** Masks a value, or the items of a list except references. */
const maskItems = (value: string): string =>
  value.startsWith('[')
    ? value.replace(/[^\s,[\]{}]+/g, (item) => (HARMLESS.test(item) ? item : mask(item)))
    : mask(value);

/** A reference, an empty value, or the key of a map. */
const HARMLESS = /^["']?(?:env|file):|^(?:""|'')$|:$/;

/** Host and path of a URL, and path segments too long to be words, such as the token in an incoming webhook's URL. */
const URL_PATH = /(\w:\/\/[^\s/"'?#]*)(\/[^\s"'?#]*)/g;
const LONG_PART = /[^/]{20,}/g;

/** Masks the credentials of URLs in a text. Keeps the length. */
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
