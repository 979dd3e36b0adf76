/** A store that stages every batch it can, for tests: its writer is right here, and closing it leaves what a kill would. */
import { toChange } from '../../runtime/store/sqlite/changes.ts';
import type { CommitResult } from '../../runtime/store/sqlite/commit.ts';
import { createTransactions } from '../../runtime/store/sqlite/commit.ts';
import { migrate } from '../../runtime/store/sqlite/migrations.ts';
import { openDatabase } from '../../runtime/store/sqlite/open-database.ts';
import { createReader } from '../../runtime/store/sqlite/reader.ts';
import type { Store } from '../../runtime/store/store.ts';

export interface StagedStore extends Store {
  /** Moves batches of about so many dispatches into their tables. */
  move(dispatches: number): void;
}

export function openStagedStore(path: string): StagedStore {
  const db = openDatabase(path, 'normal');
  migrate(db);
  const { commit, moveStaged } = createTransactions(db, { stagedFrom: 1 });
  const reader = createReader(db);
  const move = (dispatches: number): void => {
    const refused = moveStaged(dispatches);
    if (refused !== null) throw new Error(refused);
  };
  return {
    ...reader,
    move,
    isKnownClaimed: reader.isClaimed,
    write(mutation) {
      const [result] = commit([toChange(mutation)]) as [CommitResult];
      if (result.kind !== 'ok') throw new Error(result.message);
      return Promise.resolve(result.value as never);
    },
    settle: () => Promise.resolve(move(Number.POSITIVE_INFINITY)),
    close: () => Promise.resolve(void db.close()),
  };
}
