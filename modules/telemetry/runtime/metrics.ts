/**
 * The gateway's metrics as Prometheus text: counters that are updated as things happen, and gauges that are read at each
 * scrape. prom-client is loaded at the first scrape, for the metrics of the process.
 */
import type { Registry } from 'prom-client';
import { ALERT_KINDS } from '../../../base/names.ts';
import type { DispatchObserver } from '../../../runtime/dispatch/dispatcher.ts';
import type { CountRequest } from '../../../runtime/intake/event-log.ts';
import type { FigureContext, FigureRecorder, LiveFigures, Metrics } from '../../../runtime/metrics/metrics.ts';
import type { WaitCounts } from '../../../runtime/store/named-waits.ts';
import { SHOWN_STATES } from '../../../runtime/store/states.ts';
import { METRICS } from './built/metric-texts.ts';
import type { RequestTotals, Samples } from './series.ts';
import { byLabel, Durations, printMetric, REQUEST_SECONDS, recordFigures, Totals } from './series.ts';

/** Bucket bounds in seconds, for work that may take minutes. */
const WORK_SECONDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900];

/** Maximum number of routes with their own histogram; names of routes contain no bracket. `metric-texts.yaml` states both. */
const MAX_RUN_ROUTES = 200;
const OTHER_ROUTES = '(others)';
/** Outcomes used by the rules in docs/alerts.yaml. */
const ALERTING = ['overloaded', 'invalid_signature'];

export class CountedMetrics implements Metrics {
  private readonly requests = new Totals('profile', 'route', 'outcome', 'reason');
  private readonly seconds = new Durations(REQUEST_SECONDS);
  private readonly previous = new Totals('profile', 'route');
  private readonly loads = new Totals('result');
  private readonly runs = new Durations(WORK_SECONDS, 'profile', 'route', 'outcome');
  private readonly agentRuns = new Totals('profile', 'agent', 'outcome');
  private readonly runRoutes = new Set<string>();
  private readonly tokens = new Totals('profile', 'route', 'kind');
  private readonly cost = new Totals('profile', 'route');
  private readonly attempts = new Durations(WORK_SECONDS, 'target', 'outcome');
  private readonly retries = new Totals('kind');
  private readonly outputs = new Totals('profile', 'route', 'result');
  private readonly superseded = new Totals('profile', 'route');
  private readonly finished = new Totals('state');
  /** Events that were sent to unknown paths. */
  private misses = 0;
  private ofProcess: Promise<Registry> | null = null;

  readonly onRequest: CountRequest = ({ profile, route, outcome, ignored, ms, secret, isEvent = true }) => {
    this.requests.add(profile, route, outcome, ignored);
    if (isEvent && outcome === 'unknown_route') this.misses++;
    if (route === '') return;
    this.seconds.add(ms);
    if (secret > 0) this.previous.add(profile, route);
  };

  readonly onTableLoad = (ok: boolean): void => this.loads.add(ok ? 'served' : 'refused');

  readonly observer: DispatchObserver = {
    runEnded: ({ profile, route, agent = null }, outcome, ms) => {
      this.runs.add(ms, profile, this.runRoute(profile, route), outcome);
      if (agent !== null) this.agentRuns.add(profile, agent, outcome);
    },
    used: ({ profile, route }, { input_tokens, output_tokens, cost }) => {
      const of = [profile, this.runRoute(profile, route)];
      this.tokens.addBy(input_tokens ?? 0, ...of, 'input');
      this.tokens.addBy(output_tokens ?? 0, ...of, 'output');
      this.cost.addBy(cost ?? 0, ...of);
    },
    attemptEnded: (target, outcome, ms) => this.attempts.add(ms, target, outcome),
    retryScheduled: (kind) => this.retries.add(kind),
    outputsChecked: ({ profile, route }, taken, dropped) => {
      const of = [profile, this.runRoute(profile, route)] as const;
      if (taken > 0) this.outputs.addBy(taken, ...of, 'taken');
      if (dropped > 0) this.outputs.addBy(dropped, ...of, 'dropped');
    },
    superseded: ({ profile, route }, count) => this.superseded.addBy(count, profile, this.runRoute(profile, route)),
    finished: (_owner, state) => this.finished.add(state),
  };

  /** Requests since the start, by outcome, and the durations of those of routes in the buckets of `REQUEST_SECONDS`. */
  requestTotals(): RequestTotals {
    const byOutcome: Record<string, number> = { unknown_route: this.misses };
    for (const { labels, value } of this.requests.samples()) {
      const { route = '', outcome = '' } = labels ?? {};
      if (route !== '') byOutcome[outcome] = (byOutcome[outcome] ?? 0) + value;
    }
    return { byOutcome, durations: this.seconds.counts() };
  }

