/** Looks whether the server of an HTTP target can be reached, and whether it gives a token; no credential goes to a strange path. */

import type { BaseUrl } from '../../../base/base-url.ts';
import type { DeliveryContext } from '../driver.ts';
import type { Probe } from '../probe.ts';
import { probed, probeFailed } from '../probe.ts';
import { Deadlines } from './deadlines.ts';
import { sendRequest } from './send-request.ts';

/** Longest wait for an answer, in ms. */
const TIMEOUT_MS = 10_000;

const CHECK = 'host';

type ProbeContext = Pick<DeliveryContext, 'dispatcher' | 'clock'>;

/** Any answer counts: what a service says to its bare address is its own business. */
export async function probeHost({ origin }: BaseUrl, signal: AbortSignal, context: ProbeContext): Promise<Probe> {
  const request = { origin, method: 'GET', path: '/', headers: {}, body: null } as const;
  const wire = { dispatcher: context.dispatcher, deadlines: new Deadlines(context.clock, TIMEOUT_MS) };
  const result = await sendRequest(request, { max_response_bytes: 1024, signal }, wire);
  if (result.kind === 'response') {
    const date = result.headers.date;
    const time = typeof date === 'string' ? Date.parse(date) : Number.NaN;
    return probed(CHECK, `${origin} answers`, Number.isNaN(time) ? null : time);
  }
  const fix = 'check the address, DNS, proxy and firewall of this machine';
  return probeFailed(CHECK, `${origin} cannot be reached (${result.code})`, fix);
}
