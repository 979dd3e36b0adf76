/** Reads from a response how long the service asks to wait. */
import { RE2JS } from 're2js';
import type { VariantPlan, WaitSource } from '../../../schemas/generated/types.ts';
import { linkReader } from './condition.ts';
import type { TargetResponse } from './response.ts';

/** Returns the wait in ms, capped; null when the response has no valid one. @param now Unix ms, for HTTP dates */
export type ReadWait = (response: TargetResponse, now: number) => number | null;

/** Links the places from which a wait is read; the first valid one counts. */
export function linkRetryAfter(plan: Pick<VariantPlan, 'retry_after' | 'retry_after_cap_ms'>): ReadWait {
  const sources = plan.retry_after.map(linkSource);
  return (response, now) => {
    for (const source of sources) {
      const wait = source(response, now);
      if (wait !== null) return Math.min(wait, plan.retry_after_cap_ms);
    }
    return null;
  };
}

function linkSource(source: WaitSource): ReadWait {
  const unit = source.unit_ms;
  switch (source.in) {
    case 'header':
      return (response, now) => {
        const value = response.header(source.header);
        return value === undefined ? null : (toWait(value, unit) ?? untilDate(value, now));
      };
    case 'body': {
      const read = linkReader(source.path);
      return ({ json }) => toWait(read(json), unit);
    }
    case 'text': {
      const pattern = RE2JS.compile(source.pattern);
      return ({ text }) => {
        const matcher = pattern.matcher(text);
        return matcher.find() ? toWait(matcher.group(1), unit) : null;
      };
    }
  }
}

/** Rounds fractions of a ms up. */
function toWait(value: unknown, unit: number): number | null {
  const number = typeof value === 'string' && /^\s*\d+(?:\.\d+)?\s*$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) && number >= 0 ? Math.ceil(number * unit) : null;
}

function untilDate(value: string, now: number): number | null {
  const at = /[a-z]/i.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}
