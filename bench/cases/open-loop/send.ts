/** Makes the load generator send requests by the clock, and watches the server's memory. */

import type { OpenLoopPlan, OpenLoopResult, Phase } from '../../harness/open-loop.ts';
import type { Payload } from '../../harness/payloads.ts';
import { large } from '../../harness/payloads.ts';
import type { Lab } from '../../lab.ts';

/** As many connections as a busy proxy would open. */
const MOST_CONNECTIONS = 8000;
const PATIENCE_MS = 15_000;

/** @param first_id ids of one server do not repeat */
export async function sendByTheClock(
  { loader }: Lab,
  target: { readonly port: number; readonly path: string },
  phases: readonly Phase[],
  first_id: number,
  payload: Payload = large,
): Promise<OpenLoopResult> {
  const plan: OpenLoopPlan = {
    ...target,
    headers: payload.headers,
    body: payload.body,
    phases,
    first_id,
    most_connections: MOST_CONNECTIONS,
    patience_ms: PATIENCE_MS,
  };
  const answer = await loader.ask<{ readonly result?: OpenLoopResult; readonly error?: string }>(plan);
  if (answer.result === undefined) throw new Error(`load generator: ${answer.error}`);
  return answer.result;
}

/** The highest resident set size during `work`. */
export async function watchPeak<T>(
  resident: () => number,
  work: () => Promise<T>,
): Promise<{ result: T; peak: number }> {
  let peak = resident();
  const timer = setInterval(() => {
    peak = Math.max(peak, resident());
  }, 50);
  try {
    return { result: await work(), peak: Math.max(peak, resident()) };
  } finally {
    clearInterval(timer);
  }
}
