/** `hookwright gateway`: starts, stops, restarts and reloads the background gateway. */

import { spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { nodeFiles } from '../compiler/node/node-files.ts';
import { searchConfig } from '../compiler/source/search-config.ts';
import { waitForLock } from '../runtime/store/sqlite/file-lock.ts';
import type { GatewayStatus, RefusedSwap, ReloadReport } from '../schemas/built/operations/types.ts';
import type { CliContext } from './base/context.ts';
import { openHome } from './base/context.ts';
import { CliError, UsageError } from './base/errors.ts';
import type { ValuesOf } from './command-line/command.ts';
import { command, flag, parsed, text } from './command-line/command.ts';
import { configOption, failOnOption, hostOption, noLastGoodOption } from './command-line/options.ts';
import {
  callGateway,
  isGatewayRunning,
  OTHER_CONFIG,
  OtherVersionError,
  otherProject,
  pathsOf,
  readGatewayInfo,
  SEPARATE_HOME,
  servedLines,
  stopOf,
  tryCallGateway,
} from './gateway/ask-gateway.ts';
import { printJson, printLine, printNote, visible } from './output/print.ts';
import { formatDuration } from './output/table.ts';
import { lastGood } from './serve/last-good.ts';
import { refusalText } from './serve/reloader.ts';
import type { LogPosition } from './serve/server-log.ts';
import { failuresIn, logFile, openLogFile, readSince, readTail, warningsIn } from './serve/server-log.ts';

/** Timeout of a start, in ms; a large configuration takes seconds to compile. */
const READY_MS = 60_000;
const POLL_MS = 50;

export const launchOptions = {
  config: configOption,
  failOn: failOnOption(
    'Reject a changed configuration that would no longer accept captured requests, or would change their outcome',
  ),
  host: hostOption,
  port: text('port', 'Port; overrides the configuration'),
  noLastGood: noLastGoodOption,
};

export type LaunchValues = ValuesOf<typeof launchOptions>;

/** Returns once the gateway serves; prints its URL and its warnings. @throws CliError with the reason if it does not start */
export async function startGateway(context: CliContext, given: LaunchValues): Promise<void> {
  const status = await launch(context, given);
  printLine(context, status.url);
  if (status.table.error !== null) printNote(context, visible(status.table.error));
  printNote(context, `started (pid ${status.pid}), log: ${logFile(context.home)}`);
}

function runArguments(context: CliContext, given: LaunchValues): string[] {
  const named = (name: string, value: string | undefined): string[] =>
    value === undefined ? [] : [`${name}=${value}`];
  return [
    ...(given.config ?? []).map((path) => `--config=${path}`),
    ...(context.allowed ?? []).map((folder) => `--root=${folder}`),
    ...named('--host', given.host),
    ...named('--port', given.port),
    ...named('--fail-on', given.failOn?.join(',')),
    ...(given.noLastGood ? ['--no-last-good'] : []),
    `--log-file=${logFile(context.home)}`,
  ];
}

/** Starts the process, detached, and waits until its control socket answers or it has ended. Prints its warnings. */
async function launch(context: CliContext, given: LaunchValues): Promise<GatewayStatus> {
  const [program = '', ...self] = context.self;
  const log = openLogFile(openHome(context));
  const { position } = readTail(logFile(context.home), 0);
  const child = spawn(program, [...self, 'gateway', 'run', ...runArguments(context, given)], {
    cwd: context.cwd,
    env: context.env,
    detached: true,
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  let ended = false;
  for (const event of ['exit', 'error']) {
    child.once(event, () => {
      ended = true;
    });
  }
  child.unref();
  const until = context.clock.monotonic() + READY_MS;
  while (!ended && context.clock.monotonic() < until) {
    const status = await tryCallGateway(context, 'status', {});
    if (status !== null && status.pid !== child.pid) {
      // Another command has started a gateway first.
      child.kill();
      throw alreadyServed(context, status);
    }
    if (status !== null) {
      const { bytes } = readSince(logFile(context.home), position);
      for (const warning of warningsIn(bytes, context)) printNote(context, warning);
      return status;
    }
    await setTimeout(POLL_MS);
  }
  throw failure(context, position, ended);
}

export function alreadyServed(context: CliContext, { url, pid, config }: GatewayStatus): CliError {
  return new CliError(
    `a gateway already serves ${context.home} on ${url} (pid ${pid})`,
    ...servedLines(config),
    `stop it first: ${stopOf(context, config)}`,
    SEPARATE_HOME,
  );
}

function failure(context: CliContext, position: LogPosition, ended: boolean): CliError {
  const path = logFile(context.home);
  if (!ended) return new CliError('the gateway is not ready after 60 s', `see its log: ${path}`);
  const reasons = failuresIn(readSince(path, position).bytes);
  return new CliError('the gateway did not start', ...(reasons.length === 0 ? [`see its log: ${path}`] : reasons));
}

/** `hookwright gateway start`: `gateway run` in the background, with a log file; returns once it serves. */
export const gatewayStartCommand = command({
  options: launchOptions,
  async run(context, given) {
    const running = await tryCallGateway(context, 'status', {});
    if (running !== null) throw alreadyServed(context, running);
    await startGateway(context, given);
  },
});

/** Timeout for the process to end after its drain, in ms. */
const EXIT_MS = 10_000;
/** Timeout of a stop with the configured drain time, in ms; a gateway that takes longer hangs. */
const PATIENCE_MS = 24 * 3_600_000;

export const drainOption = parsed('seconds', 'Time for work to finish; default: gateway.drain_seconds', parseSeconds);

/** Drains the gateway and waits until its process has ended. Returns the number of interrupted runs. @throws CliError if it does not end */
export async function stopGateway(context: CliContext, seconds: number | undefined): Promise<number> {
  const report = await callGateway(
    context,
    'stop',
    seconds === undefined ? {} : { drain_seconds: seconds },
    seconds === undefined ? PATIENCE_MS : seconds * 1000 + EXIT_MS,
  );
  const lock = await waitForLock(pathsOf(context).lock, EXIT_MS, context.clock);
  lock?.release();
  if (lock === null) {
    throw new CliError('the gateway has drained but its process does not end', 'see its log: hookwright gateway logs');
  }
  return report.drained ? 0 : report.abandoned;
}

/** Describes the runs that a stop has interrupted. */
export const interruptedRuns = (runs: number): string => `${runs} ${runs === 1 ? 'run was' : 'runs were'} interrupted`;

/** `hookwright gateway stop`: drains the running gateway and waits until it has ended. */
export const gatewayStopCommand = command({
  options: { drain: drainOption },
  async run(context, given) {
    await refuseOtherProject(context);
    const abandoned = await stopGateway(context, given.drain);
    if (abandoned > 0) {
      throw new CliError(
        `stopped, but ${interruptedRuns(abandoned)}`,
        'interrupted runs resume after the next start; to wait longer: hookwright gateway stop --drain <seconds>',
      );
    }
    printNote(context, 'stopped');
  },
});

/** Rejects the command in a folder whose configuration the gateway does not serve. */
async function refuseOtherProject(context: CliContext): Promise<void> {
  const config = readGatewayInfo(context)?.config ?? null;
  if (config === null || otherProject(context, config) === null || !(await isGatewayRunning(context))) return;
  throw new CliError(OTHER_CONFIG, ...servedLines(config), `to stop it: ${stopOf(context, config)}`);
}

/** A large configuration takes seconds to compile. */
const COMPILE_MS = 120_000;

/** `hookwright gateway restart`: stops the running gateway, and starts it in the background. */
export const gatewayRestartCommand = command({
  options: { drain: drainOption, ...launchOptions },
  async run(context, given) {
    if (!(await isGatewayRunning(context))) {
      printNote(context, 'no gateway was running');
      return startGateway(context, given);
    }
    if (given.config === undefined) await check(context, given.noLastGood);
    const abandoned = await stopGateway(context, given.drain);
    printNote(context, abandoned === 0 ? 'stopped' : `stopped; ${interruptedRuns(abandoned)} and will resume`);
    await startGateway(context, given);
  },
});

/** Before anything is stopped, rejects a gateway that would not start again in this folder. */
async function check(context: CliContext, noLastGood: boolean): Promise<void> {
  // Not from its status, which may differ in another version.
  const config = readGatewayInfo(context)?.config ?? null;
  const { root } = searchConfig(nodeFiles, context);
  if (config === null || root === null || nodeFiles.realpath(root) !== nodeFiles.realpath(config)) {
    const served =
      config === null ? ['the gateway serves compiled tables; restart it the way it was started'] : servedLines(config);
    throw new CliError(
      OTHER_CONFIG,
      ...served,
      'to serve a different configuration: hookwright gateway restart --config <path>',
    );
  }
  const report = await callGateway(context, 'reload', { fail_on: [] }, COMPILE_MS).catch((error: unknown) => {
    if (error instanceof OtherVersionError) return compiled(context);
    throw error;
  });
  if (report.ok) return;
  if (report.diagnostics !== '') printNote(context, report.diagnostics.trimEnd());
  if (!noLastGood && lastGood(context, root) !== null) return;
  throw new CliError(
    'the configuration has errors; the gateway was not stopped',
    'if only the older running version reports them: hookwright gateway stop, then hookwright gateway start',
  );
}

/** Compiles here, with the jobs of the gateway. If it does not report them, errors show up at the start. Only this needs the compiler. */
async function compiled(context: CliContext): Promise<Pick<ReloadReport, 'ok' | 'diagnostics'>> {
  const [{ compileRequest, createCompileRequest }, { formatDiagnostics }] = await Promise.all([
    import('./compile/compile-files.ts'),
    import('./output/print.ts'),
  ]);
  try {
    const { output, diagnostics } = compileRequest(await createCompileRequest(context, {}));
    return { ok: output !== null, diagnostics: formatDiagnostics('pretty', diagnostics, context, 'stderr') };
  } catch (error) {
    if (error instanceof OtherVersionError) return { ok: true, diagnostics: '' };
    throw error;
  }
}

const options = {
  json: flag('Print the report as JSON'),
  failOn: failOnOption(
    'Keep the old table if the new one would no longer accept captured requests, or would change their outcome; none: always replace it',
  ),
};

type Options = ValuesOf<typeof options>;

/** `hookwright gateway reload`: compiles the configuration now and reports the result. */
export const gatewayReloadCommand = command({
  options,
  async run(context, given) {
    const input = given.failOn === undefined ? {} : { fail_on: given.failOn };
    const report = await callGateway(context, 'reload', input, COMPILE_MS);
    if (given.json) printJson(context, report);
    else if (report.diagnostics !== '') printNote(context, report.diagnostics.trimEnd());
    if (report.refused !== null) throw refusal(context, given, report.refused);
    if (!report.ok) throw new CliError('the configuration has errors; the old one stays in service');
    if (report.taken_ungated_at !== null) throw tooLate(report.taken_ungated_at);
    if (!given.json) printNote(context, report.changed ? 'reloaded' : unchanged(context, report.was_loaded_at));
  },
});

function refusal(context: CliContext, given: Options, refused: RefusedSwap): CliError {
  for (const { id, route, kind, text } of given.json ? [] : refused.requests) {
    printNote(context, visible(`${kind} ${id} ${route}: ${text}`));
  }
  return new CliError(
    refusalText(refused),
    'to see the requests: hookwright diff --requests 1000',
    'to replace the table anyway: --fail-on none',
  );
}

/** A gateway loads saved files automatically, usually before this command runs. */
function unchanged({ clock }: CliContext, loadedAt: number): string {
  const ago = formatDuration(clock.now() - loadedAt);
  return `no changes since the last load at ${new Date(loadedAt).toISOString()}, ${ago} ago`;
}

function tooLate(at: number): CliError {
  return new CliError(
    `the configuration was loaded at ${new Date(at).toISOString()}, before this command and without a check`,
    'changed files are loaded automatically: to check each change, start the gateway with --fail-on',
    'to compare two configurations: hookwright diff OLD NEW --requests 1000',
  );
}

/** @throws UsageError unless it is a number of seconds, zero or more. */
export function parseSeconds(text: string, option: string): number {
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isFinite(value)) return value;
  throw new UsageError(`${option} must be a number of seconds, not "${text}"`);
}
