/** A gateway that starts on a read-only disk: it serves, refuses events, and takes its home once that can be written. */
import type { ControlServer } from '../../runtime/control/control-server.ts';
import type { Clock } from '../../runtime/platform/clock.ts';
import type { Logger } from '../../runtime/platform/log.ts';
import type { FileLock } from '../../runtime/store/sqlite/file-lock.ts';

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
