/** The entry of the threads that store and read kept requests. */
import { parentPort, workerData } from 'node:worker_threads';
import { serveThread } from '../../../../../runtime/store/sqlite/thread.ts';
import { CaptureReader } from './capture-reader.ts';
import { CaptureWriter } from './capture-writer.ts';

export interface CaptureThreadData {
  readonly role: 'writer' | 'reader';
  readonly path: string;
}

const { role, path } = workerData as CaptureThreadData;
const worker = role === 'writer' ? new CaptureWriter(path) : new CaptureReader(path);
if (parentPort !== null) serveThread(parentPort, (request) => worker.serve(request as never));
