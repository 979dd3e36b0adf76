/** A writer thread that kills its process at a point within a commit. */
import { parentPort, workerData } from 'node:worker_threads';
import { sqliteRescue } from '../../modules/rescue/runtime/rescue.ts';
import { serveThread } from '../../runtime/store/sqlite/thread.ts';
import type { CommitPoint } from '../../runtime/store/sqlite/writer.ts';
import { Writer } from '../../runtime/store/sqlite/writer.ts';
import type { ChildOptions } from './protocol.ts';

export interface KillingWriter extends Pick<ChildOptions, 'kill'> {
  readonly path: string;
}

const { path, kill } = workerData as KillingWriter;
let count = 0;
const reached = (point: CommitPoint): void => {
  if (`commit.${point}` === kill?.point && ++count === kill.nth) process.kill(process.pid, 'SIGKILL');
};
const writer = new Writer({ path, durability: 'full', reached, rescue: sqliteRescue });
if (parentPort !== null) serveThread(parentPort, (request) => writer.serve(request as never));
