/** What the writer thread does, apart from its entry, so that a test can start one that dies on the way. */
import type { MessagePort } from 'node:worker_threads';
import type { Mutation } from '../mutations.ts';
import type { CommitPoint } from './commit.ts';
import { createCommit } from './commit.ts';
import type { ThreadRequest } from './committer.ts';
import type { Durability } from './open-database.ts';
import { openDatabase } from './open-database.ts';

export function serveWriter(
  port: MessagePort,
  path: string,
  durability: Durability,
  reached?: (point: CommitPoint) => void,
): void {
  const db = openDatabase(path, durability);
  const commit = createCommit(db, reached);
  port.on('message', (request: ThreadRequest) => {
    if (request !== null) {
      port.postMessage(JSON.stringify(commit(JSON.parse(request) as Mutation[])));
      return;
    }
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    db.close();
    port.close();
  });
}
