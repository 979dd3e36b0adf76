/** Calls the gateway of the current home, and turns failures into error messages. */

import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { nodeFiles } from '../../compiler/node/node-files.ts';
import { searchConfig } from '../../compiler/source/search-config.ts';
import type { ControlPaths } from '../../runtime/control/control-client.ts';
import {
  ControlCallError,
  callControl,
  controlPaths,
  NoAnswerError,
  NotRunningError,
  UnknownAnswerError,
} from '../../runtime/control/control-client.ts';
import { ControlError } from '../../runtime/control/control-error.ts';
import type { ControlName } from '../../runtime/control/operations.ts';
import { lockHolder } from '../../runtime/store/store-path.ts';
import type { ControlContract, GatewayStatus } from '../../schemas/built/operations/types.ts';
import type { CliContext } from '../base/context.ts';
import { CliError } from '../base/errors.ts';
import { printNote, visible } from '../output/print.ts';

const RESTART = 'restart it with this version: hookwright gateway restart';

/** The running gateway has another version, which does not know the operation or whose answer is unknown here. */
export class OtherVersionError extends CliError {}

/** Timeout of a ping, in ms. */
const PING_MS = 5_000;
/** Timeout of an operation that does not wait for anything, in ms. */
const ANSWER_MS = 10_000;

export const pathsOf = (context: CliContext): ControlPaths => controlPaths(context.home, context.tmp);

/** Whether a gateway serves this home. @throws CliError if one runs but does not answer */
export async function isGatewayRunning(context: CliContext): Promise<boolean> {
  try {
    await callControl(pathsOf(context).socket, 'ping', {}, PING_MS);
    noteOtherProject(context, readGatewayInfo(context)?.config ?? null);
    return true;
  } catch (error) {
    if (error instanceof NotRunningError) return false;
    // An older version answers with this error.
    if (error instanceof ControlError && error.code === 'unknown_operation') return true;
    throw controlFailure(context, error);
  }
}

/** The gateway's answer, or null if none is running for this home. @throws CliError if it rejects the call or does not answer */
export async function tryCallGateway<Name extends ControlName>(
  context: CliContext,
  name: Name,
  input: ControlContract[Name]['input'],
  timeoutMs: number = ANSWER_MS,
): Promise<ControlContract[Name]['output'] | null> {
  if (!(await isGatewayRunning(context))) return null;
  try {
    return await callControl(pathsOf(context).socket, name, input, timeoutMs);
  } catch (error) {
    if (error instanceof NotRunningError) return null;
    throw controlFailure(context, error);
  }
}

/** Converts a failed call to the gateway into the error to print. Anything else is a bug and returned unchanged. */
export function controlFailure(context: CliContext, error: unknown): unknown {
  if (error instanceof NoAnswerError) return silence(context, error.message);
  if (error instanceof NotRunningError) return notRunning(context);
  if (error instanceof UnknownAnswerError) return new OtherVersionError(visible(error.message), RESTART);
  if (error instanceof ControlCallError) return new CliError(visible(error.message));
  return error instanceof ControlError ? refusal(error) : error;
}

function silence(context: CliContext, message: string): CliError {
  const pid = gatewayPid(context);
  if (pid === null) return new CliError(message, 'see its log: hookwright gateway logs');
  return new CliError(
    message.replace('the gateway', `the gateway (pid ${pid})`),
    'see its log: hookwright gateway logs',
    `if it hangs: kill -9 ${pid}, then hookwright gateway start; acknowledged events are not lost`,
  );
}

function refusal({ code, message }: ControlError): CliError {
  if (code === 'unknown_operation') {
    return new OtherVersionError(`the running gateway is of an older version: ${visible(message)}`, RESTART);
  }
  // Requests of this version have the form that this version knows.
  if (code === 'malformed') {
    return new OtherVersionError(`the running gateway is of another version: ${visible(message)}`, RESTART);
  }
  if (code !== 'foreign_socket') return new CliError(`the gateway rejected the request: ${visible(message)}`);
  return new CliError(message, 'run this as the user of the gateway: sudo -u <user> hookwright ...');
}

/** Like `tryCallGateway`, for commands that need one. */
export async function callGateway<Name extends ControlName>(
  context: CliContext,
  name: Name,
  input: ControlContract[Name]['input'],
  timeoutMs: number = ANSWER_MS,
): Promise<ControlContract[Name]['output']> {
  const answer = await tryCallGateway(context, name, input, timeoutMs);
  if (answer === null) throw notRunning(context);
  return answer;
}

export function notRunning(context: CliContext): CliError {
  return new CliError(`no gateway is running for ${context.home}`, 'start one: hookwright gateway start');
}

/** The note that a gateway writes beside its lock, so that other processes can name it. */
export interface GatewayInfo extends Pick<GatewayStatus, 'pid' | 'url' | 'log_file'> {
  /** Absolute path of its configuration; absent or null for compiled tables, or an older version. */
  readonly config?: string | null;
}

/** The last gateway's note about itself; null if it cannot be read. It does not prove that the gateway runs. */
export function readGatewayInfo(context: CliContext): GatewayInfo | null {
  try {
    return JSON.parse(readFileSync(pathsOf(context).info, 'utf8')) as GatewayInfo;
  } catch {
    return null;
  }
}

/** The process that serves this home: the holder of its lock, or else the writer of the note. */
export function gatewayPid(context: CliContext): number | null {
  const pid = lockHolder(pathsOf(context).lock) ?? readGatewayInfo(context)?.pid;
  return Number.isSafeInteger(pid) ? (pid as number) : null;
}

/** @param served absolute path of the configuration in service; null for compiled tables */
export function otherProject(context: CliContext, served: string | null): string | null {
  if (served === null || context.configs !== undefined) return null;
  const { root } = searchConfig(nodeFiles, context);
  if (root === null || nodeFiles.realpath(root) === nodeFiles.realpath(served)) return null;
  return root;
}

/** Prints the note once for each command. */
export function noteOtherProject(context: CliContext, served: string | null): void {
  const here = otherProject(context, served);
  if (here === null) return;
  const note = `the gateway of ${context.home} serves ${served}, not ${here}; for a separate gateway, set \`home: ./state\` in it`;
  if (context.said.has(note)) return;
  context.said.add(note);
  printNote(context, visible(note));
}

export const OTHER_CONFIG = 'the gateway was not stopped: it serves a different configuration';

/** Names the configuration that the running gateway serves. */
export const servedLines = (config: string | null): readonly string[] =>
  config === null ? [] : [`the running gateway serves ${visible(config)}`];

/** The command that stops the gateway. A gateway of another project is stopped from that project's folder. */
export function stopOf(context: CliContext, config: string | null): string {
  const stop = 'hookwright gateway stop';
  return config === null || otherProject(context, config) === null ? stop : `cd ${visible(dirname(config))} && ${stop}`;
}

export const SEPARATE_HOME = 'or give the configuration here its own home: home: ./state';
