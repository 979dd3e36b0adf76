/** Lists of dispatches, newest first, by any mix of conditions. */
import type Database from 'libsql';
import { DISPATCH_STATES } from '../states.ts';
import type { ListQuery, StoreReader } from '../store.ts';
import type { SummaryRow } from './summary.ts';
import { readSummary, SUMMARY_COLUMNS } from './summary.ts';

const CONDITIONS = [
  ['route', 'd.route = ?'],
  ['job', 'd.job = ?'],
  ['since', 'd.accepted_at >= ?'],
  ['before', 'w.ref < ?'],
] as const satisfies readonly (readonly [keyof ListQuery, string])[];

export function createList(db: Database.Database): StoreReader['list'] {
  return (query) => {
    const given = CONDITIONS.filter(([name]) => query[name] !== undefined);
    const where: string[] = given.map(([, condition]) => condition);
    // Written out, because a partial index is only used for a literal.
    const state = DISPATCH_STATES.find((known) => known === query.state);
    if (state !== undefined) where.push(`w.state = '${state}'`);
    const statement = db.prepare(
      `SELECT ${SUMMARY_COLUMNS} FROM work w JOIN dispatch d USING (ref) ` +
        `${where.length === 0 ? '' : `WHERE ${where.join(' AND ')}`} ORDER BY w.ref DESC LIMIT ?`,
    );
    const values = given.map(([name]) => query[name] as string | number);
    return (statement.raw().all([...values, query.limit]) as unknown as SummaryRow[]).map(readSummary);
  };
}