  requestCount(): number {
    return Object.values(this.requestTotals().byOutcome).reduce((sum, count) => sum + count, 0);
  }

  recordFigures(context: FigureContext): FigureRecorder {
    return recordFigures({ ...context, totals: () => this.requestTotals() });
  }

  /** The text for a scraper. */
  async read(live: LiveFigures): Promise<{ readonly content_type: string; readonly text: string }> {
    this.ofProcess ??= collectOfProcess();
    const registry = await this.ofProcess;
    const samples: Record<keyof typeof METRICS, Samples> = { ...this.counted(live), ...gauges(live) };
    const own = Object.entries(METRICS).map(([name, [type, help]]) =>
      printMetric(type, name, help, samples[name as keyof typeof METRICS]),
    );
    return { content_type: registry.contentType, text: [...own, await registry.metrics()].join('\n') };
  }

  /** Subscriptions are added and removed, so beyond a number of routes, runs are counted together. */
  private runRoute(profile: string, route: string | null): string {
    const key = JSON.stringify([profile, route]);
    if (!this.runRoutes.has(key) && this.runRoutes.size >= MAX_RUN_ROUTES) return OTHER_ROUTES;
    this.runRoutes.add(key);
    return route ?? '';
  }

  private counted({ capture: { kept, dropped }, served = [] }: LiveFigures) {
    const alerting = served.flatMap(({ profile, name }) => ALERTING.map((outcome) => [profile, name, outcome, null]));
    const failing = withJobs(served.slice(0, MAX_RUN_ROUTES)).map(({ profile, name }) => [profile, name, 'failed']);
    return {
      requests_total: this.requests.samples(alerting),
      request_duration_seconds: this.seconds.samples(),
      previous_secret_requests_total: this.previous.samples(),
      requests_kept_total: [{ value: kept }],
      requests_not_kept_total: byLabel('reason', dropped),
      table_loads_total: this.loads.samples([['served'], ['refused']]),
      run_duration_seconds: this.runs.samples(failing),
      agent_runs_total: this.agentRuns.samples(),
      tokens_total: this.tokens.samples(),
      cost_total: this.cost.samples(),
      delivery_attempt_duration_seconds: this.attempts.samples(),
      retries_total: this.retries.samples(),
      outputs_total: this.outputs.samples(),
      superseded_total: this.superseded.samples(),
      finished_total: this.finished.samples(),
    };
  }
}

type Served = NonNullable<LiveFigures['served']>;

/** Adds an entry for each profile's runs without a route: jobs. */
const withJobs = (served: Served): Served => [
  ...served,
  ...[...new Set(served.map(({ profile }) => profile))].map((profile) => ({ profile, name: '' })),
];

const waitsOf = ({ session, agent }: WaitCounts) => ({ session, agent });

function gauges(live: LiveFigures) {
  const { version, generation, routes, subscriptions, quarantined, served = [], alerts = [], storeUp, stored } = live;
  const dispatches = new Totals('profile', 'route', 'state');
  for (const tally of stored?.tallies ?? [])
    for (const state of SHOWN_STATES) dispatches.addBy(tally[state], tally.profile, tally.route ?? '', state);
  const noneDead = stored === null ? [] : withJobs(served).map(({ profile, name }) => [profile, name, 'dead']);
  const active = ALERT_KINDS.map((kind) => [kind, alerts.filter((one) => one === kind).length]);
  return {
    build_info: [{ labels: { version }, value: 1 }],
    table_generation: [{ value: generation }],
    routes: byLabel('kind', { static: routes, subscription: subscriptions, quarantined }),
    work: byLabel('stage', stored?.work ?? {}),
    dispatches: dispatches.samples(noneDead),
    waiting_runs: stored === null ? [] : byLabel('cause', waitsOf(stored.waits)),
    busy_sessions: stored === null ? [] : [{ value: stored.waits.sessions }],
    oldest_open_dispatch_seconds: stored === null ? [] : [{ value: stored.oldestOpenSeconds }],
    alerts: byLabel('kind', Object.fromEntries(active)),
    store_up: [{ value: storeUp ? 1 : 0 }],
  };
}

/** Metrics of memory, CPU, event loop and garbage collection of this process, from now on. */
async function collectOfProcess(): Promise<Registry> {
  const { Registry, collectDefaultMetrics } = await import('prom-client');
  const register = new Registry();
  collectDefaultMetrics({ register });
  return register;
}
