/** What the running gateway answers on its control socket. */

import { ControlError } from '../../runtime/control/control-error.ts';
import type { ControlHandlers, FailOn, GatewayStatus } from '../../runtime/control/operations.ts';
import { FAIL_ON } from '../../runtime/control/operations.ts';
import { createStoreHandlers } from '../../runtime/control/store-operations.ts';
import type { StopResult } from '../../runtime/dispatch/dispatcher.ts';
import type { Service } from '../../runtime/service/options.ts';
import type { CliContext } from '../base/context.ts';
import { packageVersion } from '../base/package.ts';
import { createBlueprintJobs } from './blueprint-jobs.ts';
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
}

export function createControlHandlers(parts: ControlParts): ControlHandlers {
  const { context, service, reloader, stop } = parts;
  return {
    ping: () => ({ pid: context.pid }),
    status: () => statusOf(parts),
    stop: ({ drain_seconds }) => stop(drain_seconds),
    reload: ({ fail_on }) => reloader.reload(fail_on === undefined ? undefined : failOnOf(fail_on)),
    enroll: (input) => {
      if (typeof input.profile !== 'string' || typeof input.route !== 'string') {
        throw new ControlError('refused', '`profile` and `route` are texts');
      }
      return service.enroll(input);
    },
    create_blueprint_job: createBlueprintJobs(context, service),
    requests_list: async ({ filter, page }) => (await service.requests()).list(filter, page),
    requests_load: async ({ id }) => (await service.requests()).load(id),
    requests_replay: ({ id }) => service.replay(id),
    metrics: () => service.metrics(),
    ...createStoreHandlers(
      () => service.store,
      () => service.changed(),
    ),
  };
}

/** What other programs send is validated. */
function failOnOf(named: unknown): readonly FailOn[] {
  if (!Array.isArray(named)) throw new ControlError('refused', '`fail_on` is a list');
  return FAIL_ON.filter((each) => named.includes(each));
}

async function statusOf(parts: ControlParts): Promise<GatewayStatus> {
  const { context, reloader, tableFile, logFile, config, url } = parts;
  const { console, state, startedAt, table, subscriptions, runs, dispatches, store } = await parts.service.status();
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
      error: reloader.error ?? table.error,
    },
    subscriptions,
    runs,
    dispatches,
    store,
  };
}
