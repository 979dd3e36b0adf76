/**
 * The life of a gateway process: takes the home, loads, listens, answers on the control socket, reloads, drains, ends.
 * What prevents its start before it listens is one clear refusal; afterwards the old table stays in service.
 */
import { rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { ControlError } from '../../runtime/control/control-error.ts';
import type { ControlServer } from '../../runtime/control/control-server.ts';
import { serveControl } from '../../runtime/control/control-server.ts';
import type { ControlHandlers } from '../../runtime/control/operations.ts';
import type { Redactor } from '../../runtime/deliver/redact/redact.ts';
import type { StopResult } from '../../runtime/dispatch/dispatcher.ts';
import { ListenError } from '../../runtime/intake/server.ts';
import { describeDiskError } from '../../runtime/platform/describe-disk-error.ts';
import type { Logger } from '../../runtime/platform/log.ts';
import type { ProcessLogger } from '../../runtime/platform/logger.ts';
import { writeAtomic } from '../../runtime/platform/write-atomic.ts';
import { StoreRefused } from '../../runtime/store/store.ts';
import { TableError } from '../../runtime/table/load.ts';
import type { RouteTable } from '../../schemas/generated/types.ts';
import type { CliContext } from '../base/context.ts';
import { CliError, refusalOf } from '../base/errors.ts';
import type { GatewayInfo } from '../gateway/ask-gateway.ts';
import { pathsOf } from '../gateway/ask-gateway.ts';
import type { ControlParts } from './control-handlers.ts';
import { createControlHandlers, loadOperations } from './control-handlers.ts';
import type { OpenedService } from './open-service.ts';
import { openService } from './open-service.ts';
import { takeHome, takeLater } from './read-only-home.ts';
import type { RecompileReport, RecompileRequest } from './recompile.ts';
import type { ConfigState } from './reloader.ts';
import { Reloader } from './reloader.ts';

export interface ServeRequest {
  /** Folder of the compiled tables. */
  readonly folder: string;
  readonly host: string | undefined;
  readonly port: number | undefined;
  /** Where this process's output goes, when it runs in the background. */
  readonly logFile: string | null;
  readonly log: ProcessLogger;
  /** The one that `log` goes through. */
  readonly redactor: Redactor;
  /** How to recompile, and the compile it starts from; null: only the tables are watched. */
  readonly recompile: { readonly request: () => Promise<RecompileRequest>; readonly first: RecompileReport } | null;
  /** Why the folder does not have the newest table; null when it has. */
  readonly problem?: () => string | null;
}

/** Serves until it is stopped. @returns 0, or 1 when work had to be interrupted */
export async function serveGateway(context: CliContext, request: ServeRequest): Promise<number> {
  const lock = takeHome(context);
  try {
    const state: ConfigState = { error: null, files: request.recompile?.first.files ?? [] };
    const problem = (): string | null => state.error ?? request.problem?.() ?? null;
    const opened = await openService(context, {
      ...request,
      hidden: () => state.files.map((file) => resolve(context.cwd, file)),
      problem,
    });
    const { service } = opened;
    const reloader = new Reloader({ context, service, state, log: request.log, recompile: request.recompile });
    try {
      return await serve(context, request, opened, { reloader, problem, isReadOnlyHome: lock === null });
    } finally {
      reloader.stop();
      await service.stop({ drainMs: 0 });
    }
  } catch (error) {
    throw refusal(error);
  } finally {
    lock?.release();
  }
}

interface Serving {
  readonly reloader: Reloader;
  readonly problem: () => string | null;
  readonly isReadOnlyHome: boolean;
}

async function serve(
  context: CliContext,
  { log, logFile, recompile }: ServeRequest,
  { service, tableFile, enabled }: OpenedService,
  { reloader, problem, isReadOnlyHome }: Serving,
): Promise<number> {
  if (!enabled) throw switchedOff();
  const ending = createEnding(context, {
    drain: (seconds) => service.stop(seconds === undefined ? {} : { drainMs: seconds * 1000 }),
    reload: () => void reloader.reload(),
    abort: () => {
      log.flush();
      context.exit(130);
    },
  });
  const { stop } = ending;
  const parts: ControlParts = {
    ...{ context, service, tableFile, reloader, stop, logFile, problem },
    config: recompile?.first.root ?? null,
    get url() {
      return service.publicUrl ?? '';
    },
  };
  const operations = createControlHandlers(parts, await loadOperations(context));
  const { url } = await service.listen({}, operations);
  ending.heedSignals();
  const open = (): Promise<ControlServer> => openControl(parts, operations, log);
  const waiting = { clock: context.clock, log, take: () => takeHome(context), openControl: open };
  const control = isReadOnlyHome ? takeLater({ ...waiting, refused: () => void stop(0) }) : await open();
  announce(log, service.table, url);
  const report = await ending.ended;
  reloader.stop();
  await control.close();
  return report.drained ? 0 : 1;
}

async function openControl(
  { context, url, logFile, config }: ControlParts,
  handlers: ControlHandlers,
  log: Logger,
): Promise<ControlServer> {
  const { socket, info } = pathsOf(context);
  // A killed gateway's note must not name the process that answers now.
  rmSync(info, { force: true });
  const server = await serveControl(socket, handlers, log);
  const note: GatewayInfo = { pid: context.pid, url, log_file: logFile, config };
  try {
    writeAtomic(info, `${JSON.stringify(note)}\n`, 0o600);
  } catch (error) {
    log.warn({ reason: describeDiskError(error) }, `cannot write ${info}: other commands cannot name this process`);
  }
  return {
    close: async () => {
      await server.close();
      rmSync(info, { force: true });
    },
  };
}

interface Ending {
  readonly ended: Promise<StopResult>;
  readonly stop: (drainSeconds?: number) => Promise<StopResult>;
  /** Call once it listens: before, a signal ends the process as it ends any. */
  readonly heedSignals: () => void;
}

interface EndingActions {
  readonly drain: Ending['stop'];
  readonly reload: () => void;
  readonly abort: () => void;
}

/** A signal drains, a second one does not wait. SIGHUP reloads what runs in the background. */
function createEnding(context: CliContext, { drain, reload, abort }: EndingActions): Ending {
  let stopping: Promise<StopResult> | null = null;
  let resolve: (report: Promise<StopResult>) => void = () => {};
  const ended = new Promise<StopResult>((settle) => {
    resolve = settle;
  });
  const stop: Ending['stop'] = (drainSeconds) => {
    stopping ??= drain(drainSeconds);
    resolve(stopping);
    return stopping;
  };
  const heedSignals = (): void => {
    const unlisten = context.onSignal((signal) => {
      if (signal === 'SIGHUP' && context.stdin.isTTY !== true) reload();
      else if (stopping === null) void stop();
      else abort();
    });
    void ended.finally(unlisten);
  };
  return { ended, stop, heedSignals };
}

function announce(log: Logger, table: RouteTable, url: string): void {
  log.info({ url, routes: Object.keys(table.routes).length }, 'listening');
  const routes = Object.values(table.routes);
  const open = routes.filter(({ insecure }) => insecure).map(({ name }) => name);
  if (open.length > 0)
    log.warn({ open }, 'anyone on this machine can post to these routes: their signatures are not checked');
  const idle = Object.values(table.profiles).filter(
    ({ name, agent }) =>
      agent.kind === 'preview' &&
      routes.some((route) => route.profile === name && route.mode === 'agent' && route.agent === null),
  );
  for (const { name } of idle)
    log.warn({ profile: name }, 'no agent is configured: prompts are answered with themselves');
}

function switchedOff(): CliError {
  return new CliError(
    'webhooks are switched off',
    'set platforms.webhook.enabled: true in the configuration, or WEBHOOK_ENABLED=true in the environment',
  );
}

/** What may prevent a start, as the refusal to print; anything else is a bug and stays what it is. */
function refusal(error: unknown): unknown {
  if (error instanceof ControlError) return new CliError(error.message);
  if (!(error instanceof TableError || error instanceof ListenError || error instanceof StoreRefused)) return error;
  return refusalOf(error);
}
