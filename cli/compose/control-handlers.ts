/** What the running gateway answers on its control socket. */
import { ControlError } from '../../runtime/control/control-error.ts';
import type { ControlHandlers, EnrollReport, GatewayStatus, StopReport } from '../../runtime/control/operations.ts';
import { createStoreHandlers } from '../../runtime/control/store-operations.ts';
import type { Gateway } from '../../runtime/gateway-options.ts';
import type { LateMetrics } from '../../runtime/metrics/late-metrics.ts';
import type { LiveFigures } from '../../runtime/metrics/metrics.ts';
import type { Enrolments } from '../../runtime/verify/enrolment.ts';
import type { CliContext } from '../context.ts';
import { packageVersion } from '../package-version.ts';
import { createBlueprintJobs } from './blueprint-jobs.ts';
import type { Reloader } from './reloader.ts';
import type { Work } from './work.ts';

export interface ControlParts {
  readonly context: CliContext;
  readonly gateway: Gateway;
  readonly work: Work;
  readonly metrics: LateMetrics;
  readonly enrolments: Enrolments;
  readonly reloader: Reloader;
  readonly stop: (drainSeconds?: number) => Promise<StopReport>;
  readonly tableFile: string;
  readonly logFile: string | null;
  readonly config: string | null;
  readonly url: string;
}

export function createControlHandlers(parts: ControlParts): ControlHandlers {
  const startedAt = parts.context.clock.now();
  return {
    status: () => statusOf(parts, startedAt),
    stop: ({ drain_seconds }) => parts.stop(drain_seconds),
    reload: () => parts.reloader.reload(),
    enroll: (input) => enroll(parts, input),
    create_blueprint_job: createBlueprintJobs(parts.context, parts.work),
    metrics: async () => parts.metrics.read(await figuresOf(parts)),
    ...createStoreHandlers(
      () => parts.work.forJobs.store,
      () => parts.work.changed(),
    ),
  };
}

/** One turn of waiting, in ms: short, because a stop waits for it. */
const ENROLL_TURN_MS = 2000;

/** A captured secret counts at once: the sender's first event may be on its way. */
async function enroll(
  { enrolments, gateway }: ControlParts,
  { profile, route }: { readonly profile: string; readonly route: string },
): Promise<EnrollReport> {
  if (typeof profile !== 'string' || typeof route !== 'string') {
    throw new ControlError('refused', '`profile` and `route` are texts');
  }
  const captured = await enrolments.wait(profile, route, ENROLL_TURN_MS);
  if (captured === null) return { kind: 'waiting', file: null, reason: null };
  if (captured.kind === 'failed') return { kind: 'failed', file: null, reason: captured.reason };
  await gateway.reload(true);
  return { kind: 'stored', file: captured.file, reason: null };
}

async function statusOf(
  { context, gateway, work, reloader, tableFile, logFile, config, url }: ControlParts,
  startedAt: number,
): Promise<GatewayStatus> {
  const { state, table, subscriptions } = gateway.status();
  const [{ runs_active, runs_queued }, dispatches, store] = await Promise.all([
    work.counts(),
    work.dispatches(),
    work.storeStatus(),
  ]);
  return {
    pid: context.pid,
    version: packageVersion(),
    url,
    started_at: startedAt,
    state,
    log_file: logFile,
    config,
    table: {
      file: tableFile,
      hash: table.hash,
      generation: table.generation,
      loaded_at: table.loadedAt,
      routes: table.routes,
      error: reloader.error ?? table.error,
    },
    subscriptions,
    runs: { active: runs_active, queued: runs_queued },
    dispatches,
    store,
  };
}

async function figuresOf({ gateway, work }: ControlParts): Promise<LiveFigures> {
  const { table, subscriptions } = gateway.status();
  return {
    generation: table.generation,
    routes: table.routes,
    subscriptions: subscriptions.serving,
    quarantined: subscriptions.quarantined.length,
    work: { ...(await work.counts()) },
    ...(await work.figures()),
  };
}
