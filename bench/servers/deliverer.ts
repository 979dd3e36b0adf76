/** Deliveries from a separate process: through the deliverer, or as bare undici requests of the same bytes. */
import { performance } from 'node:perf_hooks';
import { createDeliverer } from '../../runtime/deliver/create-deliverer.ts';
import type { DeliveryContext } from '../../runtime/deliver/deliverer.ts';
import { HttpPool, TokenCache } from '../../runtime/deliver/http-pool.ts';
import type { TargetTables } from '../../runtime/deliver/link-targets.ts';
import { linkTargets, loadDrivers } from '../../runtime/deliver/link-targets.ts';
import { createPace } from '../../runtime/deliver/pace.ts';
import { systemClock } from '../../runtime/platform/clock.ts';
import { percentile } from '../harness/stats.ts';

export interface DelivererOptions {
  readonly tables: TargetTables;
  readonly origin: string;
  readonly text: string;
}

export interface DelivererOrder {
  readonly way: 'bare' | 'ours';
  readonly connections: number;
  readonly requests: number;
}

export interface DelivererResult {
  readonly rate: number;
  readonly p50: number;
  readonly p99: number;
  /** CPU time of this process per request, in µs. */
  readonly cpu: number;
}

const { tables, origin, text } = JSON.parse(process.argv[2] ?? '{}') as DelivererOptions;
const quiet = (): void => {};
const http = new HttpPool();
const context: DeliveryContext = {
  modules: [],
  clock: systemClock,
  log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
  http,
  runProcess: () => Promise.reject(new Error('nothing is run here')),
  pace: createPace({ clock: systemClock, longestHoldMs: 0 }),
  tokens: new TokenCache(systemClock),
  env: {},
  homeOf: () => '/',
};
const { linked, problems } = linkTargets(
  tables,
  { resolve: ({ value }) => value },
  context,
  await loadDrivers(tables, context),
);
if (problems.length > 0) throw new Error(JSON.stringify(problems));
const deliverer = createDeliverer({ linked, context, mirror: async () => {} });

async function deliver(index: number, signal: AbortSignal): Promise<void> {
  // In one literal: V8 moves spread objects into old space, and everything that they refer to.
  const outcome = await deliverer.deliver({
    key: `d${index}:0`,
    profile: 'default',
    route: 'bench',
    delivery_id: `e${index}`,
    target: 'telegram',
    extra: { chat_id: `-100${index % 1000}` },
    unresolved: [],
    text,
    sent: 0,
    first_attempt_at: null,
    mirror_to_session: false,
    signal,
  });
  if (outcome.kind !== 'ok') throw new Error(JSON.stringify(outcome));
}

async function bare(index: number): Promise<void> {
  const message = { chat_id: Number(`-100${index % 1000}`), text, link_preview_options: { is_disabled: true } };
  const { body } = await (await http.open()).request({
    origin,
    method: 'POST',
    path: '/bot1:token/sendMessage',
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body: JSON.stringify(message),
  });
  await body.text();
}

async function measure({ way, connections, requests }: DelivererOrder): Promise<DelivererResult> {
  const send = way === 'ours' ? deliver : bare;
  const latencies = new Float64Array(requests);
  let next = 0;
  const worker = async (): Promise<void> => {
    const { signal } = new AbortController();
    for (let index = next++; index < requests; index = next++) {
      const started = performance.now();
      await send(index, signal);
      latencies[index] = performance.now() - started;
    }
  };
  const before = process.cpuUsage();
  const started = performance.now();
  await Promise.all(Array.from({ length: connections }, worker));
  const seconds = (performance.now() - started) / 1000;
  const { user, system } = process.cpuUsage(before);
  latencies.sort();
  const [p50, p99] = [percentile(latencies, 0.5), percentile(latencies, 0.99)];
  return { rate: requests / seconds, p50, p99, cpu: (user + system) / requests };
}

process.on('message', (order: DelivererOrder) => {
  measure(order).then(
    (result) => process.send?.({ result }),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});
process.on('disconnect', () => process.exit(0));
process.send?.({ ready: true });
