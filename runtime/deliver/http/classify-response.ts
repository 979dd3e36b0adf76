/** Classifies a response: first by the success condition, then by the target's rules in order, then by the HTTP status. */
import { RE2JS } from 're2js';
import { tryParseJson } from '../../../base/files.ts';
import type {
  BodyCheck,
  CheckPlan,
  ExpectPlan,
  OutcomeRulePlan,
  ResponseCondition,
  VariantPlan,
  WaitSource,
} from '../../../schemas/generated/types.ts';
import { valueAtPath } from '../../verify/items.ts';

/*
 * Classifies a response: first by the success condition, then by the target's rules in order, then by the HTTP status.
 *
 * By default, the message may have been sent after a 5xx or a timeout (ambiguous), and was not after a 429 or 503 (retry). Anything else that no rule matches is permanent, because repeating a refused request does not help.
 */

export type DeliveryResult =
  /** `json`: the answer. */
  | { readonly kind: 'ok'; readonly message_id: string | null; readonly json: unknown }
  | {
      readonly kind: 'permanent' | 'retry' | 'refresh' | 'ambiguous' | 'superseded';
      readonly reason: string;
      readonly retry_after_ms: number | null;
      /** The service refuses these credentials, or what they may do. */
      readonly isAuth?: true;
    };

export type ClassifyResponse = (response: TargetResponse, now: number) => DeliveryResult;

/** These say that nothing was sent. */
const NOT_SENT = [429, 503];

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
  permanent: 'the request was rejected',
  auth: 'the credentials were rejected',
  retry: 'the rate limit was reached',
  refresh: 'the token was rejected',
  ambiguous: 'the service failed, perhaps after sending',
};

/** Links the success condition and outcome rules of a variant. */
export function linkClassifier(plan: VariantPlan): ClassifyResponse {
  const isSuccess = linkCondition(plan.success);
  // An app's token may be revoked before it expires.
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
    const answered = `HTTP ${response.status}${code === null || code === `${response.status}` ? '' : `, code ${code}`}`;
    const kind = KIND[outcome];
    const mayWait = kind === 'retry' || kind === 'ambiguous';
    return {
      kind,
      reason: `${rule?.reason ?? usualReason(outcome, response.status, code)} (${answered})`,
      retry_after_ms: mayWait ? (readWait(response, now) ?? rule?.wait_ms ?? null) : null,
      ...(outcome === 'auth' || response.status === 403 ? { isAuth: true } : {}),
    };
  };
}

function usualOutcome(status: number): OutcomeRulePlan['outcome'] {
  if (NOT_SENT.includes(status)) return 'retry';
  if (status === 401) return 'auth';
  return status >= 500 || status === 408 || status === 425 ? 'ambiguous' : 'permanent';
}

function usualReason(outcome: OutcomeRulePlan['outcome'], status: number, code: string | null): string {
  if (status >= 300 && status < 400) return 'the service responded with a redirect, which is never followed';
  if (status < 300 && outcome === 'permanent' && code === null)
    return 'the response does not confirm that the message was sent';
  return status === 503 ? 'the service is unavailable' : USUAL_REASON[outcome];
}

/** Ids and error codes are short words; other values are dropped. */
export function toId(value: unknown): string | null {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && /^[\x21-\x7e]{1,200}$/.test(value) ? value : null;
}

/** An error code that can be shown; null for anything else, such as a text. */
export function toCode(value: unknown): string | null {
  const code = toId(value);
  return code !== null && /^[A-Za-z0-9_.:-]{1,80}$/.test(code) ? code : null;
}

/** Returns the wait in ms, capped; null when the response has no valid one. @param now Unix ms, for HTTP dates */
type ReadWait = (response: TargetResponse, now: number) => number | null;

/** Links the sources of a wait; the first valid one counts. */
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
  const read = linkWaitSource(source);
  const fits = when === undefined ? () => true : linkCondition(when);
  return (response, now) => {
    const wait = fits(response) ? read(response, now) : null;
    return wait === null || is_instant !== true ? wait : Math.max(0, wait - now);
  };
}

