/** A thread of the store: one writes, one reads. */
import { parentPort, workerData } from 'node:worker_threads';
import { Reader } from './read.ts';
import type { Rescue } from './rescue.ts';
import { serveThread } from './thread.ts';
import type { WriterOptions } from './writer.ts';
import { Writer } from './writer.ts';

export interface StoreThreadData extends Pick<WriterOptions, 'path' | 'durability'> {
  readonly role: 'writer' | 'reader';
}

/** Serves the store that started this thread. */
export function serveStore(rescue: Rescue | null): void {
  const { role, path, durability } = workerData as StoreThreadData;
  const worker = role === 'writer' ? new Writer({ path, durability, rescue }) : new Reader({ path, rescue });
  if (parentPort !== null) serveThread(parentPort, (request) => worker.serve(request as never));
}
