/**
 * The gateway's metrics as Prometheus text: counters updated as things happen, and gauges read at each scrape. Totals that
 * are kept elsewhere are copied by the `collect` function of their metric, which prom-client calls at each scrape.
 */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { DispatchObserver } from '../dispatch/observer.ts';
import type { CountRequest } from '../intake/event-log.ts';
import type { KeptCounts } from '../intake/keeper.ts';
import { NOTHING_KEPT } from '../intake/keeper.ts';
import type { Tally } from '../store/queries.ts';
import { RequestCounts } from './request-counts.ts';

/** Values at the moment of a scrape. */
export interface LiveFigures {
  /** Number of tables served since the start. */
  readonly generation: number;
  readonly routes: number;
  readonly subscriptions: number;
  readonly quarantined: number;
  readonly capture: KeptCounts;
  /** Whether the store accepts new events. */
  readonly storeUp: boolean;
  /** Values from the store; null when it cannot be read. */
  readonly stored: StoredFigures | null;
}

export interface StoredFigures {
  /** Work by kind and stage, such as `runs_queued`. */
  readonly work: Readonly<Record<string, number>>;
  readonly tallies: readonly Tally[];
  /** Age of the oldest unfinished dispatch in seconds; 0 when there is none. */
  readonly oldestOpenSeconds: number;
}

export interface Metrics {
  readonly onRequest: CountRequest;
  readonly onTableLoad: (ok: boolean) => void;
  readonly observer: DispatchObserver;
  /** The text for a scraper. */
  readonly read: (live: LiveFigures) => Promise<{ readonly content_type: string; readonly text: string }>;
}

/** Bucket bounds in seconds: for requests, and for work that may take minutes. */
const REQUEST_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30];
const WORK_SECONDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900];
const STATES = ['pending', 'running', 'delivering', 'done', 'dead', 'skipped'] as const;

/** Creates a registry with all metrics, including those of the process. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const live = liveGauges(registry);
  const requests = requestMetrics(registry);
  let captures = NOTHING_KEPT;
  captureCounters(registry, () => captures);
  const loads = new Counter({
    name: 'hookwright_table_loads_total',
    help: 'Tables read, by whether they went into service.',
    labelNames: ['result'],
    registers: [registry],
  });
  collectDefaultMetrics({ register: registry });
  return {
    onRequest: requests,
    onTableLoad: (ok) => loads.inc({ result: ok ? 'served' : 'refused' }),
    observer: workObserver(registry),
    read: async (figures) => {
      live(figures);
      captures = figures.capture;
      return { content_type: registry.contentType, text: await registry.metrics() };
    },
  };
}

function requestMetrics(registry: Registry): CountRequest {
  const counts = new RequestCounts();
  const registers = [registry];
  new Counter({
    name: 'hookwright_requests_total',
    help: 'Requests by route and outcome, those ignored by reason too; without a route: for a path that is none of ours.',
    labelNames: ['profile', 'route', 'outcome', 'reason'],
    registers,
    collect() {
      this.reset();
      for (const { profile, route, outcome, reason, count } of counts.all())
        this.inc({ profile, route, outcome, ...(reason === null ? {} : { reason }) }, count);
    },
  });
  const seconds = new Histogram({
    name: 'hookwright_request_duration_seconds',
    help: 'From the head of a request to its answer.',
    buckets: REQUEST_SECONDS,
    registers,
  });
  const previous = new Counter({
    name: 'hookwright_previous_secret_requests_total',
    help: 'Requests signed with a secret that is no longer the current one.',
    labelNames: ['profile', 'route'],
    registers,
  });
  return ({ profile, route, outcome, ignored, ms, secret }) => {
    counts.add(profile, route, outcome, ignored);
    if (route === '') return;
    seconds.observe(ms / 1000);
    if (secret > 0) previous.inc({ profile, route });
  };
}

function captureCounters(registry: Registry, counts: () => KeptCounts): void {
  const registers = [registry];
  new Counter({
    name: 'hookwright_requests_kept_total',
    help: 'Requests that were kept.',
    registers,
    collect() {
      this.reset();
      this.inc(counts().kept);
    },
  });
  new Counter({
    name: 'hookwright_requests_not_kept_total',
    help: 'Requests that a route wants kept and that were not: over its rate, too many at once, or the disk failed. Their events are not affected.',
    labelNames: ['reason'],
    registers,
    collect() {
      this.reset();
      for (const [reason, count] of Object.entries(counts().dropped)) this.inc({ reason }, count);
    },
  });
}

function workObserver(registry: Registry): DispatchObserver {
  const registers = [registry];
  const runs = new Histogram({
    name: 'hookwright_run_duration_seconds',
    help: 'Agent runs by outcome.',
    labelNames: ['outcome'],
    buckets: WORK_SECONDS,
    registers,
  });
  const attempts = new Histogram({
    name: 'hookwright_delivery_attempt_duration_seconds',
    help: 'Delivery attempts by target and outcome.',
    labelNames: ['target', 'outcome'],
    buckets: WORK_SECONDS,
    registers,
  });
  const retries = new Counter({
    name: 'hookwright_retries_total',
    help: 'Further tries that were scheduled, of runs and of deliveries.',
    labelNames: ['kind'],
    registers,
  });
  const finished = new Counter({
    name: 'hookwright_finished_total',
    help: 'Dispatches that reached their end, by how.',
    labelNames: ['state'],
    registers,
  });
  return {
    runEnded: (_owner, outcome, ms) => runs.observe({ outcome }, ms / 1000),
    attemptEnded: (target, outcome, ms) => attempts.observe({ target, outcome }, ms / 1000),
    retryScheduled: (kind) => retries.inc({ kind }),
    finished: (_owner, state) => finished.inc({ state }),
  };
}

function liveGauges(registry: Registry): (figures: LiveFigures) => void {
  const gauge = <Label extends string>(name: string, help: string, ...labelNames: Label[]): Gauge<Label> =>
    new Gauge({ name: `hookwright_${name}`, help, labelNames, registers: [registry] });
  const generation = gauge('table_generation', 'Tables served since the start.');
  const routes = gauge('routes', 'Routes in service, by where they are defined.', 'kind');
  const work = gauge('work', 'Open work by stage; what waits is counted over all gateways.', 'stage');
  const dispatches = gauge(
    'dispatches',
    'Dispatches since the store was created, by state.',
    'profile',
    'route',
    'state',
  );
  const oldest = gauge('oldest_open_dispatch_seconds', 'Age of the oldest unfinished dispatch.');
  const storeUp = gauge('store_up', '1: the store takes new events; 0: they are answered 503.');
  return (figures) => {
    generation.set(figures.generation);
    routes.set({ kind: 'static' }, figures.routes);
    routes.set({ kind: 'subscription' }, figures.subscriptions);
    routes.set({ kind: 'quarantined' }, figures.quarantined);
    storeUp.set(figures.storeUp ? 1 : 0);
    work.reset();
    dispatches.reset();
    oldest.remove();
    if (figures.stored === null) return;
    for (const [stage, count] of Object.entries(figures.stored.work)) work.set({ stage }, count);
    for (const tally of figures.stored.tallies) {
      const { profile, route } = tally;
      for (const state of STATES) dispatches.set({ profile, route: route ?? '', state }, tally[state]);
    }
    oldest.set(figures.stored.oldestOpenSeconds);
  };
}
