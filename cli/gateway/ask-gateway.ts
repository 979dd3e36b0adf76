/** Calls the gateway of the current home, and turns its absence into an error message. */

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

const RESTART = 'restart it with this one: hookwright gateway restart';

/** The running gateway is of a version that does not know the question, or whose answer is not known. */
export class OtherVersionError extends CliError {}

/** How long a gateway may take to answer a ping, in ms. */
const PING_MS = 5_000;
/** Timeout of an operation that does not wait for anything, in ms. */
const ANSWER_MS = 10_000;

export const pathsOf = (context: CliContext): ControlPaths => controlPaths(context.home, context.tmp);

/** Whether a gateway serves this home. @throws CliError when one is there and does not answer */
export async function isGatewayThere(context: CliContext): Promise<boolean> {
  try {
    await callControl(pathsOf(context).socket, 'ping', {}, PING_MS);
    noteOtherProject(context, readGatewayInfo(context)?.config ?? null);
    return true;
  } catch (error) {
    if (error instanceof NotRunningError) return false;
    // An older one answers, too.
    if (error instanceof ControlError && error.code === 'unknown_operation') return true;
    throw controlFailure(context, error);
  }
}

/** The gateway's answer, or null when none is running for this home. @throws CliError when it refuses or does not answer. */
export async function tryAskGateway<Name extends ControlName>(
  context: CliContext,
  name: Name,
  input: ControlContract[Name]['input'],
  timeoutMs: number = ANSWER_MS,
): Promise<ControlContract[Name]['output'] | null> {
  if (!(await isGatewayThere(context))) return null;
  try {
    return await callControl(pathsOf(context).socket, name, input, timeoutMs);
  } catch (error) {
    if (error instanceof NotRunningError) return null;
    throw controlFailure(context, error);
  }
}

/** A failed call to the gateway as the refusal to print; anything else is a bug and stays what it is. */
export function controlFailure(context: CliContext, error: unknown): unknown {
  if (error instanceof NoAnswerError) return silence(context, error.message);
  if (error instanceof NotRunningError) return notRunning(context);
  if (error instanceof UnknownAnswerError) return new OtherVersionError(visible(error.message), RESTART);
  if (error instanceof ControlCallError) return new CliError(visible(error.message));
  return error instanceof ControlError ? refusal(error) : error;
}

function silence(context: CliContext, message: string): CliError {
  const pid = gatewayPid(context);
  if (pid === null) return new CliError(message, 'look at its log: hookwright gateway logs');
  return new CliError(
    message.replace('the gateway', `the gateway (pid ${pid})`),
    'look at its log: hookwright gateway logs',
    `if it hangs: kill -9 ${pid}, then hookwright gateway start; what was acknowledged is kept`,
  );
}

function refusal({ code, message }: ControlError): CliError {
  if (code === 'unknown_operation') {
    return new OtherVersionError(`the running gateway is of an older version: ${visible(message)}`, RESTART);
  }
  if (code !== 'foreign_socket') return new CliError(`the gateway refused: ${visible(message)}`);
  return new CliError(message, 'run this as the user the gateway runs as: sudo -u <user> hookwright ...');
}

/** Like `tryAskGateway`, for commands that need one. */
export async function askGateway<Name extends ControlName>(
  context: CliContext,
  name: Name,
  input: ControlContract[Name]['input'],
  timeoutMs: number = ANSWER_MS,
): Promise<ControlContract[Name]['output']> {
  const answer = await tryAskGateway(context, name, input, timeoutMs);
  if (answer === null) throw notRunning(context);
  return answer;
}

export function notRunning(context: CliContext): CliError {
  return new CliError(`no gateway is running for ${context.home}`, 'start one: hookwright gateway start');
}

/** What a gateway leaves beside its lock so that others can say who holds it. */
export interface GatewayInfo extends Pick<GatewayStatus, 'pid' | 'url' | 'log_file'> {
  /** Absolute path of the configuration that it serves; absent or null: compiled tables, or an older version. */
  readonly config?: string | null;
}

/** The last gateway's note about itself; null when there is none that can be read. Never proof that it runs. */
export function readGatewayInfo(context: CliContext): GatewayInfo | null {
  try {
    return JSON.parse(readFileSync(pathsOf(context).info, 'utf8')) as GatewayInfo;
  } catch {
    return null;
  }
}

/** The process that serves this home: the one that holds its lock, else the one that has left a note. */
export function gatewayPid(context: CliContext): number | null {
  const pid = lockHolder(pathsOf(context).lock) ?? readGatewayInfo(context)?.pid;
  return Number.isSafeInteger(pid) ? (pid as number) : null;
}

/** @param served absolute path of the configuration in service; null: it serves compiled tables */
export function otherProject(context: CliContext, served: string | null): string | null {
  if (served === null || context.configs !== undefined) return null;
  const { root } = searchConfig(nodeFiles, context);
  if (root === null || nodeFiles.realpath(root) === nodeFiles.realpath(served)) return null;
  return root;
}

/** Prints it once for each command. */
export function noteOtherProject(context: CliContext, served: string | null): void {
  const here = otherProject(context, served);
  if (here === null) return;
  const note = `the gateway of ${context.home} serves ${served}, not ${here}: a home of its own, HOOKWRIGHT_HOME=<dir>, gives this one a gateway`;
  if (context.said.has(note)) return;
  context.said.add(note);
  printNote(context, visible(note));
}

export const NOT_OURS = 'the gateway does not serve the configuration of this folder, and was not stopped';

/** For a message about a gateway that is there: the configuration that it serves. */
export const servedLines = (config: string | null): readonly string[] =>
  config === null ? [] : [`it serves ${visible(config)}`];

/** The command that stops it: where it serves another project, only its own folder stops it. */
export function stopOf(context: CliContext, config: string | null): string {
  const stop = 'hookwright gateway stop';
  return config === null || otherProject(context, config) === null ? stop : `cd ${visible(dirname(config))} && ${stop}`;
}

export const OWN_HOME = 'or give this one a home of its own: HOOKWRIGHT_HOME=<dir>';
