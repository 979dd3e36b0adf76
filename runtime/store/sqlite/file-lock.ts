/**
 * An exclusive lock on a path, for the one server of a home and for writers of a shared file.
 *
 * It is the operating system's lock on a database file that is never written. The lock ends with the process that holds
 * it, however that process ends, so there are no stale locks and no process ids to check.
 */
import { accessSync, chmodSync, closeSync, constants, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Clock } from '../../platform/clock.ts';
import { makeFolder } from '../../platform/files.ts';
import { connect, errorCode, isBusy } from './driver.ts';

export interface FileLock {
  /** Releases the lock. Idempotent. */
  release(): void;
}

/** Takes the lock; null when another process, or another `FileLock` of this process, holds it. */
export function tryLock(path: string): FileLock | null {
  makeFolder(dirname(path), 0o700);
  // If the file cannot be created, this error says why; SQLite's would not.
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
 * Creates a database file with mode 0600 before SQLite opens it, because the files beside it inherit its mode. An existing
 * file is not opened: closing it would release all locks that SQLite holds on it in this process.
 */
export function createFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
    accessSync(path, constants.R_OK | constants.W_OK);
    // A restored copy may be readable by others.
    const { mode, uid } = statSync(path);
    if ((mode & 0o077) !== 0 && uid === process.getuid?.()) chmodSync(path, 0o600);
  }
}

/**
 * Pauses between two tries, in ms. They grow, so that many waiting processes do not slow down the one that holds the lock,
 * and vary, so that the processes do not retry in step.
 */
const FIRST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 400;
const GROWTH = 1.3;
/** Number of lengths that a pause can have, from 0.5 to 1.5 times the usual one. */
const STEPS = 40;

/** Waits for the lock up to `timeoutMs`; null when it was not released in time. */
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

// Not the clock's timer, which does not keep the process alive; a command that waits for the lock must not exit.
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
