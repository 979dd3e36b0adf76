/** What the running gateway answers on its control socket. */

import type { ControlHandlers, GatewayStatus } from '../../runtime/control/operations.ts';
import { createStoreHandlers } from '../../runtime/control/store-operations.ts';
import type { StopResult } from '../../runtime/dispatch/dispatcher.ts';
import type { CliContext } from '../base/context.ts';
import type { ServedGateway } from '../base/module.ts';
import { packageVersion } from '../base/package.ts';
import type { Reloader } from './reloader.ts';

export interface ControlParts extends ServedGateway<CliContext> {
  readonly reloader: Reloader;
  readonly stop: (drainSeconds?: number) => Promise<StopResult>;
  readonly tableFile: string;
  readonly logFile: string | null;
  readonly config: string | null;
  /** Why the newest configuration is not in service. */
  readonly problem: () => string | null;
}

type CreateOperations = (gateway: ServedGateway<CliContext>) => ControlHandlers;

export const loadOperations = ({ modules }: CliContext): Promise<readonly CreateOperations[]> =>
  Promise.all(modules.flatMap(({ operations }) => operations?.() ?? []));

/** @param ofModules see `loadOperations` */
export function createControlHandlers(parts: ControlParts, ofModules: readonly CreateOperations[]): ControlHandlers {
  const { context, service, reloader, stop } = parts;
  const ofCore: ControlHandlers = {
    ping: () => ({ pid: context.pid }),
    status: () => statusOf(parts),
    stop: ({ drain_seconds }) => stop(drain_seconds),
    reload: ({ fail_on }) => reloader.reload(fail_on),
    enroll: (input) => service.enroll(input),
    requests_list: async ({ filter, page }) => (await service.requests()).list(filter, page),
    requests_load: async ({ id }) => (await service.requests()).load(id),
    requests_replay: ({ id }) => service.replay(id),
    alerts_test: async () => ({ dispatch: await service.testAlerts() }),
    metrics: () => service.metrics(),
    ...createStoreHandlers(
      () => service.store,
      () => service.changed(),
    ),
  };
  return Object.assign(ofCore, ...ofModules.map((create) => create(parts)));
}

async function statusOf(parts: ControlParts): Promise<GatewayStatus> {
  const { context, tableFile, logFile, config, url } = parts;
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
      error: parts.problem() ?? table.error,
    },
    subscriptions,
    runs,
    dispatches,
    paused,
    store,
    alerts,
  };
}
