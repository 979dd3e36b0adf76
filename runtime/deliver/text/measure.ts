/** Measures texts in a target's own unit, for splitting. */
import type { TextPlan } from '../../../schemas/generated/types.ts';

export type Unit = TextPlan['unit'];

export interface Limit {
  readonly limit: number;
  readonly unit: Unit;
}

/** Length of one code point. */
const COST: Readonly<Record<Unit, (code: number) => number>> = {
  utf16: (code) => (code > 0xffff ? 2 : 1),
  codepoint: () => 1,
  byte: utf8Bytes,
  json_byte: jsonBytes,
};

function utf8Bytes(code: number): number {
  if (code < 0x80) return 1;
  if (code < 0x800) return 2;
  return code < 0x10000 ? 3 : 4;
}

/** Bytes that JSON.stringify writes: two for line ends and similar escapes, six for other control characters. */
function jsonBytes(code: number): number {
  if (code === 0x22 || code === 0x5c) return 2;
  if (code >= 0x20) return utf8Bytes(code);
  return code === 0x08 || code === 0x09 || code === 0x0a || code === 0x0c || code === 0x0d ? 2 : 6;
}

/** Length of a well-formed text. */
export function measure(text: string, unit: Unit): number {
  if (unit === 'utf16') return text.length;
  const cost = COST[unit];
  let length = 0;
  for (const char of text) length += cost(char.codePointAt(0) ?? 0);
  return length;
}

/** The UTF-16 offset up to which `text`, from `start`, fits into the limit; never inside a surrogate pair. */
export function fitEnd(text: string, start: number, { limit, unit }: Limit): number {
  const cost = COST[unit];
  let end = start;
  let length = 0;
  while (end < text.length) {
    const code = text.codePointAt(end) ?? 0;
    length += cost(code);
    if (length > limit) break;
    end += code > 0xffff ? 2 : 1;
  }
  return end;
}
