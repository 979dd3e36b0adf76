/** A writer thread that kills its process at a point within a commit. */
import { parentPort, workerData } from 'node:worker_threads';
import type { CommitPoint } from '../../runtime/store/sqlite/commit.ts';
import { serveWriter } from '../../runtime/store/sqlite/serve-writer.ts';
import type { ChildOptions } from './protocol.ts';

export interface KillingWriter extends Pick<ChildOptions, 'kill'> {
  readonly path: string;
}

const { path, kill } = workerData as KillingWriter;
let count = 0;
if (parentPort !== null) {
  const reached = (point: CommitPoint): void => {
    if (`commit.${point}` === kill?.point && ++count === kill.nth) process.kill(process.pid, 'SIGKILL');
  };
  serveWriter(parentPort, { path, durability: 'full', reached });
}
