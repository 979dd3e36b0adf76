/** Exchanges the credentials of a binding for a short-lived token, according to the target's plan. */

import type { BaseUrl } from '../../../base/base-url.ts';
import type { ExchangePlan, VariantPlan } from '../../../schemas/generated/types.ts';
import type { TokenResult } from '../token-cache.ts';
import { linkClassifier } from './classify-response.ts';
import { linkReader } from './condition.ts';
import { linkRequest } from './link-request.ts';
import { readResponse } from './response.ts';
import type { SendContext } from './send-request.ts';
import { sendRequest } from './send-request.ts';
import { NO_VALUES } from './values.ts';

export interface ExchangeParts {
  readonly variant: VariantPlan;
  readonly plan: ExchangePlan;
  readonly base: BaseUrl;
  readonly settings: ReadonlyMap<string, string>;
}

export type ExchangeToken = (context: SendContext) => Promise<TokenResult>;

/** The target's outcome rules also classify responses of the token server: a service uses the same error codes for both. */
export function linkExchange({ variant, plan, base, settings }: ExchangeParts): ExchangeToken {
  const classify = linkClassifier({ ...variant, success: plan.success, message_id: null });
  const readToken = linkReader(plan.token);
  const readLifetime = plan.lifetime === null ? () => undefined : linkReader(plan.lifetime);
  const build = linkRequest(plan.request, { base, settings });
  return async (context) => {
    const request = build(NO_VALUES);
    // Several deliveries may wait for this exchange, so the signal of one must not abort it.
    const { signal } = new AbortController();
    const { max_response_bytes, timeout_ms } = variant;
    const received = await sendRequest(request, { max_response_bytes, timeout_ms, signal }, context);
    if (received.kind === 'failed') {
      return { kind: 'retry', reason: `no token: ${received.code}`, retry_after_ms: null };
    }
    const response = readResponse(received);
    const result = classify(response, context.clock.now());
    const token = readToken(response.json);
    if (result.kind === 'ok') {
      if (typeof token === 'string' && token !== '') {
        return { kind: 'token', token, usable_ms: usableMs(plan, readLifetime(response.json)) };
      }
      return { kind: 'permanent', reason: 'no token: the answer holds none', retry_after_ms: null };
    }
    // Nothing was delivered yet, and repeating the exchange does no harm.
    const kind = result.kind === 'retry' || result.kind === 'ambiguous' ? 'retry' : 'permanent';
    return { kind, reason: `no token: ${result.reason}`, retry_after_ms: result.retry_after_ms };
  };
}

/** How long the token can be used, in ms: its lifetime less the margin, but at least half of it. The lifetime is in seconds. */
function usableMs(plan: ExchangePlan, lifetime: unknown): number {
  const seconds = typeof lifetime === 'string' && /^\d+$/.test(lifetime) ? Number(lifetime) : lifetime;
  const lifetimeMs =
    typeof seconds === 'number' && Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : plan.default_lifetime_ms;
  return Math.max(lifetimeMs - plan.margin_ms, lifetimeMs / 2);
}
