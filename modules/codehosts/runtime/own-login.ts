/**
 * Finds the account that posts: the setting `login`, or what the service says, which is kept for a day. Events that it sends
 * are the gateway's own.
 */

import type { BoundTarget } from '../../../runtime/deliver/driver.ts';
import { toId } from '../../../runtime/deliver/http/classify-response.ts';
import { linkReader } from '../../../runtime/deliver/http/condition.ts';
import type { TokenContext } from '../../../runtime/deliver/http/exchange-token.ts';
import { linkAsk } from '../../../runtime/deliver/http/exchange-token.ts';
import type { LinkedVariant } from '../../../runtime/deliver/http/link-variant.ts';
import { NO_VALUES } from '../../../runtime/deliver/http/values.ts';
import type { TokenResult } from '../../../runtime/deliver/token-cache.ts';
import type { Clock } from '../../../runtime/platform/clock.ts';
import type { ResponseCondition } from '../../../schemas/generated/types.ts';

const KEPT_MS = 86_400_000;

/** In the cache, it is a token whose text is the login. */
export type FindLogin = () => Promise<TokenResult>;

const OK: ResponseCondition = [{ kind: 'status', ranges: [{ from: 200, to: 200 }] }];

/** @param account identifies the credentials and their server */
export function linkFindLogin(
  { plan, base, exchange }: Pick<LinkedVariant, 'plan' | 'base' | 'exchange'>,
  { settings }: Pick<BoundTarget, 'settings'>,
  account: string,
  context: TokenContext,
): FindLogin {
  const own = settings.get('login');
  if (own !== undefined) return async () => ({ kind: 'token', token: own, usable_ms: KEPT_MS });
  const { login } = plan;
  if (login === undefined) return async () => UNKNOWN;
  const ask = linkAsk({ variant: plan, plan: plan.exchange, base, settings }, login.request, OK);
  const read = linkReader(login.path);
  return () =>
    context.tokens.get(`${account} login`, async () => {
      const asked = await (exchange?.ask(ask, NO_VALUES, context) ?? ask(NO_VALUES, context));
      if (asked.kind === 'failed') return asked.failure.kind === 'retry' ? asked.failure : UNKNOWN;
      const found = toId(read(asked.response.json));
      return found === null ? UNKNOWN : { kind: 'token', token: found + login.suffix, usable_ms: KEPT_MS };
    });
}

const UNKNOWN = {
  kind: 'permanent',
  reason: 'the service does not say which account the credentials belong to: set `login`',
  retry_after_ms: null,
} as const;

const ASK_AGAIN_MS = 60_000;

/** Returns the login; null while it is not known. A service that does not answer is asked again, once a minute at most. */
export function rememberLogin(find: FindLogin, clock: Clock): () => string | null {
  let login: string | null = null;
  /** Monotonic ms, from which on it may be asked again. */
  let from = Number.NEGATIVE_INFINITY;
  return () => {
    if (login === null && from <= clock.monotonic()) {
      from = Number.POSITIVE_INFINITY;
      void find().then((result) => {
        if (result.kind === 'token') login = result.token;
        from = clock.monotonic() + ASK_AGAIN_MS;
      });
    }
    return login;
  };
}
