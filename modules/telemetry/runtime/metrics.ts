/**
 * The gateway's metrics as Prometheus text: counters that are updated as things happen, and gauges that are read at each
 * scrape. prom-client is loaded at the first scrape, for the metrics of the process.
 */
import type { Registry } from 'prom-client';
import { ALERT_KINDS } from '../../../base/names.ts';
import type { DispatchObserver } from '../../../runtime/dispatch/dispatcher.ts';
import type { CountRequest } from '../../../runtime/intake/event-log.ts';
import type { FigureContext, LiveFigures, Metrics } from '../../../runtime/metrics/metrics.ts';
import type { WaitCounts } from '../../../runtime/store/named-waits.ts';
import { SHOWN_STATES } from '../../../runtime/store/states.ts';
import type { RequestTotals } from './series.ts';
import { byLabel, Durations, printMetric, REQUEST_SECONDS, recordFigures, Totals } from './series.ts';

/** Bucket bounds in seconds, for work that may take minutes. */
const WORK_SECONDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900];

/** Maximum number of routes with their own histogram; names of routes contain no bracket. */
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
  private readonly finished = new Totals('state');
  private ofProcess: Promise<Registry> | null = null;

  readonly onRequest: CountRequest = ({ profile, route, outcome, ignored, ms, secret }) => {
    this.requests.add(profile, route, outcome, ignored);
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
    finished: (_owner, state) => this.finished.add(state),
  };

  /** Requests to routes since the start, by outcome, and their durations in the buckets of `REQUEST_SECONDS`. */
  requestTotals(): RequestTotals {
    const byOutcome: Record<string, number> = {};
    for (const { labels, value } of this.requests.samples()) {
      const { route = '', outcome = '' } = labels ?? {};
      if (route !== '') byOutcome[outcome] = (byOutcome[outcome] ?? 0) + value;
    }
    return { byOutcome, durations: this.seconds.counts() };
  }

  requestCount(): number {
    return Object.values(this.requestTotals().byOutcome).reduce((sum, count) => sum + count, 0);
  }

  recordFigures(context: FigureContext): () => Promise<void> {
    return recordFigures({ ...context, totals: () => this.requestTotals() });
  }

  /** The text for a scraper. */
  async read(live: LiveFigures): Promise<{ readonly content_type: string; readonly text: string }> {
    this.ofProcess ??= collectOfProcess();
    const registry = await this.ofProcess;
    const own = [...this.counted(live), ...gauges(live)].map((metric) => printMetric(...metric));
    return { content_type: registry.contentType, text: [...own, await registry.metrics()].join('\n') };
  }

  /** Subscriptions are added and removed, so beyond a number of routes, runs are counted together. */
  private runRoute(profile: string, route: string | null): string {
    const key = JSON.stringify([profile, route]);
    if (!this.runRoutes.has(key) && this.runRoutes.size >= MAX_RUN_ROUTES) return OTHER_ROUTES;
    this.runRoutes.add(key);
    return route ?? '';
  }

  private counted({ capture: { kept, dropped }, served = [] }: LiveFigures): Metric[] {
    return [
      [
        'counter',
        'requests_total',
        'Requests by route and outcome, ignored requests also by reason. Without a route: requests to unknown paths.',
        this.requests.samples(
          served.flatMap(({ profile, name }) => ALERTING.map((outcome) => [profile, name, outcome, null])),
        ),
      ],
      ['histogram', 'request_duration_seconds', 'From request head to response.', this.seconds.samples()],
      [
        'counter',
        'previous_secret_requests_total',
        'Requests signed with a secret that has been replaced.',
        this.previous.samples(),
      ],
      ['counter', 'requests_kept_total', 'Captured requests.', [{ value: kept }]],
      [
        'counter',
        'requests_not_kept_total',
        'Requests that could not be captured: over the rate of the route, too many at once, or a failing disk. Their events are not affected.',
        byLabel('reason', dropped),
      ],
      [
        'counter',
        'table_loads_total',
        'Table loads by result: served or refused.',
        this.loads.samples([['served'], ['refused']]),
      ],
      [
        'histogram',
        'run_duration_seconds',
        `Agent runs by route and outcome. Without a route: runs of jobs without an event. Beyond ${MAX_RUN_ROUTES} routes: ${OTHER_ROUTES}.`,
        this.runs.samples(
          withJobs(served.slice(0, MAX_RUN_ROUTES)).map(({ profile, name }) => [profile, name, 'failed']),
        ),
      ],
      ['counter', 'agent_runs_total', 'Runs of named agents by outcome.', this.agentRuns.samples()],
      [
        'counter',
        'tokens_total',
        'Tokens that agent runs reported, by route and kind (input or output).',
        this.tokens.samples(),
      ],
      [
        'counter',
        'cost_total',
        'Cost that agent runs reported, by route, in the unit of the agents.',
        this.cost.samples(),
      ],
      [
        'histogram',
        'delivery_attempt_duration_seconds',
        'Delivery attempts by target and outcome.',
        this.attempts.samples(),
      ],
      ['counter', 'retries_total', 'Scheduled retries of runs and deliveries.', this.retries.samples()],
      ['counter', 'outputs_total', 'Outputs of agents by result: accepted or dropped.', this.outputs.samples()],
      ['counter', 'finished_total', 'Finished dispatches by final state.', this.finished.samples()],
    ];
  }
}

