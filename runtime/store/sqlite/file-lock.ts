/**
 * An exclusive lock on a path, for the one server of a home and for writers of a shared file.
 *
 * It is the operating system's lock on a database file that is never written: it ends with the process that holds it,
 * however that process ends. So there is no stale lock, no process id to guess, and no process is ever killed for one.
 */
import { accessSync, chmodSync, closeSync, constants, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Clock } from '../../platform/clock.ts';
import { makeFolder } from '../../platform/make-folder.ts';
import { connect, errorCode, isBusy } from './driver.ts';

export interface FileLock {
  /** Lets the next one in. Idempotent. */
  release(): void;
}

/** Takes the lock, or returns null when another process (or another lock of this one) holds it. */
export function tryLock(path: string): FileLock | null {
  makeFolder(dirname(path), 0o700);
  // SQLite would not say why it cannot.
  createFile(path);
  const file = connect(path, { busyMs: 0 });
  try {
    file.exec('PRAGMA journal_mode = MEMORY');
    file.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    file.close();
    if (isBusy(error)) return null;
    throw error;
  }
  let held = true;
  return {
    release() {
      if (!held) return;
      held = false;
      file.exec('ROLLBACK');
      file.close();
    },
  };
}

/**
 * Creates a database file with mode 0600 before SQLite sees it: its companions inherit that. A file that is there is not
 * opened: closing it again would drop the locks that SQLite holds on it for this whole process.
 */
export function createFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
    accessSync(path, constants.R_OK | constants.W_OK);
    // A copy that was restored may be open to others.
    const { mode, uid } = statSync(path);
    if ((mode & 0o077) !== 0 && uid === process.getuid?.()) chmodSync(path, 0o600);
  }
}

/**
 * Pauses between two tries, in ms: longer from try to try, because many who wait must not take the machine from the one
 * who works, and uneven, so that they do not march in step.
 */
const FIRST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 400;
const GROWTH = 1.3;
/** Lengths a pause can have, from half of the usual one to one and a half. */
const STEPS = 40;

/** Waits for the lock up to `timeoutMs`; null when it was held all the time. */
export async function waitForLock(path: string, timeoutMs: number, clock: Clock): Promise<FileLock | null> {
  const until = clock.monotonic() + timeoutMs;
  let usual = FIRST_PAUSE_MS;
  for (let turn = process.pid % STEPS; ; turn = (turn * 7 + 11) % STEPS) {
    const lock = tryLock(path);
    if (lock !== null) return lock;
    if (clock.monotonic() >= until) return null;
    await pause(usual * (0.5 + turn / STEPS));
    usual = Math.min(usual * GROWTH, LONGEST_PAUSE_MS);
  }
}

// Not the clock's timer: that one lets the process end, and a command that waits for its turn must not.
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
