/**
 * JSON numbers as they were sent: a number whose text JavaScript would change (`10.00`, `8202522731445525542`, `1e400`) is
 * kept as its text. Such a value has no members, so no path resolves below it.
 */

/** A number whose text `String(Number(text))` would change. Immutable. */
export class ExactNumber {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }

  /** JSON.stringify cannot write such a number and writes its text; `writeJson` writes the number. */
  toJSON(): string {
    return this.#text;
  }
}

/** True for an object of JSON: neither a list, nor a number that is kept as text. */
export const isJsonObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber);

export const isNumber = (value: unknown): value is number | ExactNumber =>
  typeof value === 'number' || value instanceof ExactNumber;

/** The value of a JSON number. */
export function readNumber(text: string): number | ExactNumber {
  const number = Number(text);
  return String(number) === text ? number : new ExactNumber(text);
}

/**
 * A number with a fraction, an exponent or 16 digits, or a negative zero; some texts in strings look like one. Linear: what
 * may stand before the number cannot be a part of it.
 */
const UNUSUAL = /[:,[\s](?:-?\d+(?:[.eE][\d.eE+-]*|\d{15})|-0)[,\]}\s]/;
const NUMBER = /-?\d[\d.eE+-]*/y;

/** Like JSON.parse, but numbers keep their text. Nothing else is slower for a text without such numbers. @throws SyntaxError */
export function readJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return typeof value === 'number' || UNUSUAL.test(text) ? readExactly(text) : value;
}

/** Parses valid JSON after each number is replaced by its index in a list: no sender can imitate a number of the list. */
function readExactly(text: string): unknown {
  const numbers: (number | ExactNumber)[] = [];
  let indexed = '';
  let copied = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) at = endOfString(text, at);
    else if (unit === MINUS || (unit >= DIGIT_0 && unit <= DIGIT_9)) {
      NUMBER.lastIndex = at;
      const [number = ''] = NUMBER.exec(text) ?? [];
      indexed += `${text.slice(copied, at)}${numbers.push(readNumber(number)) - 1}`;
      copied = at + number.length;
      at = copied - 1;
    }
  }
  return restore(JSON.parse(indexed + text.slice(copied)), numbers);
}

/** In place; a reviver takes eight times as long. */
function restore(value: unknown, numbers: readonly unknown[]): unknown {
  if (typeof value === 'number') return numbers[value];
  if (Array.isArray(value)) for (let at = 0; at < value.length; at++) value[at] = restore(value[at], numbers);
  else if (typeof value === 'object' && value !== null) {
    const members = value as Record<string, unknown>;
    for (const key of Object.keys(members)) members[key] = restore(members[key], numbers);
  }
  return value;
}

const QUOTE = 0x22;
const MINUS = 0x2d;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;
const BACKSLASH = 0x5c;

/** The end of the string that starts at `start`. Escapes are not decoded. */
export function endOfString(text: string, start: number): number {
  let end = start;
  do end = text.indexOf('"', end + 1);
  while (end >= 0 && isEscaped(text, end));
  return end < 0 ? text.length : end;
}

/** True if an odd number of backslashes precedes the index. */
function isEscaped(text: string, at: number): boolean {
  let first = at;
  while (text.charCodeAt(first - 1) === BACKSLASH) first--;
  return (at - first) % 2 === 1;
}

/** Like JSON.stringify for a JSON value, but numbers keep their text. @param indent spaces of each level; 0: one line */
export function writeJson(value: unknown, indent = 0): string {
  return hasExact(value) ? write(value, indent, indent === 0 ? '' : '\n') : JSON.stringify(value, null, indent);
}

/** True if the value is or contains such a number. */
export function hasExact(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return value instanceof ExactNumber || Object.values(value).some(hasExact);
}

/** @param line what comes before the end of the value: a line break and the indentation, or nothing */
function write(value: unknown, indent: number, line: string): string {
  if (value instanceof ExactNumber) return String(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const inner = line === '' ? '' : line + ' '.repeat(indent);
  const colon = line === '' ? ':' : ': ';
  const items = Array.isArray(value)
    ? value.map((item) => inner + write(item, indent, inner))
    : Object.entries(value)
        .filter(([, item]) => item !== undefined)
        .map(([key, item]) => inner + JSON.stringify(key) + colon + write(item, indent, inner));
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  return items.length === 0 ? `${open}${close}` : `${open}${items.join()}${line}${close}`;
}

/** Negative if `left` is less than `right`, zero if they have the same value (`1.10` and `1.1`): the exact values, not the nearest ones. */
export function compareNumbers(left: number | ExactNumber, right: number | ExactNumber): number {
  const [nearLeft, nearRight] = [Number(left), Number(right)];
  // The nearest number of a greater one is never smaller.
  if (nearLeft !== nearRight) return nearLeft < nearRight ? -1 : 1;
  if (typeof left === 'number' && typeof right === 'number') return 0;
  const [a, b] = [partsOf(left), partsOf(right)];
  if (a.sign !== b.sign) return a.sign - b.sign;
  return a.sign * (order(a.point, b.point) || order(a.digits, b.digits)) || 0;
}

/** The same text for numbers of the same value only. */
export function exactValue(number: number | ExactNumber): string {
  const { sign, digits, point } = partsOf(number);
  return `${sign} ${digits} ${point}`;
}

const order = <T extends bigint | string>(left: T, right: T): number => (left < right ? -1 : left > right ? 1 : 0);

/** A number as `sign * 0.digits * 10 ** point`, without zeros at either end of the digits. */
interface NumberParts {
  readonly sign: number;
  readonly digits: string;
  readonly point: bigint;
}

const ZERO: NumberParts = { sign: 0, digits: '', point: 0n };
const PARTS = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]\+?(-?)0*(\d+))?$/;

/** Of an exponent with more digits, the first ones are read: BigInt takes 2 s for a million digits. */
const LONGEST_EXPONENT = 1000;

/** The work is bounded by the length of the text, not by the exponent. */
function partsOf(number: number | ExactNumber): NumberParts {
  const [, minus, whole = '', fraction = '', down = '', exponent = '0'] = PARTS.exec(String(number)) ?? [];
  const all = whole + fraction;
  const digits = all.replace(/^0+/, '');
  if (digits === '') return ZERO;
  const point =
    BigInt(down + exponent.slice(0, LONGEST_EXPONENT)) + BigInt(whole.length - (all.length - digits.length));
  return { sign: minus === '-' ? -1 : 1, digits: withoutZeros(digits), point };
}

function withoutZeros(digits: string): string {
  let end = digits.length;
  while (digits[end - 1] === '0') end--;
  return digits.slice(0, end);
}
