/** The entry of the store's threads, and of one that reads the whole file. */
import { parentPort, workerData } from 'node:worker_threads';
import type { StoreThreadData } from '../../../runtime/store/sqlite/serve-store.ts';
import { serveStore } from '../../../runtime/store/sqlite/serve-store.ts';
import { serveThread } from '../../../runtime/store/sqlite/thread.ts';
import { backUp, checkFile } from './backup.ts';
import type { WholeFileData, WholeFileRequest } from './rescue.ts';
import { rescue } from './rescue.ts';

const { role, path } = workerData as StoreThreadData | WholeFileData;
if (role !== 'whole file') serveStore(rescue);
else if (parentPort !== null)
  serveThread<WholeFileRequest>(parentPort, (request) => {
    if (request.kind === 'check') return checkFile(path);
    return request.kind === 'back_up' ? backUp(path, request.to) : null;
  });
