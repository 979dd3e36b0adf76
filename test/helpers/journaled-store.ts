/**
 * A server's store that writes to its journal whatever it can, for tests: its writer is right here and follows only ahead
 * of other changes, or to settle. Closing it leaves what a kill would.
 */
import type { CommitResult } from '../../runtime/store/sqlite/commit.ts';
import { createTransactions } from '../../runtime/store/sqlite/commit.ts';
import type { FollowingCommitter } from '../../runtime/store/sqlite/committer.ts';
import { Follower } from '../../runtime/store/sqlite/follower.ts';
import { openDatabase } from '../../runtime/store/sqlite/open-database.ts';
import { assembleServer, openCommandStore } from '../../runtime/store/sqlite-store.ts';
import type { Store } from '../../runtime/store/store.ts';
import { silentLog } from './log.ts';

export function openJournaledStore(path: string): Store {
  // Brings the file up to date with what is left in the journal.
  void openCommandStore(path).close();
  return assembleServer({ path, durability: 'normal', log: silentLog, journal: { from: 1 } }, (events) => {
    const db = openDatabase(path, 'normal');
    const transactions = createTransactions(db);
    const follower = new Follower(path, db, transactions);
    const follow = (): void => {
      const refused = follower.follow();
      if (refused !== null) throw new Error(refused);
      events.followed(follower.done);
    };
    const committer: FollowingCommitter = {
      follow: (place) => follower.aim(place),
      commit(batch): Promise<readonly CommitResult[]> {
        follow();
        return Promise.resolve(transactions.commit(batch));
      },
      settle: () => Promise.resolve(follow()),
      close() {
        follower.close();
        db.close();
        return Promise.resolve();
      },
    };
    return committer;
  });
}
