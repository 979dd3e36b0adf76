/** Asks the gateway of the current home something, and turns its absence into an answer for the person who typed. */
import { readFileSync } from 'node:fs';
import { ControlCallError, callControl, NotRunningError } from '../../runtime/control/control-client.ts';
import { ControlError } from '../../runtime/control/control-error.ts';
import type { ControlPaths } from '../../runtime/control/control-path.ts';
import { controlPaths } from '../../runtime/control/control-path.ts';
import type { ControlContract, ControlName } from '../../runtime/control/operations.ts';
import type { CliContext } from '../base/context.ts';
import { CliError } from '../base/errors.ts';
import { visible } from '../output/print.ts';

/** How long a gateway may take for an operation that has nothing to wait for, in ms. */
const ANSWER_MS = 10_000;

export const pathsOf = (context: CliContext): ControlPaths => controlPaths(context.home, context.tmp);

/** The gateway's answer, or null when none is running for this home. @throws CliError when it refuses. */
export async function tryAskGateway<Name extends ControlName>(
  context: CliContext,
  name: Name,
  input: ControlContract[Name]['input'],
  timeoutMs: number = ANSWER_MS,
): Promise<ControlContract[Name]['output'] | null> {
  try {
    return await callControl(pathsOf(context).socket, name, input, timeoutMs);
  } catch (error) {
    if (error instanceof NotRunningError) return null;
    throw controlFailure(error);
  }
}

/** A failed call to the gateway as the refusal to print; anything else is a bug and stays what it is. */
export function controlFailure(error: unknown): unknown {
  if (error instanceof ControlCallError) return new CliError(visible(error.message));
  return error instanceof ControlError ? refusal(error) : error;
}

function refusal({ code, message }: ControlError): CliError {
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
export interface GatewayInfo {
  readonly pid: number;
  readonly url: string;
  readonly log_file: string | null;
}

/** The last gateway's note about itself; null when there is none that can be read. Never proof that it runs. */
export function readGatewayInfo(context: CliContext): GatewayInfo | null {
  try {
    return JSON.parse(readFileSync(pathsOf(context).info, 'utf8')) as GatewayInfo;
  } catch {
    return null;
  }
}
