/**
 * Recognises what is no secret: variables and references of other tools, which nothing resolves here, sample values from
 * examples and manuals, and common passwords, which anyone can guess.
 */

import { foreignReference, innerTexts } from './foreign-reference.ts';
import { isGuessable } from './guessable.ts';
import { inPlainLetters } from './plain-letters.ts';
import { INSECURE_NO_AUTH, isNearNoAuth } from './secret-ref.ts';
import { isStandIn } from './stand-in.ts';

export interface SecretPlaceholder {
  /** `quoted`: in quotes that are part of the text. `no-auth`: INSECURE_NO_AUTH in another spelling. */
  readonly kind: 'variable' | 'reference' | 'stand-in' | 'guessable' | 'quoted' | 'no-auth';
  /** Description for a message, without the text itself. */
  readonly what: string;
  /** Name of the variable that is meant, or null. */
  readonly variable: string | null;
}

/**
 * Returns null if the text may be a secret.
 * @param signs whether INSECURE_NO_AUTH could be meant; if not, another spelling of it is a stand-in like any
 */
export function placeholderIn(text: string, signs = true): SecretPlaceholder | null {
  if (text === INSECURE_NO_AUTH) return null;
  const trimmed = inPlainLetters(text).trim();
  const found = kindOf(trimmed);
  const kind = found === 'no-auth' && !signs ? 'stand-in' : found;
  return kind === null ? null : { kind, what: WHAT[kind], variable: kind === 'variable' ? nameIn(trimmed) : null };
}

function kindOf(text: string): SecretPlaceholder['kind'] | null {
  if (isNearNoAuth(text)) return 'no-auth';
  const foreign = foreignReference(text);
  if (foreign !== null) return foreign;
  const forms = innerTexts(text).flatMap((form) => [form, ...encodedIn(form)]);
  if (forms.some(isStandIn)) return 'stand-in';
  if (forms.some(isGuessable)) return 'guessable';
  return /^(["'])[\w+/=-]{12,}\1$/.test(text) ? 'quoted' : null;
}

/** What stands in base64, or behind the prefix of a sender's secrets: `Y2hhbmdlbWU=`, `whsec_AAAAAAAAAAAA`. */
function encodedIn(text: string): readonly string[] {
  const [, behind] = /^[a-z]{2,8}_(?:[a-z]{4}_)?(.{12,})$/.exec(text) ?? [];
  const decoded = Buffer.from(text, 'base64');
  const isBase64 = decoded.toString('base64') === text && /^[\w .:!@-]{4,}$/.test(decoded.toString('latin1'));
  return [...(behind === undefined ? [] : [behind]), ...(isBase64 ? [decoded.toString()] : [])];
}

const WHAT: Readonly<Record<SecretPlaceholder['kind'], string>> = {
  variable: 'this is not expanded: the text itself would be the secret',
  reference: 'this is not looked up: the text itself would be the secret',
  'stand-in': 'this is a placeholder that anyone can guess',
  guessable: 'this is a common password, a sequence or a repetition, which anyone can guess',
  quoted: 'the quotes would be part of the secret',
  'no-auth': 'this does not turn signature checks off: the text itself would be the secret, which anyone can guess',
};

/**
 * Returns why the value of a variable or a file is not a secret, or null if it may be one.
 * @param loopback whether only this machine can reach the server; values of the examples are then allowed
 * @param signs as for `placeholderIn`
 */
export function refusedValue(value: string, loopback: boolean, signs: boolean): string | null {
  const found = placeholderIn(value, signs);
  if (found === null || (loopback && found.kind === 'stand-in' && /example/i.test(value))) return null;
  return `is not a secret: ${found.what}${found.kind === 'no-auth' ? `; if that is meant, write ${INSECURE_NO_AUTH}` : ''}`;
}

/** Advice for a rejected value. */
export const MAKE_A_SECRET = 'make one with `openssl rand -hex 32`';

/** The last word that looks like a variable name, so that a secret that begins with `$` is not repeated. */
function nameIn(text: string): string | null {
  const names = text.match(/(?<![A-Za-z0-9])[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?![a-z0-9])/g);
  return names?.at(-1) ?? null;
}
