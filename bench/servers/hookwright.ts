/**
 * The real runtime in this process, with an agent that returns immediately: table, server, stages, queue, store,
 * delivery to the log. Options arrive as JSON on the command line.
 */
import { randomBytes } from 'node:crypto';
import { openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Writable } from 'node:stream';
import { createDeliverer } from '../../runtime/deliver/create-deliverer.ts';
import type { DeliveryContext } from '../../runtime/deliver/deliverer.ts';
import type { LinkedTarget } from '../../runtime/deliver/link-targets.ts';
import { createLogDriver } from '../../runtime/deliver/link-targets.ts';
import { Redactor } from '../../runtime/deliver/redact.ts';
import type { AgentRequest } from '../../runtime/dispatch/agent-runner.ts';
import { createDispatcher } from '../../runtime/dispatch/create-dispatcher.ts';
import { systemClock } from '../../runtime/platform/clock.ts';
import { createIds } from '../../runtime/platform/ids.ts';
import { createLogger } from '../../runtime/platform/logger.ts';
import type { ServiceContext } from '../../runtime/service/context.ts';
import { resolveOptions } from '../../runtime/service/context.ts';
import { Gateway } from '../../runtime/service/gateway.ts';
import { Routes } from '../../runtime/service/routes.ts';
import { cleanUp } from '../../runtime/store/retention.ts';
import { EXAMPLE_INSTALLATION } from '../../runtime/table/link-loop.ts';
import type { BenchStorePlan } from './bench-store.ts';
import { openBenchStore } from './bench-store.ts';

export interface ServerOptions {
  readonly home: string;
  readonly table: string;
  readonly store: BenchStorePlan;
  readonly secret: string;
  /** Watches the pauses of the event loop, which takes a timer a thousand times a second. */
  readonly pauses: boolean;
}

export interface ServerReport {
  readonly rss: number;
  readonly cpu: NodeJS.CpuUsage;
  /** Dispatches accepted and not finished. */
  readonly open: number;
  /** Runs whose prompt and toolsets came from two tables. */
  readonly mixed: number;
  /** Number of tables loaded since the start. */
  readonly tables: number;
  /** Round trips of all connections to a database, since the start. */
  readonly round_trips: number;
  /** Longest pause of the event loop since the last report, in ms, when they are watched. */
  readonly pause: number;
}

const options = JSON.parse(process.argv[2] ?? '{}') as ServerOptions;
const { home, table, secret } = options;
const clock = systemClock;
const logFile = openSync(join(home, 'bench.log'), 'a');
const redactor = new Redactor();
redactor.add([secret]);
const log = createLogger({
  redact: redactor.redact,
  // As a process writes to its standard error when that is a file: synchronously.
  stream: new Writable({
    decodeStrings: false,
    write(text: string, _encoding, done) {
      writeSync(logFile, text);
      done();
    },
  }),
  level: 'info',
  pretty: false,
  colour: false,
  clock,
});

let mixed = 0;

/** The tables of the swap case mark prompt and toolsets with the same letter. */
function answer({ prompt, toolsets }: AgentRequest): Promise<string> {
  const marked = /^\[(\w)\]/.exec(prompt);
  if (marked !== null && !toolsets.includes(marked[1] === 'a' ? 'web_search' : 'web_extract')) mixed++;
  return Promise.resolve(prompt);
}

const { store, roundTrips } = await openBenchStore(options.store, home, { log, beforeCommit: () => log.flush() });
const logTarget = { driver: createLogDriver({} as never, { log } as unknown as DeliveryContext) } as LinkedTarget;
const dispatcher = createDispatcher({
  store,
  deliverer: createDeliverer({
    linked: new Map([['default', new Map([['log', logTarget]])]]),
    context: { log },
    mirror: () => Promise.resolve(),
  }),
  agents: () => ({ timeout_ms: 900_000, max_attempts: 1, run: answer }),
  policy: () => ({ max_attempts: 8, at_most_once: false }),
  limits: () => ({ max_concurrent_runs: 64, max_queued_runs: 10_000_000 }),
  clock,
  log,
  random: Math.random,
  ids: createIds(randomBytes),
});
const context: ServiceContext = {
  ...resolveOptions({ table: { file: table }, home, env: process.env, log }, []),
  secrets: async () => ({ resolve: () => secret }),
};
const routes = new Routes(context);
const gateway = new Gateway(context, routes, {
  dispatcher,
  store,
  jobs: () => [],
  installation: async () => EXAMPLE_INSTALLATION,
  isPending: () => false,
  tracing: null,
  keeping: { keep: () => null, keepMiss: () => {} },
  place: () => null,
  subscribed: async () => {},
  prepare: async () => () => {},
  stop: async () => ({ abandoned: 0 }),
});

const delay = monitorEventLoopDelay({ resolution: 1 });

async function report(): Promise<ServerReport> {
  const { runs_active, runs_queued, deliveries_active, deliveries_queued } = await dispatcher.counts();
  const pause = delay.max / 1e6;
  delay.reset();
  return {
    rss: process.memoryUsage().rss,
    cpu: process.cpuUsage(),
    open: runs_active + runs_queued + deliveries_active + deliveries_queued,
    mixed,
    tables: routes.tables.status.generation,
    round_trips: roundTrips(),
    pause,
  };
}

await routes.tables.loadFirst();
await gateway.begin();
const { port } = await gateway.listen();
// As `serve` does it: pending work resumes in the background.
void dispatcher.start();
if (options.pauses) delay.enable();

/** An order to the server; without one, it reports. */
export type ServerOrder = { readonly list: number } | { readonly clean_up: true } | Record<string, never>;

async function listMs(limit: number): Promise<number> {
  const started = performance.now();
  const found = await store.read({ kind: 'list', filter: { limit } });
  return found.length === limit ? performance.now() - started : Number.NaN;
}

async function answerOrder(order: ServerOrder): Promise<void> {
  if ('list' in order) process.send?.({ ms: await listMs(order.list) });
  else if ('clean_up' in order) await cleanUp({ store, clock, retentionDays: () => 14 }, () => false);
  else process.send?.(await report());
}

process.on('message', (order: ServerOrder) => void answerOrder(order));
process.on('disconnect', () => process.exit(0));
process.send?.({ port });
