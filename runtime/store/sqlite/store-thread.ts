/** The entry of the store's threads: one writes, one reads, and one checks the file and ends. */
import { parentPort, workerData } from 'node:worker_threads';
import { Reader } from './read.ts';
import { serveThread } from './thread.ts';
import type { WriterOptions } from './writer.ts';
import { Writer } from './writer.ts';

export interface StoreThreadData extends Pick<WriterOptions, 'path' | 'durability'> {
  readonly role: 'writer' | 'reader';
}

const { role, path, durability } = workerData as StoreThreadData;
const worker = role === 'writer' ? new Writer({ path, durability }) : new Reader({ path });
if (parentPort !== null) serveThread(parentPort, (request) => worker.serve(request as never));
