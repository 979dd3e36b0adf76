/** The entry of the store's threads, and of one that reads the whole file. */
import { parentPort, workerData } from 'node:worker_threads';
import type { StoreThreadData } from '../../../runtime/store/sqlite/serve-store.ts';
import { serveStore } from '../../../runtime/store/sqlite/serve-store.ts';
import { serveThread } from '../../../runtime/store/sqlite/thread.ts';
import type { WholeFileRequest } from './backup.ts';
import { WholeFile } from './backup.ts';
import type { WholeFileData } from './rescue.ts';
import { rescue } from './rescue.ts';

const { role, path } = workerData as StoreThreadData | WholeFileData;
if (role !== 'whole file') serveStore(rescue);
else if (parentPort !== null) {
  const file = new WholeFile(path);
  serveThread<WholeFileRequest>(parentPort, (request) => file.serve(request));
}
