/** The writer thread's entry: opens the database and commits batch after batch until it is told to end. */
import { parentPort, workerData } from 'node:worker_threads';
import type { Durability } from './open-database.ts';
import { serveWriter } from './serve-writer.ts';

const { path, durability } = workerData as { readonly path: string; readonly durability: Durability };
if (parentPort !== null) serveWriter(parentPort, path, durability);
