/** The signed instant of a request and the window it must lie in. */
import type { TimestampPlan } from '../../schemas/generated/types.ts';
import { MAX_VALUE_LENGTH, readLocatedText, splitParts } from './locator.ts';
import type { SignedRequest } from './request.ts';
import type { VerifyReason } from './verification.ts';

type Plan = NonNullable<TimestampPlan>;

/** RFC 3339, with any number of fraction digits. */
const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;
const MAX_DIGITS = 15;

/** The timestamp's text exactly as received, because that is what was signed; a reason unless there is exactly one. */
export function readTimestamp(plan: Plan, request: SignedRequest): { text: string } | VerifyReason {
  const value = readLocatedText(plan.at, request);
  if (value === null) return 'missing_timestamp';
  if (value.length > MAX_VALUE_LENGTH) return 'oversized_header';
  if (plan.at.split === '' && plan.at.prefix === '') return { text: value };
  const parts = splitParts(plan.at, value);
  if (typeof parts === 'string') return parts;
  const [text] = parts;
  if (text === undefined) return 'missing_timestamp';
  return parts.length === 1 ? { text } : 'ambiguous_timestamp';
}

/**
 * Null when the instant is within the tolerance of `now` (ms) in either direction, limits included.
 * Whole seconds are compared with whole seconds, because the sender truncated its clock too.
 */
export function checkWindow(plan: Plan, text: string, now: number): VerifyReason | null {
  const age = ageOf(plan, text, now);
  if (age === null) return 'bad_timestamp';
  if (age > plan.tolerance * 1000) return 'stale_timestamp';
  return -age > plan.tolerance * 1000 ? 'future_timestamp' : null;
}

/** The age in ms, negative for an instant in the future; null when the text is not an instant. */
export function ageOf({ unit }: Plan, text: string, now: number): number | null {
  const instant = parseInstant(unit, text);
  if (instant === null) return null;
  return unit === 's' ? Math.floor(now / 1000) * 1000 - instant : now - instant;
}

/** Unix time in ms; null when the text is not an instant in this unit. */
function parseInstant(unit: Plan['unit'], text: string): number | null {
  if (unit === 'iso') {
    const instant = RFC3339.test(text) ? Date.parse(text) : Number.NaN;
    return Number.isNaN(instant) ? null : instant;
  }
  const value = parseDigits(text);
  return unit === 's' && value !== null ? value * 1000 : value;
}

/** Parses up to fifteen digits; null for any other text. */
function parseDigits(text: string): number | null {
  if (text === '' || text.length > MAX_DIGITS) return null;
  let value = 0;
  for (let at = 0; at < text.length; at += 1) {
    const digit = text.charCodeAt(at) - 0x30;
    if (digit < 0 || digit > 9) return null;
    value = value * 10 + digit;
  }
  return value;
}
