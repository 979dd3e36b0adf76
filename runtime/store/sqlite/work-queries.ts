/**
 * The queries of each `take_work`, the same for runs and delivery attempts. They use partial indexes over waiting and held
 * rows, so that their cost does not grow with the ended ones; test/runtime/store/sqlite/plans.test.ts checks the plans.
 */

export interface LaneSql {
  /** Due rows of a lane, in order. */
  readonly due: string;
  /** The first lane by name after this one. */
  readonly laneAfter: string;
  /** Earliest due time in a lane, and the earliest after an instant. */
  readonly next: string;
  readonly later: string;
}

const laneSql = (columns: string, waiting: string, order: string): LaneSql => ({
  due: `SELECT ${columns} ${waiting} AND lane = ? AND due_at <= ? ORDER BY ${order} LIMIT ?`,
  laneAfter: `SELECT min(lane) ${waiting} AND lane > ?`,
  next: `SELECT min(due_at) ${waiting} AND lane = ?`,
  later: `SELECT min(due_at) ${waiting} AND lane = ? AND due_at > ?`,
});

export const RUNS = laneSql('ref, failed', "FROM work WHERE state = 'pending'", 'due_at, ref');
export const ATTEMPTS = laneSql('ref, n', 'FROM delivery WHERE holder IS NULL', 'due_at, ref, n');
/** Abandoned work: held by processes other than ?1, or by ?1 but not in ?2 (JSON), the list of its work under way. */
export const LEFT_RUNS =
  'SELECT ref, holder <> ?1 FROM work WHERE holder IS NOT NULL ' +
  "AND (holder <> ?1 OR state = 'running' AND ref NOT IN (SELECT value FROM json_each(?2)))";
export const RELEASE_ATTEMPTS =
  'UPDATE delivery SET holder = NULL WHERE holder IS NOT NULL ' +
  'AND (holder <> ?1 OR (ref, n) NOT IN (SELECT value ->> 0, value ->> 1 FROM json_each(?2)))';
export const HELD_ATTEMPTS = 'SELECT count(*) FROM delivery WHERE holder = ? AND lane = ?';
