/** `port: "8644"`, `window_seconds: 30s`, `message: 42`: numbers written as text, and text written as a number. */

import { isSecretName } from '../../text/secret-names.ts';
import { typesOf } from '../alternatives.ts';
import { valueAt } from '../pointer.ts';
import type { ShapePlace, ShapeProblem } from '../shape-problem.ts';
import { atValue, nameOf } from '../shape-problem.ts';
import type { Slip } from './slip.ts';

export const numberAsText: Slip = (place, { keyword, params }) => {
  const found = valueAt(place.data, place.path);
  const types = typesOf(params);
  const isNumber = types.length > 0 && types.every((type) => type === 'integer' || type === 'number');
  if (keyword !== 'type' || typeof found !== 'string' || !isNumber) return null;
  const name = nameOf(place.path);
  if (place.path.some((part) => isSecretName(String(part)))) return null;
  const number = readNumber(found, name);
  const kind = types.includes('number') ? 'a number' : 'a whole number';
  if (number === null) return withUnit(place, kind, found);
  if (types.every((type) => type === 'integer') && !Number.isInteger(number)) return null;
  const problem = atValue(place, 'wrong-type', `\`${name}\` must be ${kind}, not text: write \`${name}: ${number}\``);
  return { ...problem, fix: { kind: 'replace', text: String(number) } };
};

const WORDS = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];

/** Seconds per unit. */
const UNITS: Readonly<Record<string, number>> = { s: 1, sec: 1, m: 60, min: 60, h: 3600, d: 86_400 };

/** Parses a number with a unit, if the key's name states the expected unit. */
function readNumber(text: string, key: string): number | null {
  const word = WORDS.indexOf(text.trim().toLowerCase());
  if (word >= 0) return word;
  const [, digits, unit = ''] = /^(-?\d+(?:\.\d+)?)\s*([a-z]*)$/.exec(text.trim()) ?? [];
  if (digits === undefined) return null;
  if (unit === '') return Number(digits);
  const factor = key.endsWith('_seconds') && Object.hasOwn(UNITS, unit) ? UNITS[unit] : undefined;
  return factor === undefined ? null : Number(digits) * factor;
}

/** Bytes per unit. */
const SIZES: Readonly<Record<string, number>> = { k: 1024, m: 1024 ** 2, g: 1024 ** 3 };

/** `5MB`, `30/min`: the meaning is likely but not certain, so there is only a hint. */
function withUnit(place: ShapePlace, kind: string, text: string): ShapeProblem | null {
  const name = nameOf(place.path);
  const [, digits, letter = ''] = /^(\d{1,9})\s*([kmg])i?b?$/i.exec(text.trim()) ?? [];
  const factor = name.endsWith('_bytes') ? SIZES[letter.toLowerCase()] : undefined;
  const [, rate] =
    name === 'rate_limit' ? (/^(\d{1,9})\s*(?:\/|per )\s*m(?:in(?:ute)?)?$/.exec(text.trim()) ?? []) : [];
  const number = digits !== undefined && factor !== undefined ? Number(digits) * factor : rate;
  if (number === undefined) return null;
  const unit = rate === undefined ? 'bytes' : 'requests a minute';
  return {
    ...atValue(place, 'wrong-type', `\`${name}\` must be ${kind} of ${unit}, without a unit`),
    hint: `write \`${name}: ${number}\``,
  };
}

/** Keys that state why something is safe. */
const REASONS: ReadonlySet<string> = new Set(['accept_untrusted', 'confined']);

/** `message: 42` where text is expected; quotes make it text. */
export const numberForText: Slip = (place, { keyword, params }) => {
  const found = valueAt(place.data, place.path);
  const types = typesOf(params);
  if (keyword !== 'type' || !['number', 'boolean'].includes(typeof found)) return null;
  if (types.length !== 1 || types[0] !== 'string') return null;
  const kind = typeof found === 'number' ? 'a number' : '`true` or `false`';
  const name = nameOf(place.path);
  // A quoted `true` is not a reason.
  if (REASONS.has(name)) return atValue(place, 'wrong-type', `\`${name}\` must be a reason in words, not ${kind}`);
  const message = `\`${name}\` must be text, not ${kind}: put it in quotes`;
  return { ...atValue(place, 'wrong-type', message), fix: { kind: 'quote' } };
};
