/** The writer thread's entry: opens the database and commits batch after batch until it is told to end. */
import { parentPort, workerData } from 'node:worker_threads';
import type { WriterOptions } from './serve-writer.ts';
import { serveWriter } from './serve-writer.ts';

if (parentPort !== null) serveWriter(parentPort, workerData as Omit<WriterOptions, 'reached'>);
