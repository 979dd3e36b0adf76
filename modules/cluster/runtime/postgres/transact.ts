/** Runs transactions. Each sets its own parameters, because behind a pooler a setting lasts only for a transaction. */
import type { PgConnection } from './driver.ts';

/** Timeouts in ms: of waiting for a lock, of a statement, and of an idle transaction. */
const LOCK_MS = 5000;
const STATEMENT_MS = 8000;
const IDLE_MS = 5000;

/** @param schema quoted */
export function beginOf(schema: string): string {
  const settings = [
    ['search_path', schema],
    ['lock_timeout', `${LOCK_MS}`],
    ['statement_timeout', `${STATEMENT_MS}`],
    // A gateway that is suspended or disconnected must not keep its locks.
    ['idle_in_transaction_session_timeout', `${IDLE_MS}`],
  ];
  const set = settings.map(([name, value]) => `set_config('${name}', '${value}', true)`).join(', ');
  return (
    `BEGIN; SELECT ${set}; ` +
    // Acknowledged means stored; a stronger setting is kept.
    "SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off'"
  );
}

/** For data that may be lost in a crash of the server: the commit does not wait for the disk. */
export const beginLaxOf = (schema: string): string => `${beginOf(schema)}; SET LOCAL synchronous_commit = off`;

/** For queries: one read-only snapshot. @param schema quoted */
export const beginReadOf = (schema: string): string =>
  `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL search_path = ${schema}`;

/** Runs `work` as one transaction; its statements are sent after `begin` without waiting. */
export async function transact<T>(db: PgConnection, begin: string, work: () => Promise<T>): Promise<T> {
  const begun = db.script(begin);
  const [first, made] = await Promise.allSettled([begun, work()]);
  if (first.status === 'fulfilled' && made.status === 'fulfilled') {
    await db.script('COMMIT');
    return made.value;
  }
  if (db.lost === null) await db.script('ROLLBACK').catch(() => {});
  throw first.status === 'rejected' ? first.reason : (made as PromiseRejectedResult).reason;
}
