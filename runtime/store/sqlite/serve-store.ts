/** A thread of the store: either the writer or the reader. */
import { parentPort, workerData } from 'node:worker_threads';
import type { RunCounter } from '../run-limits.ts';
import { Reader } from './read.ts';
import type { Rescue } from './rescue.ts';
import { serveThread } from './thread.ts';
import type { WriterOptions } from './writer.ts';
import { Writer } from './writer.ts';

export interface StoreThreadData extends Pick<WriterOptions, 'path' | 'durability'> {
  readonly role: 'writer' | 'reader';
  /** URL of the file that exports the `runCounter`. */
  readonly counter: string | null;
}

/** Serves the store that started this thread. */
export async function serveStore(rescue: Rescue | null): Promise<void> {
  const { role, path, durability, counter: url } = workerData as StoreThreadData;
  const { runCounter: counter }: { readonly runCounter?: RunCounter } = url === null ? {} : await import(url);
  const worker = role === 'writer' ? new Writer({ path, durability, rescue, counter }) : new Reader({ path, rescue });
  if (parentPort !== null) serveThread(parentPort, (request) => worker.serve(request as never));
}
