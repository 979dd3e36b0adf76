/** Checks whether the server of an HTTP target can be reached and accepts the credentials. They go only where the target's file says. */

import type { BaseUrl } from '../../../base/base-url.ts';
import type { DeliveryContext } from '../driver.ts';
import type { Probe } from '../probe.ts';
import { probed, probeFailed, probeSkipped } from '../probe.ts';
import { linkClassifier } from './classify-response.ts';
import type { LinkedVariant } from './link-variant.ts';
import { readResponse } from './response.ts';
import { sendRequest } from './send-request.ts';

/** Longest wait for an answer, in ms. */
const TIMEOUT_MS = 10_000;

const CHECK = 'host';

type ProbeContext = Pick<DeliveryContext, 'http' | 'clock'>;

/** Checks that the server responds; any response to `GET /` will do. */
export async function probeHost({ origin }: BaseUrl, signal: AbortSignal, context: ProbeContext): Promise<Probe> {
  const request = { origin, method: 'GET', path: '/', headers: {}, body: null } as const;
  const result = await sendRequest(request, { max_response_bytes: 1024, timeout_ms: TIMEOUT_MS, signal }, context);
  if (result.kind === 'response') {
    const date = result.headers.date;
    const time = typeof date === 'string' ? Date.parse(date) : Number.NaN;
    return probed(CHECK, `${origin} answers`, Number.isNaN(time) ? null : time);
  }
  const fix = 'check the address, DNS, proxy and firewall of this machine';
  return probeFailed(CHECK, `${origin} cannot be reached (${result.code})`, fix);
}

const ACCOUNT = 'account';

/** Checks that the service accepts the credentials; null when it has no request for that without side effects. */
export async function probeAccount(
  { plan, buildCheck }: Pick<LinkedVariant, 'plan' | 'buildCheck'>,
  signal: AbortSignal,
  context: ProbeContext,
): Promise<Probe | null> {
  if (buildCheck === null) return null;
  const { max_response_bytes } = plan;
  const result = await sendRequest(
    buildCheck(context.clock.now()),
    { max_response_bytes, timeout_ms: TIMEOUT_MS, signal },
    context,
  );
  if (result.kind === 'failed') return undecided(`no answer (${result.code})`);
  const outcome = linkClassifier({ ...plan, message_id: null })(readResponse(result), context.clock.now());
  if (outcome.kind === 'ok') return probed(ACCOUNT, 'the service takes the credentials');
  if (outcome.kind === 'retry' || outcome.kind === 'ambiguous') return undecided(outcome.reason);
  return probeFailed(ACCOUNT, outcome.reason, 'enter the credentials again, as the service shows them');
}

/** For a service that is down or busy, which shows nothing about the credentials. */
const undecided = (detail: string): Probe => probeSkipped(ACCOUNT, `cannot be decided: ${detail}`);