type Served = NonNullable<LiveFigures['served']>;

/** Adds an entry for each profile's runs without a route: jobs. */
const withJobs = (served: Served): Served => [
  ...served,
  ...[...new Set(served.map(({ profile }) => profile))].map((profile) => ({ profile, name: '' })),
];

type Metric = Parameters<typeof printMetric>;

const waitsOf = ({ session, agent }: WaitCounts) => ({ session, agent });

function gauges({
  version,
  generation,
  routes,
  subscriptions,
  quarantined,
  served = [],
  alerts = [],
  storeUp,
  stored,
}: LiveFigures): Metric[] {
  const kinds = { static: routes, subscription: subscriptions, quarantined };
  const dispatches = new Totals('profile', 'route', 'state');
  for (const tally of stored?.tallies ?? [])
    for (const state of SHOWN_STATES) dispatches.addBy(tally[state], tally.profile, tally.route ?? '', state);
  const noneDead = stored === null ? [] : withJobs(served).map(({ profile, name }) => [profile, name, 'dead']);
  const oldest = stored === null ? [] : [{ value: stored.oldestOpenSeconds }];
  return [
    ['gauge', 'build_info', 'Always 1; the label has the version.', [{ labels: { version }, value: 1 }]],
    ['gauge', 'table_generation', 'Tables served since the start.', [{ value: generation }]],
    ['gauge', 'routes', 'Routes in service, by where they are defined.', byLabel('kind', kinds)],
    [
      'gauge',
      'work',
      'Runs and deliveries that have not ended, by stage. Those that wait are counted over all gateways.',
      byLabel('stage', stored?.work ?? {}),
    ],
    ['gauge', 'dispatches', 'Dispatches since the store was created, by state.', dispatches.samples(noneDead)],
    [
      'gauge',
      'waiting_runs',
      'Runs that wait for their turn in a session or for another run of their agent, over all gateways.',
      byLabel('cause', stored === null ? {} : waitsOf(stored.waits)),
    ],
    [
      'gauge',
      'busy_sessions',
      'Sessions with a waiting or active run, over all gateways.',
      stored === null ? [] : [{ value: stored.waits.sessions }],
    ],
    ['gauge', 'oldest_open_dispatch_seconds', 'Age of the oldest unfinished dispatch.', oldest],
    [
      'gauge',
      'alerts',
      'Active alerts by kind.',
      byLabel(
        'kind',
        Object.fromEntries(ALERT_KINDS.map((kind) => [kind, alerts.filter((one) => one === kind).length])),
      ),
    ],
    ['gauge', 'store_up', '1: the store accepts new events; 0: new events get 503.', [{ value: storeUp ? 1 : 0 }]],
  ];
}

/** Metrics of memory, CPU, event loop and garbage collection of this process, from now on. */
async function collectOfProcess(): Promise<Registry> {
  const { Registry, collectDefaultMetrics } = await import('prom-client');
  const register = new Registry();
  collectDefaultMetrics({ register });
  return register;
}
