/** The entry of the store's threads: one writes, one reads, and one checks the file and ends. */
import { parentPort, workerData } from 'node:worker_threads';
import type { RunCounter } from '../run-limits.ts';
import { Reader } from './read.ts';
import { serveThread } from './thread.ts';
import type { WriterOptions } from './writer.ts';
import { Writer } from './writer.ts';

export interface StoreThreadData extends Pick<WriterOptions, 'path' | 'durability'> {
  readonly role: 'writer' | 'reader';
  /** URL of the file with what decides by the limits of runs. */
  readonly counter: string | null;
}

const { role, path, durability, counter } = workerData as StoreThreadData;
const { runCounter }: { readonly runCounter?: RunCounter } = counter === null ? {} : await import(counter);
const worker = role === 'writer' ? new Writer({ path, durability, counter: runCounter }) : new Reader({ path });
if (parentPort !== null) serveThread(parentPort, (request) => worker.serve(request as never));