function linkWaitSource(source: WaitSource): ReadWait {
  const unit = source.unit_ms;
  switch (source.in) {
    case 'header':
      return (response, now) => headerWait(response.header(source.header), unit, now);
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

/** The wait of a header such as `Retry-After`, in ms: a number of units, or a date; null if it is neither. */
export const headerWait = (value: string | undefined, unitMs: number, now: number): number | null =>
  value === undefined ? null : (toWait(value, unitMs) ?? untilDate(value, now));

/** Rounds fractions of a ms up. */
function toWait(value: unknown, unit: number): number | null {
  const number = typeof value === 'string' && /^\s*\d+(?:\.\d+)?\s*$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) && number >= 0 ? Math.ceil(number * unit) : null;
}

function untilDate(value: string, now: number): number | null {
  const at = /[a-z]/i.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}

type Condition = (response: TargetResponse) => boolean;
type Expectation = (value: unknown) => boolean;

/** True when every check holds. */
function linkCondition(plan: ResponseCondition): Condition {
  const checks = plan.map(linkCheck);
  return (response) => checks.every((check) => check(response));
}

/** A reader of the value at a path of a plan; an empty path reads the value itself. */
export const linkReader =
  (path: readonly string[]) =>
  (root: unknown): unknown =>
    valueAtPath(root, path);

function linkCheck(check: CheckPlan): Condition {
  switch (check.kind) {
    case 'status':
      return ({ status }) => check.ranges.some(({ from, to }) => status >= from && status <= to);
    case 'header': {
      const expect = linkExpectations(check.expect);
      return (response) => expect(response.header(check.name));
    }
    case 'body': {
      const holds = linkBodyCheck(check);
      return ({ json }) => json !== undefined && holds(json);
    }
    case 'text': {
      const pattern = RE2JS.compile(check.pattern);
      return ({ text }) => pattern.test(text);
    }
    case 'any': {
      const alternatives = check.of.map(linkCondition);
      return (response) => alternatives.some((condition) => condition(response));
    }
  }
}

function linkBodyCheck({ path, expect }: BodyCheck): Expectation {
  const read = linkReader(path);
  const holds = linkExpectations(expect);
  return (root) => holds(read(root));
}

function linkExpectations(plans: readonly ExpectPlan[]): Expectation {
  const tests = plans.map(linkExpectation);
  return (value) => tests.every((test) => test(value));
}

function linkExpectation(plan: ExpectPlan): Expectation {
  switch (plan.op) {
    case 'in':
      return (value) => plan.values.some((one) => one === value);
    case 'not_in':
      return (value) => !plan.values.some((one) => one === value);
    case 'exists':
      return (value) => (value !== undefined && value !== null) === plan.value;
    case 'empty':
      return (value) => isEmpty(value) === plan.value;
    case 'is':
      return (value) => typeOf(value) === plan.type;
    case 'between':
      return (value) => typeof value === 'number' && value >= plan.from && value <= plan.to;
    case 'matches': {
      const pattern = RE2JS.compile(plan.pattern);
      return (value) => (typeof value === 'string' || typeof value === 'number') && pattern.test(String(value));
    }
    case 'every': {
      const checks = plan.checks.map(linkBodyCheck);
      return (value) =>
        isNothing(value) ||
        (Array.isArray(value) && value.every((element: unknown) => checks.every((check) => check(element))));
    }
  }
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null;
}

function isEmpty(value: unknown): boolean {
  if (isNothing(value) || value === '') return true;
  if (Array.isArray(value)) return value.length === 0;
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  return value === null ? 'null' : typeof value;
}

/** A response as conditions read it: status, headers, and a body that may be anything. */
export interface RawResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Cut off at the target's limit. */
  readonly body: Buffer;
}

export interface TargetResponse {
  readonly status: number;
  /** Value of a header by lower-case name; repeated ones are joined with commas. */
  readonly header: (name: string) => string | undefined;
  readonly text: string;
  /** The parsed JSON; undefined when the body is not JSON (a proxy's HTML, cut off, empty). */
  readonly json: unknown;
}

/** Never throws: a proxy may send any body. */
export function readResponse({ status, headers, body }: RawResponse): TargetResponse {
  const text = body.toString('utf8').replace(/^\uFEFF/, '');
  return { status, header: (name) => readHeader(headers, name), text, json: tryParseJson(text) };
}

function readHeader(headers: RawResponse['headers'], name: string): string | undefined {
  const value = Object.hasOwn(headers, name) ? headers[name] : undefined;
  return typeof value === 'object' ? value.join(', ') : value;
}
