/** Exchanges the credentials of a binding for a short-lived token, according to the target's plan. */

import type { BaseUrl } from '../../../base/net.ts';
import type { ExchangePlan, RequestPlan, ResponseCondition, VariantPlan } from '../../../schemas/generated/types.ts';
import type { TokenCache, TokenResult } from '../http-pool.ts';
import type { TargetResponse } from './classify-response.ts';
import { linkClassifier, linkReader, readResponse } from './classify-response.ts';
import { linkRequest } from './link-request.ts';
import type { SendContext } from './send-request.ts';
import { sendRequest } from './send-request.ts';
import type { Values } from './values.ts';
import { NO_VALUES } from './values.ts';

export interface ExchangeParts {
  readonly variant: VariantPlan;
  readonly plan: ExchangePlan;
  readonly base: BaseUrl;
  readonly settings: ReadonlyMap<string, string>;
}

/** Links the exchange of a variant; returns a string that says what is wrong with the binding. */
export type LinkTokens = (parts: ExchangeParts) => TokenSource | string;

export interface TokenContext extends SendContext {
  readonly tokens: TokenCache;
}

/** The tokens of a binding. */
export interface TokenSource {
  /** The token depends on the address. */
  readonly perAddress: boolean;
  /** The cached token, or a new one. @param account identifies the credentials and their server */
  get(values: Values, account: string, context: TokenContext): Promise<TokenResult>;
  /** Makes a request with the credentials themselves. */
  ask(ask: AskExchange, values: Values, context: TokenContext): Promise<ExchangeAnswer>;
  /** Values for the request that checks the credentials. @param now Unix ms */
  checkValues(now: number): Partial<Values>;
}

export type NoToken = Extract<TokenResult, { kind: 'permanent' | 'retry' }>;

/** The response to a request of an exchange, or why there is no usable one. */
export type ExchangeAnswer =
  | { readonly kind: 'answer'; readonly response: TargetResponse }
  | { readonly kind: 'failed'; readonly failure: NoToken; readonly response: TargetResponse | null };

export type AskExchange = (values: Values, context: SendContext) => Promise<ExchangeAnswer>;

/** Links a request of an exchange, or another request that delivers nothing. It is safe to repeat. */
export function linkAsk(
  { variant, plan, base, settings }: Omit<ExchangeParts, 'plan'> & { readonly plan: ExchangePlan | null },
  request: RequestPlan,
  success: ResponseCondition,
): AskExchange {
  // A service uses the same error codes for both, unless the plan says otherwise.
  const outcomes = plan?.outcomes ?? variant.outcomes;
  const classify = linkClassifier({ ...variant, success, outcomes, message_id: null });
  const build = linkRequest(request, { base, settings });
  return async (values, context) => {
    // Several deliveries may wait for this exchange, so the signal of one must not abort it.
    const { signal } = new AbortController();
    const { max_response_bytes, timeout_ms } = variant;
    const received = await sendRequest(build(values), { max_response_bytes, timeout_ms, signal }, context);
    if (received.kind === 'failed') {
      const failure = { kind: 'retry', reason: `no token: ${received.code}`, retry_after_ms: null } as const;
      return { kind: 'failed', failure, response: null };
    }
    const response = readResponse(received);
    const result = classify(response, context.clock.now());
    if (result.kind === 'ok') return { kind: 'answer', response };
    const kind = result.kind === 'retry' || result.kind === 'ambiguous' ? 'retry' : 'permanent';
    const failure = { kind, reason: `no token: ${result.reason}`, retry_after_ms: result.retry_after_ms } as const;
    return { kind: 'failed', failure, response };
  };
}

export const noToken = (reason: string): NoToken => ({
  kind: 'permanent',
  reason: `no token: ${reason}`,
  retry_after_ms: null,
});

/** One token for all deliveries with these credentials. */
export function linkExchange(parts: ExchangeParts): TokenSource {
  const { plan } = parts;
  const ask = linkAsk(parts, plan.request, plan.success);
  const readToken = linkTokenReader(plan);
  const exchange = async (context: SendContext): Promise<TokenResult> => {
    const tokenReply = await ask(NO_VALUES, context);
    return tokenReply.kind === 'failed' ? tokenReply.failure : readToken(tokenReply.response, context.clock.now());
  };
  return {
    perAddress: false,
    get: (_, account, context) => context.tokens.get(account, () => exchange(context)),
    ask: (one, values, context) => one(values, context),
    checkValues: () => ({}),
  };
}

/** Links the paths of the token and its lifetime in the response. */
export function linkTokenReader(plan: ExchangePlan): (response: TargetResponse, now: number) => TokenResult {
  const readToken = linkReader(plan.token);
  const readLifetime = plan.lifetime === null ? () => undefined : linkReader(plan.lifetime);
  const readEnd = plan.expires === undefined ? () => undefined : linkReader(plan.expires);
  return (response, now) => {
    const token = readToken(response.json);
    if (typeof token !== 'string' || token === '') return noToken('the response contains no token');
    // The expiry is in the service's time, which may differ from this machine's.
    const theirs = Date.parse(response.header('date') ?? '');
    const end = Date.parse(String(readEnd(response.json)));
    const left = (end - (Number.isNaN(theirs) ? now : theirs)) / 1000;
    return { kind: 'token', token, usable_ms: usableMs(plan, Number.isNaN(left) ? readLifetime(response.json) : left) };
  };
}

/** How long the token can be used, in ms: its lifetime less the margin, but at least half of it. The lifetime is in seconds. */
function usableMs(plan: ExchangePlan, lifetime: unknown): number {
  const seconds = typeof lifetime === 'string' && /^\d+$/.test(lifetime) ? Number(lifetime) : lifetime;
  const lifetimeMs =
    typeof seconds === 'number' && Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : plan.default_lifetime_ms;
  return Math.max(lifetimeMs - plan.margin_ms, lifetimeMs / 2);
}
