/** Locks the home for one gateway; while it is read-only, later. */
import { accessSync, constants } from 'node:fs';
import type { ControlServer } from '../../runtime/control/control-server.ts';
import { describeDiskError } from '../../runtime/platform/files.ts';
import type { Logger } from '../../runtime/platform/log.ts';
import type { FileLock } from '../../runtime/store/sqlite/file-lock.ts';
import { tryLock } from '../../runtime/store/sqlite/file-lock.ts';
import type { CliContext } from '../base/context.ts';
import { openHome } from '../base/context.ts';
import { CliError } from '../base/errors.ts';
import { gatewayPid, pathsOf, readGatewayInfo, SEPARATE_HOME, servedLines } from '../gateway/ask-gateway.ts';

/** Pause between two attempts, in ms. */
const RETRY_MS = 1000;

const isReadOnly = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'EROFS';

/** Locks the home and opens its control socket as soon as it is writable. @param refused called if it cannot be used */
export function lockLater(
  context: CliContext,
  log: Logger,
  openControl: () => Promise<ControlServer>,
  refused: () => void,
): ControlServer {
  log.warn({}, 'the home is read-only; rejecting events and commands until it is writable');
  let lock: FileLock | null = null;
  let control: ControlServer | null = null;
  const attempt = async (): Promise<void> => {
    try {
      lock = takeHome(context);
      if (lock === null) return wait();
      control = await openControl();
      log.info({}, 'the home is writable');
    } catch (error) {
      log.error({ err: error }, 'cannot lock the home');
      refused();
    }
  };
  let timer = context.clock.after(RETRY_MS, attempt);
  const wait = (): void => {
    timer = context.clock.after(RETRY_MS, attempt);
  };
  return {
    async close() {
      timer.cancel();
      await control?.close();
      lock?.release();
    },
  };
}

/** Null if the home is read-only, so that no gateway can lock it. @throws CliError if another gateway serves this home */
export function takeHome(context: CliContext): FileLock | null {
  try {
    accessSync(openHome(context), constants.R_OK | constants.W_OK);
    const lock = tryLock(pathsOf(context).lock);
    if (lock !== null) return lock;
  } catch (error) {
    if (isReadOnly(error)) return null;
    const hint = 'give this user write access, or choose another home: HOOKWRIGHT_HOME=<dir>';
    throw new CliError(`cannot serve ${context.home}: ${describeDiskError(error)}`, hint);
  }
  const pid = gatewayPid(context);
  const note = readGatewayInfo(context);
  const isIts = note?.pid === pid && note !== null;
  const who = pid === null ? '' : `${isIts ? ` on ${note.url}` : ''} (pid ${pid})`;
  throw new CliError(
    `another gateway already serves ${context.home}${who}`,
    ...(isIts ? servedLines(note.config ?? null) : []),
    'stop it first: hookwright gateway stop',
    SEPARATE_HOME,
  );
}
