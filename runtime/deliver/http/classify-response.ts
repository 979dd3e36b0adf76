/**
 * Classifies a response: first by the success condition, then by the target's rules in order, then by the HTTP status.
 *
 * The defaults are conservative: after a 5xx or a timeout the message may have been sent (ambiguous), after a 429 it was
 * not (retry). Anything else that no rule matches is permanent, because repeating a refused request does not help.
 */

import { RE2JS } from 're2js';
import type { OutcomeRulePlan, VariantPlan, WaitSource } from '../../../schemas/generated/types.ts';
import { linkCondition, linkReader } from './condition.ts';
import type { TargetResponse } from './response.ts';

export type DeliveryResult =
  /** `json`: the answer. */
  | { readonly kind: 'ok'; readonly message_id: string | null; readonly json: unknown }
  | {
      readonly kind: 'permanent' | 'retry' | 'refresh' | 'ambiguous';
      readonly reason: string;
      readonly retry_after_ms: number | null;
    };

export type ClassifyResponse = (response: TargetResponse, now: number) => DeliveryResult;

const AMBIGUOUS = new Set([408, 425, 500, 502, 503, 504]);

const KIND = {
  permanent: 'permanent',
  auth: 'permanent',
  retry: 'retry',
  refresh: 'refresh',
  ambiguous: 'ambiguous',
} as const satisfies Record<Exclude<OutcomeRulePlan['outcome'], 'ok' | 'ok_pending'>, string>;

const USUAL_REASON: Readonly<Record<OutcomeRulePlan['outcome'], string>> = {
  ok: '',
  ok_pending: '',
  permanent: 'refused',
  auth: 'the credentials were refused',
  retry: 'the rate limit is reached',
  refresh: 'the token was refused',
  ambiguous: 'it failed, perhaps after sending',
};

/** Links the success condition and outcome rules of a variant. */
export function linkClassifier(plan: VariantPlan): ClassifyResponse {
  const isSuccess = linkCondition(plan.success);
  // An app's token may have been revoked before its end.
  const isApp = plan.exchange?.jwt !== undefined;
  const rules = plan.outcomes.map((rule) => ({ ...rule, fits: linkCondition(rule.when) }));
  const readWait = linkRetryAfter(plan);
  const readId = plan.message_id === null ? () => undefined : linkReader(plan.message_id);
  const readCode = plan.error_code === null ? () => undefined : linkReader(plan.error_code);
  return (response, now) => {
    const ok = { kind: 'ok', message_id: toId(readId(response.json)), json: response.json } as const;
    if (isSuccess(response)) return ok;
    const rule = rules.find(({ fits }) => fits(response));
    const outcome = rule?.outcome ?? (response.status === 401 && isApp ? 'refresh' : usualOutcome(response.status));
    if (outcome === 'ok' || outcome === 'ok_pending') return ok;
    const code = toCode(readCode(response.json));
    const answered = `HTTP ${response.status}${code === null ? '' : `, ${code}`}`;
    const kind = KIND[outcome];
    const mayWait = kind === 'retry' || kind === 'ambiguous';
    return {
      kind,
      reason: `${rule?.reason ?? usualReason(outcome, response.status, code)} (${answered})`,
      retry_after_ms: mayWait ? (readWait(response, now) ?? rule?.wait_ms ?? null) : null,
    };
  };
}

function usualOutcome(status: number): OutcomeRulePlan['outcome'] {
  if (status === 429) return 'retry';
  if (status === 401) return 'auth';
  return AMBIGUOUS.has(status) ? 'ambiguous' : 'permanent';
}

function usualReason(outcome: OutcomeRulePlan['outcome'], status: number, code: string | null): string {
  if (status >= 300 && status < 400) return 'it answered with a redirect, which is never followed';
  if (status < 300 && outcome === 'permanent' && code === null)
    return 'its answer does not say that the message was sent';
  return USUAL_REASON[outcome];
}

/** Ids and error codes are short words; anything else is dropped. */
export function toId(value: unknown): string | null {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && /^[\x21-\x7e]{1,200}$/.test(value) ? value : null;
}

function toCode(value: unknown): string | null {
  const code = toId(value);
  return code !== null && /^[A-Za-z0-9_.:-]{1,80}$/.test(code) ? code : null;
}

/** Returns the wait in ms, capped; null when the response has no valid one. @param now Unix ms, for HTTP dates */
type ReadWait = (response: TargetResponse, now: number) => number | null;

/** Links the places from which a wait is read; the first valid one counts. */
function linkRetryAfter(plan: Pick<VariantPlan, 'retry_after' | 'retry_after_cap_ms'>): ReadWait {
  const sources = plan.retry_after.map(linkSource);
  return (response, now) => {
    for (const source of sources) {
      const wait = source(response, now);
      if (wait !== null) return Math.min(wait, plan.retry_after_cap_ms);
    }
    return null;
  };
}

function linkSource({ when, is_instant, ...source }: WaitSource): ReadWait {
  const read = linkPlace(source);
  const fits = when === undefined ? () => true : linkCondition(when);
  return (response, now) => {
    const wait = fits(response) ? read(response, now) : null;
    return wait === null || is_instant !== true ? wait : Math.max(0, wait - now);
  };
}

function linkPlace(source: WaitSource): ReadWait {
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
