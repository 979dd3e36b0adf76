/**
 * A server's periodic work for its store: once a second a checkpoint, or a retry if the medium failed; more often, a check
 * that the file is still the one that was opened. None of it blocks the event loop.
 */
import { stat } from 'node:fs/promises';
import type { Health } from '../health.ts';
import { WAL_BYTES } from './open-database.ts';
import type { ReaderRequest } from './reader.ts';
import type { Client } from './thread.ts';
import type { WriterRequest } from './writer.ts';

/** Periods in ms. A removed file is noticed within a second. */
const TICK_MS = 1000;
const IDENTITY_MS = 400;
const PAGE_BYTES = 4096;

export interface UpkeepParts {
  readonly path: string;
  readonly writer: Client<WriterRequest>;
  readonly reader: Client<ReaderRequest>;
  readonly health: Health;
  /** Opens the store, or overwrites a failed commit. */
  readonly tryAgain: () => Promise<void>;
  readonly isOpen: () => boolean;
}

/** Starts the timers; returns a function that stops them. */
export function startUpkeep(parts: UpkeepParts): () => void {
  const checkIdentity = createIdentityCheck(parts);
  void checkIdentity();
  const timers = [every(TICK_MS, () => tick(parts)), every(IDENTITY_MS, checkIdentity)];
  return () => {
    for (const timer of timers) clearInterval(timer);
  };
}

/** Runs `work` periodically, skipping a period while it is still running. */
function every(ms: number, work: () => Promise<void>): NodeJS.Timeout {
  let busy = false;
  const timer = setInterval(async () => {
    if (busy) return;
    busy = true;
    await work().catch(() => {});
    busy = false;
  }, ms);
  return timer.unref();
}

async function tick({ writer, reader, health, tryAgain, isOpen }: UpkeepParts): Promise<void> {
  if (health.problem?.kind === 'unavailable') await tryAgain();
  if (!isOpen()) return;
  const pages = await reader.ask<number>({ kind: 'checkpoint' });
  // Under steady load a checkpoint of the reader never reaches the end of the log; the writer's does, between two commits.
  if (pages * PAGE_BYTES > WAL_BYTES) await writer.ask({ kind: 'checkpoint' });
}

function createIdentityCheck({ path, health, isOpen }: UpkeepParts): () => Promise<void> {
  let opened: string | null = null;
  return async () => {
    if (!isOpen()) return;
    const found = await identityOf(path);
    opened ??= found;
    if (found === opened) health.end('replaced');
    else {
      const what = 'or a file beside it has been removed or replaced while it is served';
      health.begin('replaced', `${path} ${what}: put it back, or restart the gateway`);
    }
  };
}

/** Device and inode numbers of the database, its log and its lock; null when one of them is missing. */
async function identityOf(path: string): Promise<string | null> {
  try {
    const found = await Promise.all(['', '-wal', '.lock'].map((suffix) => stat(path + suffix, { bigint: true })));
    return found.map(({ dev, ino }) => `${dev}/${ino}`).join(' ');
  } catch {
    return null;
  }
}
