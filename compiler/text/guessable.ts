/** Recognises passwords that are tried first: common ones, repeated characters, sequences and walks over a keyboard. */
import { COMMON_PASSWORDS } from './built/stand-ins.ts';

const COMMON = new Set(COMMON_PASSWORDS.split(' '));

/** Random text of any usual alphabet is never guessable from 16 characters on. */
export function isGuessable(text: string): boolean {
  const lower = text.toLowerCase();
  // The secret of HTTP Basic is `user:password`.
  const [, password] = /^[a-z][\w.@-]*:([^:/]+)$/.exec(lower) ?? [];
  return (
    isRepeated(lower) ||
    isWalk(lower.replace(/[\s._-]/g, '').replace(/(.)\1+/gsu, '$1')) ||
    isInterleaved(lower) ||
    isCommon(lower) ||
    isCommon(password ?? '')
  );
}

const LETTERS: Readonly<Record<string, string>> = {
  0: 'o',
  1: 'l',
  3: 'e',
  4: 'a',
  5: 's',
  7: 't',
  '@': 'a',
  $: 's',
  '!': 'i',
};

/** Digits, signs and letters written as digits are ignored, unless little else is left. */
function isCommon(text: string): boolean {
  if (COMMON.has(text)) return true;
  const bare = text.replace(/^[^a-z]{0,4}/, '').replace(/[^a-z]{0,8}$/, '');
  const letters = text.replace(/[^a-z]{0,8}$/, '').replace(/[013457@$!]/g, (sign) => LETTERS[sign] ?? sign);
  return [bare, letters].some((word) => word.length >= 4 && word.length * 2 >= text.length && COMMON.has(word));
}

/** At most three different characters, or a short text several times. */
function isRepeated(text: string): boolean {
  const { size } = new Set(text);
  if (size === 1 || (size === 2 && text.length >= 8) || (size === 3 && text.length >= 16)) return true;
  const most = text.length <= 16 ? text.length / 2 : Math.min(8, text.length / 3);
  for (let period = 2; period <= most; period++) if (text.startsWith(text.slice(period))) return true;
  return false;
}

/** Rows of a keyboard, each with the shift of its first key to the right. */
const ROWS: readonly (readonly [keys: string, shift: number])[] = [
  ['1234567890', 0],
  ['qwertyuiop', 0.5],
  ['asdfghjkl', 0.75],
  ['zxcvbnm', 1.25],
];
const KEYS = new Map(
  ROWS.flatMap(([keys, shift], y) => [...keys].map((key, x) => [key, { x: x + shift, y }] as const)),
);
const SHORTEST_WALK = 4;

/** Whether nearly every character is next to the one before it: `12345678`, `abcdefgh`, `1q2w3e4r`, `qwertyuiop`. */
function isWalk(text: string): boolean {
  if (text.length < SHORTEST_WALK) return false;
  let breaks = Math.floor((text.length - 1) / 7);
  for (let at = 1; at < text.length && breaks >= 0; at++) if (!isNext(text[at - 1] ?? '', text[at] ?? '')) breaks--;
  return breaks >= 0;
}

/** Two sequences by turns: `a1b2c3d4e5`. */
function isInterleaved(text: string): boolean {
  if (text.length < 2 * SHORTEST_WALK) return false;
  for (let at = 2; at < text.length; at++)
    if (text.charCodeAt(at) - text.charCodeAt(at - 2) !== 1 && text[at - 2] + (text[at] ?? '') !== '90') return false;
  return true;
}

function isNext(before: string, after: string): boolean {
  const step = Math.abs((before.codePointAt(0) ?? 0) - (after.codePointAt(0) ?? 0));
  const pair = before + after;
  const isSequence =
    (/^[0-9]{2}$/.test(pair) && (step <= 1 || step === 9)) || (/^[a-z]{2}$/.test(pair) && (step <= 1 || step === 25));
  const [a, b] = [KEYS.get(before), KEYS.get(after)];
  return isSequence || (a !== undefined && b !== undefined && Math.hypot(a.x - b.x, a.y - b.y) < 1.3);
}
