/** Runs `work` in a transaction, which is rolled back when it throws. */
import type { Connection } from './driver.ts';

export function inTransaction(db: Connection, work: () => void): void {
  db.exec('BEGIN IMMEDIATE');
  try {
    work();
    db.exec('COMMIT');
  } catch (error) {
    if (db.inTransaction) db.exec('ROLLBACK');
    throw error;
  }
}
