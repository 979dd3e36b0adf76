/** The table `damaged`: rows that were not what was written, as the statements that wrote them. */
import type { DamageReport } from '../queries.ts';
import type { Connection, Value } from './driver.ts';

/** Copies the rows of the table `name` of which `at` is true. @param what they are, for people @param now Unix ms @param key values of `at` */
export function keepDamaged(
  db: Connection,
  name: string,
  what: string,
  now: number,
  at: string,
  key: readonly Value[],
): void {
  db.exec('CREATE TABLE IF NOT EXISTS damaged (at INTEGER NOT NULL, what TEXT NOT NULL, row TEXT NOT NULL) STRICT');
  const columns = db
    .query<[string]>('SELECT name FROM pragma_table_info(?)')
    .all(name)
    .map(([column]) => column);
  const literal = (column: string): string =>
    `iif(typeof(${column}) = 'text', 'CAST(' || quote(CAST(${column} AS BLOB)) || ' AS TEXT)', quote(${column}))`;
  db.change(
    `INSERT INTO damaged SELECT ?, ?, 'INSERT INTO ${name} (${columns.join(', ')}) VALUES (' || ` +
      `${columns.map(literal).join(" || ', ' || ")} || ')' FROM ${name} WHERE ${at}`,
  )(now, what, ...key);
}

/** The rows that were set aside, for `status` and `doctor`; null: there are none. */
export function readAside(db: Connection): DamageReport | null {
  if (db.query("SELECT 1 FROM sqlite_schema WHERE name = 'damaged'").get() === undefined) return null;
  const [count = 0, at = 0, first = ''] =
    db.query<[number, number, string]>('SELECT count(*), min(at), what FROM damaged').get() ?? [];
  if (count === 0) return null;
  const rows = count === 1 ? '1 row was' : `${count} rows were`;
  return { at, message: `${rows} not what was written, and set aside in the table "damaged": ${first}`, copy: null };
}
