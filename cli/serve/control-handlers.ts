/** What the running gateway answers on its control socket. */

import type { ControlHandlers, GatewayStatus } from '../../runtime/control/operations.ts';
import { createStoreHandlers } from '../../runtime/control/store-operations.ts';
import { answerApproval, findApproval, listApprovals } from '../../runtime/dispatch/approvals.ts';
import type { StopResult } from '../../runtime/dispatch/dispatcher.ts';
import type { Service } from '../../runtime/service/service.ts';
import type { CliContext } from '../base/context.ts';
import { loadPart } from '../base/module.ts';
import { packageVersion } from '../base/package.ts';
import type { Reloader } from './reloader.ts';

export interface ControlParts {
  readonly context: CliContext;
  readonly service: Service;
  readonly reloader: Reloader;
  readonly stop: (drainSeconds?: number) => Promise<StopResult>;
  readonly tableFile: string;
  readonly logFile: string | null;
  readonly config: string | null;
  readonly url: string;
  /** Why the folder of the table does not have the newest one. */
  readonly problem: () => string | null;
}

export function createControlHandlers(parts: ControlParts): ControlHandlers {
  const { context, service, reloader, stop } = parts;
  return {
    ping: () => ({ pid: context.pid }),
    status: () => statusOf(parts),
    stop: ({ drain_seconds }) => stop(drain_seconds),
    reload: ({ fail_on }) => reloader.reload(fail_on),
    enroll: (input) => service.enroll(input),
    create_blueprint_job: async (request) =>
      (await loadPart(context.modules, 'blueprintJobs'))(context, service)(request),
    requests_list: async ({ filter, page }) => (await service.requests()).list(filter, page),
    requests_load: async ({ id }) => (await service.requests()).load(id),
    requests_replay: ({ id }) => service.replay(id),
    alerts_test: async () => ({ dispatch: await service.testAlerts() }),
    routes_list: async () =>
      (await import('./served-reports.ts')).reportRoutes(service, { url: parts.url, now: context.clock.now() }),
    jobs_list: async (asked) => (await import('./served-reports.ts')).reportJobs(context, service, asked),
    approvals_list: () => listApprovals(service.store),
    approvals_show: ({ id }) => findApproval(service.store, id),
    approvals_answer: async ({ id, ...answer }) => {
      const answered = await answerApproval(service.store, id, answer, context.clock.now());
      service.changed();
      return answered;
    },
    route_test: async (asked) => (await operations()).testRoute(parts, asked),
    job_run: async (asked) => (await operations()).runJob(parts, asked),
    deliveries_replay: async (asked) => (await operations()).replayDeliveries(parts, asked),
    request_explain: async ({ id }) => (await operations()).explainKept(parts, id),
    request_print: async ({ id, form }) => (await operations()).printKept(parts, id, form),
    chats_list: async ({ profile }) => (await operations()).listChats(parts, profile),
    blueprints_list: async () => (await operations()).listBlueprints(parts),
    metrics: () => service.metrics(),
    ...createStoreHandlers(
      () => service.store,
      () => service.changed(),
    ),
  };
}

/** Loaded with the first that is called: the compiler is part of it. */
const operations = () => import('./console-operations.ts');

async function statusOf(parts: ControlParts): Promise<GatewayStatus> {
  const { context, reloader, tableFile, logFile, config, url } = parts;
  const { console, state, startedAt, table, subscriptions, runs, dispatches, paused, store, alerts } =
    await parts.service.status();
  return {
    pid: context.pid,
    version: packageVersion(),
    url,
    console,
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
      error: reloader.error ?? parts.problem() ?? table.error,
    },
    subscriptions,
    runs,
    dispatches,
    paused,
    store,
    alerts,
  };
}
