/** Transactions, and what each begins with: behind a pooler a setting lasts no longer than a transaction. */
import type { PgConnection } from './driver.ts';

/** How long a statement may wait for a lock, and take, and how long a transaction may wait for its gateway, in ms. */
const LOCK_MS = 5000;
const STATEMENT_MS = 8000;
const IDLE_MS = 5000;

/** @param schema quoted */
export function beginOf(schema: string): string {
  const settings = [
    ['search_path', schema],
    ['lock_timeout', `${LOCK_MS}`],
    ['statement_timeout', `${STATEMENT_MS}`],
    // A gateway that is stopped or cut off does not keep its locks.
    ['idle_in_transaction_session_timeout', `${IDLE_MS}`],
  ];
  const set = settings.map(([name, value]) => `set_config('${name}', '${value}', true)`).join(', ');
  return (
    `BEGIN; SELECT ${set}; ` +
    // Acknowledged means stored; a stronger setting stays.
    "SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off'"
  );
}

/** For what need not outlive a crash of the server: its commit does not wait for the disk. */
export const beginLaxOf = (schema: string): string => `${beginOf(schema)}; SET LOCAL synchronous_commit = off`;

export const beginReadOf = (schema: string): string =>
  `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL search_path = ${schema}`;

/** Runs `work` as one transaction; its statements are sent behind `begin` without waiting. */
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
