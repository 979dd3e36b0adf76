/** The home of a serving gateway, which one process has at a time; on a read-only disk it is taken once it can be written. */
import { accessSync, constants } from 'node:fs';
import type { ControlServer } from '../../runtime/control/control-server.ts';
import type { Clock } from '../../runtime/platform/clock.ts';
import { describeDiskError } from '../../runtime/platform/describe-disk-error.ts';
import type { Logger } from '../../runtime/platform/log.ts';
import type { FileLock } from '../../runtime/store/sqlite/file-lock.ts';
import { tryLock } from '../../runtime/store/sqlite/file-lock.ts';
import type { CliContext } from '../base/context.ts';
import { openHome } from '../base/context.ts';
import { CliError } from '../base/errors.ts';
import { gatewayPid, pathsOf, readGatewayInfo } from '../gateway/ask-gateway.ts';
import { OWN_HOME, servedLines } from '../gateway/other-project.ts';

/** Pause between two attempts, in ms. */
const RETRY_MS = 1000;

export const isReadOnly = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'EROFS';

export interface ReadOnlyHome {
  readonly clock: Clock;
  readonly log: Logger;
  /** Takes the home; null while it is read-only. @throws where another gateway was first */
  readonly take: () => FileLock | null;
  readonly openControl: () => Promise<ControlServer>;
  /** The home is not usable. */
  readonly refused: () => void;
}

/** Takes the home and opens its control socket as soon as it can be written. */
export function takeLater({ clock, log, take, openControl, refused }: ReadOnlyHome): ControlServer {
  log.warn({}, 'the home is read-only: events and commands are refused until it can be written');
  let lock: FileLock | null = null;
  let control: ControlServer | null = null;
  const attempt = async (): Promise<void> => {
    try {
      lock = take();
      if (lock === null) return wait();
      control = await openControl();
      log.info({}, 'the home can be written');
    } catch (error) {
      log.error({ err: error }, 'the home cannot be taken');
      refused();
    }
  };
  let timer = clock.after(RETRY_MS, attempt);
  const wait = (): void => {
    timer = clock.after(RETRY_MS, attempt);
  };
  return {
    async close() {
      timer.cancel();
      await control?.close();
      lock?.release();
    },
  };
}

/** Null: it is read-only, so that no gateway can lock it. @throws CliError when another gateway serves this home. */
export function takeHome(context: CliContext): FileLock | null {
  try {
    accessSync(openHome(context), constants.R_OK | constants.W_OK);
    const lock = tryLock(pathsOf(context).lock);
    if (lock !== null) return lock;
  } catch (error) {
    if (isReadOnly(error)) return null;
    const hint = 'give this user write access to it, or another home: HOOKWRIGHT_HOME=<dir>';
    throw new CliError(`cannot serve ${context.home}: ${describeDiskError(error)}`, hint);
  }
  const pid = gatewayPid(context);
  const note = readGatewayInfo(context);
  const isIts = note?.pid === pid && note !== null;
  const who = pid === null ? '' : `${isIts ? ` on ${note.url}` : ''} (pid ${pid})`;
  throw new CliError(
    `another gateway already serves ${context.home}${who}`,
    ...(isIts ? servedLines(note.config ?? null) : []),
    'stop it with: hookwright gateway stop',
    OWN_HOME,
  );
}
