/** A thread of the store: either the writer or the reader. */
import { parentPort, workerData } from 'node:worker_threads';
import type { StorePart } from '../store-part.ts';
import { Reader } from './read.ts';
import type { Rescue } from './rescue.ts';
import { serveThread } from './thread.ts';
import type { WriterOptions } from './writer.ts';
import { Writer } from './writer.ts';

export interface StoreThreadData extends Pick<WriterOptions, 'path' | 'durability'> {
  readonly role: 'writer' | 'reader';
  /** URLs of the files that export a `StorePart`. */
  readonly parts: readonly string[];
}

const exportsOf = async (url: string): Promise<readonly StorePart[]> => Object.values(await import(url));

/** Serves the store that started this thread. */
export async function serveStore(rescue: Rescue | null): Promise<void> {
  const { role, path, durability, parts: urls } = workerData as StoreThreadData;
  const parts = (await Promise.all(urls.map(exportsOf))).flatMap((all) => all.filter((one) => 'url' in one));
  const worker = role === 'writer' ? new Writer({ path, durability, rescue, parts }) : new Reader({ path, rescue });
  if (parentPort !== null) serveThread(parentPort, (request) => worker.serve(request as never));
}
