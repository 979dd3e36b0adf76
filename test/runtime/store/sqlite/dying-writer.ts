/** A writer thread that dies once, at a point of its first commit. */
import { existsSync, writeFileSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { sqliteRescue } from '../../../../modules/rescue/runtime/rescue.ts';
import { serveThread } from '../../../../runtime/store/sqlite/thread.ts';
import type { CommitPoint } from '../../../../runtime/store/sqlite/writer.ts';
import { Writer } from '../../../../runtime/store/sqlite/writer.ts';

export interface DyingWriterData {
  readonly path: string;
  readonly point: CommitPoint;
  /** Written when the thread has died. */
  readonly marker: string;
}

const { path, point, marker } = workerData as DyingWriterData;
const reached = (at: CommitPoint): void => {
  if (at !== point || existsSync(marker)) return;
  writeFileSync(marker, '');
  process.exit(1);
};
const writer = new Writer({ path, durability: 'full', reached, rescue: sqliteRescue });
if (parentPort !== null) serveThread(parentPort, (request) => writer.serve(request as never));
