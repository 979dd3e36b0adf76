/** A cell of the open-loop table: twice the gateway's capacity, then a low rate again. */
import { setTimeout } from 'node:timers/promises';
import type { RunningGateway } from '../../harness/gateway.ts';
import type { LoadPlan, LoadResult } from '../../harness/load.ts';
import { figuresOf, normalAfter } from '../../harness/open-loop-figures.ts';
import { large } from '../../harness/payloads.ts';
import type { Lab } from '../../lab.ts';
import type { RateCell } from './at-rate.ts';
import { megabytes, printRow } from './row.ts';
import { sendByTheClock, watchPeak } from './send.ts';

const path = '/webhooks/agent';
/** Enough to keep the server busy all the time. */
const CONNECTIONS = 256;
const CAPACITY_MS = 4000;
const CALM_SECONDS = 4;
const AFTER_SECONDS = 8;
/** After the ids of the previous load. */
const FIRST_ID = 1_000_000;

/** Events per second that are accepted in a closed loop. */
async function capacityOf({ loader }: Lab, port: number): Promise<number> {
  const plan: LoadPlan = {
    port,
    path,
    headers: large.headers,
    body: large.body,
    connections: CONNECTIONS,
    requests: FIRST_ID - 1,
    max_ms: CAPACITY_MS,
    first_id: 1,
  };
  const { result, error } = await loader.ask<{ readonly result?: LoadResult; readonly error?: string }>(plan);
  if (result === undefined) throw new Error(`load generator: ${error}`);
  return (result.statuses[202] ?? 0) / result.seconds;
}

export async function atTwiceCapacity(
  lab: Lab,
  gateway: RunningGateway,
  { disk, seconds }: Pick<RateCell, 'disk' | 'seconds'>,
): Promise<string[]> {
  const { port, resident } = gateway;
  const capacity = await capacityOf(lab, port);
  await setTimeout(2000);
  const before = resident();
  const phases = [
    { rate: capacity / 4, seconds: CALM_SECONDS },
    { rate: capacity * 2, seconds },
    { rate: capacity / 4, seconds: AFTER_SECONDS },
  ];
  const { result, peak } = await watchPeak(resident, () => sendByTheClock(lab, { port, path }, phases, FIRST_ID));
  const [begin, end] = [CALM_SECONDS * 1000, (CALM_SECONDS + seconds) * 1000];
  const calm = figuresOf(result, 0, begin).statuses.get('202')?.p99 ?? Number.NaN;
  return printRow({
    load: `2 x ${capacity.toFixed(0)}/s`,
    sync: disk,
    figures: figuresOf(result, begin, end),
    goal: '-, 1000; 503 1000; normal 2000',
    resident: megabytes(before, peak, resident()),
    normalAfter: `${normalAfter(result, end, 2 * calm + 25)} ms`,
  });
}
