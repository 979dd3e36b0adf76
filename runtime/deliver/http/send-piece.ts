/**
 * Sends one piece over undici and classifies the response. A rejected token is exchanged again, once. When a request fails, the
 * result says whether anything can have reached the target.
 */
import { NOT_PUBLIC } from '../../../base/net.ts';
import type { DeliveryContext, DeliveryRequest } from '../deliverer.ts';
import type { TokenResult } from '../http-pool.ts';
import type { DeliveryResult } from './classify-response.ts';
import { readResponse } from './classify-response.ts';
import type { LinkedRequest, LinkedVariant } from './link-variant.ts';
import { sendRequest } from './send-request.ts';
import type { Values } from './values.ts';
import { HIDDEN } from './values.ts';

type Attempt = Pick<DeliveryRequest, 'signal' | 'called'>;

export interface PieceSender {
  send(request: LinkedRequest, values: Values, attempt: Attempt): Promise<DeliveryResult>;
  /** The exchanged token, cached or new; null for targets without an exchange. */
  token(values: Values, signal: AbortSignal): Promise<TokenResult> | null;
}

const PRIVATE = 'not sent: the host of the URL has a private address; set allow_private to allow it';

/** @param account identifies the credentials and their server, for the token cache */
export function createPieceSender(variant: LinkedVariant, account: string, context: DeliveryContext): PieceSender {
  const { plan, exchange } = variant;
  const { clock, tokens } = context;

  async function send(request: LinkedRequest, values: Values, { signal, called }: Attempt): Promise<DeliveryResult> {
    const { classify = variant.classify, maxBytes = plan.max_response_bytes } = request;
    const limits = { max_response_bytes: maxBytes, timeout_ms: plan.timeout_ms, signal };
    const built = request.build(values);
    const result = await sendRequest(built, limits, context);
    called?.({
      method: built.method,
      origin: built.origin,
      end: result.kind === 'response' ? result.status : result.code,
    });
    if (result.kind === 'response') return classify(readResponse(result), clock.now());
    if (result.code === NOT_PUBLIC) return { kind: 'permanent', reason: PRIVATE, retry_after_ms: null };
    const reason = result.sent ? `no response (${result.code})` : `unreachable (${result.code})`;
    return { kind: result.sent ? 'ambiguous' : 'retry', reason, retry_after_ms: null };
  }

  function token(values: Values, signal: AbortSignal): Promise<TokenResult> | null {
    return exchange === null ? null : untilAborted(exchange.get(values, account, context), signal);
  }

  async function sendWithToken(request: LinkedRequest, values: Values, attempt: Attempt): Promise<DeliveryResult> {
    const exchanged = await token(values, attempt.signal);
    if (exchanged === null) return send(request, values, attempt);
    if (exchanged.kind !== 'token') return exchanged;
    const result = await send(request, { ...values, exchanged_token: exchanged.token }, attempt);
    if (result.kind === 'refresh') tokens.drop(exchanged.token);
    return hideToken(result, exchanged.token);
  }

  return {
    token,
    async send(request, values, attempt) {
      if (exchange === null) return send(request, values, attempt);
      const first = await sendWithToken(request, values, attempt);
      return first.kind === 'refresh' ? sendWithToken(request, values, attempt) : first;
    },
  };
}

/** Removes the token from the result, in case the service echoes it. */
function hideToken(result: DeliveryResult, token: string): DeliveryResult {
  if (result.kind !== 'ok') return { ...result, reason: result.reason.replaceAll(token, HIDDEN) };
  return result.message_id?.includes(token) === true ? { ...result, message_id: null } : result;
}

/** An aborted delivery stops waiting for the token; the exchange itself continues for the others. */
function untilAborted(result: Promise<TokenResult>, signal: AbortSignal): Promise<TokenResult> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => resolve({ kind: 'retry', reason: 'no token before the timeout', retry_after_ms: null });
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    result.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
