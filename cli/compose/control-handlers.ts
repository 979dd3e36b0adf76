/** What the running gateway answers on its control socket. */
import type { ControlHandlers, GatewayStatus, StopReport } from '../../runtime/control/operations.ts';
import type { Gateway } from '../../runtime/gateway-options.ts';
import type { LateMetrics } from '../../runtime/metrics/late-metrics.ts';
import type { LiveFigures } from '../../runtime/metrics/metrics.ts';
import type { CliContext } from '../context.ts';
import { packageVersion } from '../package-version.ts';
import type { Reloader } from './reloader.ts';
import type { Work } from './work.ts';

export interface ControlParts {
  readonly context: CliContext;
  readonly gateway: Gateway;
  readonly work: Work;
  readonly metrics: LateMetrics;
  readonly reloader: Reloader;
  readonly stop: (drainSeconds?: number) => Promise<StopReport>;
  readonly tableFile: string;
  readonly logFile: string | null;
  readonly url: string;
}

export function createControlHandlers(parts: ControlParts): ControlHandlers {
  const startedAt = parts.context.clock.now();
  return {
    status: () => statusOf(parts, startedAt),
    stop: ({ drain_seconds }) => parts.stop(drain_seconds),
    reload: () => parts.reloader.reload(),
    metrics: () => parts.metrics.read(figuresOf(parts)),
  };
}

function statusOf(
  { context, gateway, work, reloader, tableFile, logFile, url }: ControlParts,
  startedAt: number,
): GatewayStatus {
  const { state, table, subscriptions } = gateway.status();
  const { runs_active, runs_queued } = work.counts();
  return {
    pid: context.pid,
    version: packageVersion(),
    url,
    started_at: startedAt,
    state,
    log_file: logFile,
    table: {
      file: tableFile,
      hash: table.hash,
      loaded_at: table.loadedAt,
      routes: table.routes,
      error: reloader.error ?? table.error,
    },
    subscriptions,
    runs: { active: runs_active, queued: runs_queued },
  };
}

function figuresOf({ gateway, work }: ControlParts): LiveFigures {
  const { table, subscriptions } = gateway.status();
  return {
    generation: table.generation,
    routes: table.routes,
    subscriptions: subscriptions.serving,
    quarantined: subscriptions.quarantined.length,
    work: { ...work.counts() },
    tallies: work.tallies(),
    oldestOpenSeconds: work.oldestOpenMs() / 1000,
  };
}
