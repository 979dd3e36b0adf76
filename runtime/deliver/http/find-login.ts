/** Finds the account that posts: the setting `login`, or what the service says, which is kept for a day. */
import type { ResponseCondition } from '../../../schemas/generated/types.ts';
import type { BoundTarget } from '../driver.ts';
import type { TokenResult } from '../token-cache.ts';
import { toId } from './classify-response.ts';
import { linkReader } from './condition.ts';
import type { TokenContext } from './exchange-token.ts';
import { linkAsk } from './exchange-token.ts';
import type { LinkedVariant } from './link-variant.ts';
import { NO_VALUES } from './values.ts';

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
