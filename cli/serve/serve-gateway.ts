/**
 * Runs a gateway process: locks the home, loads the table, listens, answers on the control socket, reloads, drains and ends.
 * An error before it listens prevents the start; after that, the old table stays in service.
 */
import { rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { messageOf } from '../../base/errors.ts';
import { isLoopback } from '../../base/net.ts';
import { invalidVariables, readOverrides } from '../../compiler/config/settings.ts';
import { nodeFiles } from '../../compiler/node/node-files.ts';
import { loadEnvFile, loadProjectEnv, mergeEnv } from '../../compiler/source/load-env.ts';
import { MAKE_A_SECRET, refusedValue } from '../../compiler/text/placeholders.ts';
import { isSecretName } from '../../compiler/text/secret-ref.ts';
import { createStoreHandlers } from '../../runtime/control/control-client.ts';
import { ControlError } from '../../runtime/control/control-error.ts';
import type { ControlServer } from '../../runtime/control/control-server.ts';
import { serveControl } from '../../runtime/control/control-server.ts';
import type { ControlHandlers, HandlersOf } from '../../runtime/control/operations.ts';
import { logged } from '../../runtime/control/operations.ts';
import type { Redactor } from '../../runtime/deliver/redact.ts';
import { ListenError } from '../../runtime/intake/server.ts';
import { systemClock } from '../../runtime/platform/clock.ts';
import { describeDiskError, writeAtomic } from '../../runtime/platform/files.ts';
import { Lazy } from '../../runtime/platform/lazy.ts';
import type { Logger } from '../../runtime/platform/log.ts';
import type { ProcessLogger } from '../../runtime/platform/logger.ts';
import type { SecretResolver } from '../../runtime/platform/secrets.ts';
import { printSecretRef, SecretError } from '../../runtime/platform/secrets.ts';
import type { OperatedService, ProgramOptions } from '../../runtime/service/options.ts';
import { createService } from '../../runtime/service/service.ts';
import { StoreRefused } from '../../runtime/store/contract.ts';
import { TableError } from '../../runtime/table/table-source.ts';
import type { GatewayStatus, StopResult } from '../../schemas/built/operations/types.ts';
import type { RouteTable } from '../../schemas/generated/types.ts';
import type { CliContext } from '../base/context.ts';
import { packageVersion } from '../base/context.ts';
import { CliError, refusalOf } from '../base/errors.ts';
import type { ServedGateway } from '../base/module.ts';
import { runtimeParts } from '../base/module.ts';
import type { GatewayInfo } from '../gateway/ask-gateway.ts';
import { pathsOf } from '../gateway/ask-gateway.ts';
import { copyOf } from './last-good.ts';
import type { RecompileReport, RecompileRequest } from './recompile.ts';
import type { ConfigState } from './reloader.ts';
import { Reloader } from './reloader.ts';
import { lockLater, takeHome } from './take-home.ts';

interface ServeRequest {
  /** The folder of the compiled tables. */
  readonly folder: string;
  /** Options override the environment, which overrides the table. */
  readonly host: string | undefined;
  readonly port: number | undefined;
  /** The file of this process's output in the background. */
  readonly logFile: string | null;
  readonly log: ProcessLogger;
  /** The redactor of `log`. */
  readonly redactor: Redactor;
  /** How to recompile, and the first compile; null to only watch the tables. */
  readonly recompile: { readonly request: () => Promise<RecompileRequest>; readonly first: RecompileReport } | null;
  /** The table to serve if the configuration cannot be served; null: the start fails. */
  readonly lastGood: string | null;
}

/** The exit code after an internal error: EX_SOFTWARE of sysexits.h. */
const FAILED = 70;

/** Serves until it is stopped. @returns 0, 1 if work was interrupted, or `FAILED` */
export async function serveGateway(context: CliContext, request: ServeRequest): Promise<number> {
  const lock = takeHome(context);
  try {
    const first = request.recompile?.first ?? null;
    const state: ConfigState = { error: first?.problem ?? null, files: first?.files ?? [] };
    const opened = await openFirst(context, state, {
      ...request,
      hidden: () => state.files.map((file) => resolve(context.cwd, file)),
      problem: () => state.error,
      ...(first && { servedCopy: copyOf(context, first.root) }),
    });
    const { service } = opened;
    const reloader = new Reloader({ context, service, state, log: request.log, recompile: request.recompile });
    try {
      return await serve(context, request, { ...opened, reloader, isReadOnlyHome: lock === null });
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

interface Serving extends OpenedService {
  readonly reloader: Reloader;
  readonly isReadOnlyHome: boolean;
}

async function serve(
  context: CliContext,
  { log, logFile, recompile }: ServeRequest,
  { service, tableFile, enabled, reloader, isReadOnlyHome }: Serving,
): Promise<number> {
  if (!enabled) {
    const hint = 'set platforms.webhook.enabled: true in the configuration, or WEBHOOK_ENABLED=true in the environment';
    throw new CliError('webhooks are disabled', hint);
  }
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
    context,
    service,
    tableFile,
    reloader,
    stop,
    logFile,
    config: recompile?.first.root ?? null,
    get url() {
      return service.publicUrl ?? '';
    },
  };
  const operations = logged(createControlHandlers(parts, await loadOperations(context)), log);
  const { url } = await service.listen({}, operations);
  ending.heedSignals();
  let hasFailed = false;
  // Running programs are ended; their work runs again after the next start.
  service.on('failed', () => {
    hasFailed = true;
    void stop(0);
  });
  const open = (): Promise<ControlServer> => openControl(parts, operations, log);
  const control = isReadOnlyHome ? lockLater(context, log, open, () => void stop(0)) : await open();
  announce(log, service.table, url);
  const report = await ending.ended;
  reloader.stop();
  await control.close();
  return hasFailed ? FAILED : report.drained ? 0 : 1;
}

async function openControl(
  { context, url, logFile, config }: ControlParts,
  handlers: ControlHandlers,
  log: Logger,
): Promise<ControlServer> {
  const { socket, info } = pathsOf(context);
  // Removes the note of a killed gateway, which names another process.
  rmSync(info, { force: true });
  const server = await serveControl(socket, handlers, log);
  const note: GatewayInfo = { pid: context.pid, url, log_file: logFile, config };
  try {
    writeAtomic(info, `${JSON.stringify(note)}\n`, 0o600);
  } catch (error) {
    log.warn(
      { reason: describeDiskError(error) },
      `cannot write ${info}; other commands cannot find the pid of this gateway`,
    );
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
  /** Call once the server listens; until then a signal ends the process at once. */
  readonly heedSignals: () => void;
}

interface EndingActions {
  readonly drain: Ending['stop'];
  readonly reload: () => void;
  readonly abort: () => void;
}

/** A signal drains; a second one exits at once. SIGHUP reloads a background gateway. */
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
    log.warn({ open }, 'these routes do not check signatures: anyone on this machine can post to them');
  const idle = Object.values(table.profiles).filter(
    ({ name, agent }) =>
      agent.kind === 'preview' &&
      routes.some((route) => route.profile === name && route.mode === 'agent' && route.agent === null),
  );
  for (const { name } of idle) log.warn({ profile: name }, 'no agent is configured: each answer is the prompt itself');
}

/** Converts expected start errors to the error to print. Anything else is a bug and returned unchanged. */
function refusal(error: unknown): unknown {
  if (error instanceof ControlError) return new CliError(error.message);
  if (!(error instanceof TableError || error instanceof ListenError || error instanceof StoreRefused)) return error;
  return refusalOf(error);
}

/** Options for the service of this process, from the command line and the environment. */
interface OpenServiceOptions extends ServeRequest, Pick<ProgramOptions, 'firstTable' | 'servedCopy'> {
  /** Why the newest configuration is not in service, or null. */
  readonly problem: () => string | null;
  /** Absolute paths of the configuration's files. */
  readonly hidden: () => readonly string[];
}

interface OpenedService {
  readonly service: OperatedService;
  /** Absolute path of routes.json. */
  readonly tableFile: string;
  /** Whether webhooks are enabled, by table or environment. */
  readonly enabled: boolean;
}

/** Hides the tables from programs, because the gateway would serve what they write. A folder that also has the configuration is not hidden as a whole. */
function withTables(files: readonly string[], folder: string, cwd: string): readonly string[] {
  const built = resolve(folder);
  return [cwd, ...files.map((file) => dirname(file))].includes(built) ? files : [...files, built];
}

/** Opens the service with the newest table or, if that cannot be served, with the table that was served last. */
async function openFirst(context: CliContext, state: ConfigState, options: OpenServiceOptions): Promise<OpenedService> {
  const { lastGood, log } = options;
  try {
    if (state.error !== null) throw new CliError('not started: the configuration has errors');
    return await openService(context, options);
  } catch (error) {
    if (lastGood === null || (state.error === null && !(error instanceof TableError))) throw error;
    state.error ??= messageOf(error);
    const opened = await openService(context, { ...options, firstTable: lastGood }).catch((failed: unknown) => {
      log.warn({ reason: messageOf(failed) }, 'the table that was served last cannot be served');
      throw failed instanceof TableError ? error : failed;
    });
    log.error({ reason: state.error }, 'the configuration was rejected; the table that was served last is in service');
    return opened;
  }
}

/** Rejects as `createService`, and with CliError for an invalid environment. */
async function openService(context: CliContext, options: OpenServiceOptions): Promise<OpenedService> {
  const { home, env, clock, timezone, random } = context;
  const { folder, log, redactor, problem, hidden, firstTable, servedCopy } = options;
  const overrides = overridesOf(context, options);
  const tableFile = join(folder, 'routes.json');
  const lowerer = new Lazy(async () => (await import('./recompile.ts')).subscriptionLowerer(context));
  const { host, port } = overrides;
  const service = await createService(
    {
      home,
      env,
      log,
      timezone,
      random,
      // By default, a service with a shared database uses the clock of the database.
      clock: clock === systemClock ? undefined : clock,
      table: { file: tableFile },
      host: host ?? undefined,
      port: port ?? undefined,
    },
    runtimeParts(context.modules),
    {
      redactor,
      problem,
      firstTable,
      servedCopy,
      hidden: () => withTables(hidden(), folder, context.cwd),
      projectEnv: context.projectEnv,
      version: packageVersion(),
      lowerSubscriptions: async (...asked) => (await lowerer.use())(...asked),
      checkSecrets: (secrets, at) => refusePlaceholders(secrets, host ?? at),
      onSecretsRead: context.forgetVariables,
    },
  );
  return { service, tableFile, enabled: overrides.enabled ?? service.table.server.enabled };
}

function overridesOf(
  { home, cwd, env, projectEnv }: CliContext,
  { host, port }: OpenServiceOptions,
): ReturnType<typeof readOverrides> {
  const project = loadProjectEnv(nodeFiles, projectEnv, cwd).values;
  const variables = mergeEnv(env, loadEnvFile(nodeFiles, home, cwd).values, project);
  const [first, ...others] = invalidVariables((name) => variables.get(name));
  if (first !== undefined) throw new CliError(first, ...others);
  return readOverrides(variables, { host, port });
}

/**
 * Applies the rule `secret-placeholder` to secrets that the compiler did not see: files, variables, hand-written tables.
 * @param host the bind address
 */
function refusePlaceholders(secrets: SecretResolver, host: string): SecretResolver {
  return {
    resolve(ref, setting) {
      const value = secrets.resolve(ref, setting);
      if (setting !== undefined && !isSecretName(setting)) return value;
      // A literal from an example is rejected on every host.
      const reason = refusedValue(value, isLoopback(host) && ref.kind !== 'literal', setting === undefined);
      if (reason === null) return value;
      throw new SecretError(`the value of ${printSecretRef(ref)} ${reason}; ${MAKE_A_SECRET}`);
    },
  };
}

/** The parts of a gateway that its control operations use. */
interface ControlParts extends ServedGateway<CliContext> {
  readonly reloader: Reloader;
  readonly stop: (drainSeconds?: number) => Promise<StopResult>;
  readonly tableFile: string;
  readonly logFile: string | null;
  readonly config: string | null;
}

type CreateOperations = (gateway: ServedGateway<CliContext>) => ControlHandlers;

export const loadOperations = ({ modules }: CliContext): Promise<readonly CreateOperations[]> =>
  Promise.all(modules.flatMap(({ operations }) => operations?.() ?? []));

/** @param ofModules from `loadOperations` */
export function createControlHandlers(parts: ControlParts, ofModules: readonly CreateOperations[]): ControlHandlers {
  const { context, service, reloader, stop } = parts;
  const ofCore: HandlersOf<'core'> = {
    ping: () => ({ pid: context.pid }),
    status: () => statusOf(parts),
    stop: ({ drain_seconds }) => stop(drain_seconds),
    reload: ({ fail_on }) => reloader.reload(fail_on),
    enroll: (input) => service.enroll(input),
    requests_list: async ({ filter, page }) => (await service.requests()).list(filter, page),
    requests_load: async ({ id }) => (await service.requests()).load(id),
    requests_replay: ({ id, by }) => service.replay(id, by),
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
  const { context, reloader, tableFile, logFile, config, url } = parts;
  const { url: _, console, state, startedAt, table, ...others } = await parts.service.status();
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
    ...others,
  };
}
