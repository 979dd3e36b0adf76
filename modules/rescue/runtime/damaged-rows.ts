/**
 * Quarantines damaged rows of work and of bookkeeping, when the file is opened and when a change fails. Each row is
 * copied into the table `damaged`, as the statement that wrote it. Then it is repaired:
 *
 *   work, delivery                 the dispatch becomes dead, with the reason: `deliveries list` shows it, `replay` repeats it
 *   dispatch                       a damaged session or burst is cleared; its texts are checked when it is read
 *   coalesce_group, message, guard_state, usage, figure, job, job_tick
 *                                  the row is removed; a dispatch that waited in the group runs when it is due
 *   job_state                      a damaged state is reset; a job that may have been paused is paused
 *   claim                          the id counts as claimed for another hour; a row with a damaged id is removed
 *   tally                          recounted
 *
 * Texts of a dispatch are large, and checked when it is read (../listed-rows.ts).
 */
import { isUtf8 } from 'node:buffer';
import { isCount, isOneOf, isText, orNull } from '../../../runtime/store/decode.ts';
import type { DamageReport } from '../../../runtime/store/queries.ts';
import { laneKey, routeLane } from '../../../runtime/store/records.ts';
import type { Connection, Value } from '../../../runtime/store/sqlite/driver.ts';
import { inTransaction } from '../../../runtime/store/sqlite/driver.ts';
import { stepIds } from '../../../runtime/store/sqlite/memory.ts';
import { OPEN_STATES } from '../../../runtime/store/states.ts';
import { noCounts, TALLY_COLUMNS } from '../../../runtime/store/tally.ts';
import type { FoundRow, RowChecks, TableName } from './row-checks.ts';
import { isLane, isName, ROW_CHECKS } from './row-checks.ts';

const HOUR = 3_600_000;

/** Quarantines damaged rows. Returns a line for each. @param now Unix ms @throws when the medium fails */
export function quarantineRows(db: Connection, now: number): readonly string[] {
  const lines: string[] = [];
  const aside = createQuarantine(db, now, lines);
  inTransaction(db, () => {
    for (const name of Object.keys(ROW_CHECKS) as TableName[]) aside(name);
    if (lines.length > 0) db.exec(GIVE_TURNS);
    if (repairTallies(db, now)) lines.push('counts of routes');
    checkIndexes(db, lines, now);
  });
  return lines;
}

/** Gives the turn to the first run of each session in which none has it. */
const GIVE_TURNS =
  "UPDATE work SET blocked_by = NULL WHERE session IS NOT NULL AND blocked_by = 'session' " +
  'AND NOT EXISTS (SELECT 1 FROM work e WHERE e.session = work.session AND e.turn < work.turn)';

/** Work is found only by these indexes: a row that is missing there would wait for ever. */
const DUE_INDEXES = {
  work_due: { table: 'work', columns: 'lane, due_at, ref', where: "state = 'pending' AND blocked_by IS NULL" },
  delivery_due: { table: 'delivery', columns: 'lane, due_at, ref, n', where: 'holder IS NULL' },
} as const;

/** Rebuilds an index that lacks rows of its table. Finds these rows without that index. */
function checkIndexes(db: Connection, lines: string[], now: number): void {
  for (const [name, { table, columns, where }] of Object.entries(DUE_INDEXES)) {
    const open = 'ref IN (SELECT ref FROM work INDEXED BY work_open WHERE finished_at IS NULL)';
    const missing =
      `SELECT ${columns} FROM ${table} NOT INDEXED WHERE ${open} AND ${where} ` +
      `EXCEPT SELECT ${columns} FROM ${table} INDEXED BY ${name} WHERE ${where}`;
    if (db.query(`SELECT 1 FROM (${missing})`).get() === undefined) continue;
    copyDamaged(db, table, `the index ${name}`, now, `(${columns}) IN (${missing})`, []);
    lines.push(`the index ${name}`);
    db.exec(`REINDEX ${name}`);
  }
}

function createQuarantine(db: Connection, now: number, lines: string[]): (name: TableName) => void {
  const repair = createRepair(db, now);
  return (name) => {
    const { keys, checks, where = '1', joined = [], isWhole = () => true }: RowChecks = ROW_CHECKS[name];
    const columns = Object.keys(checks);
    const selected = [
      ...new Set([...keys, ...columns].map((column) => `t.${column}`)),
      // A key that is not valid text is found by its bytes.
      ...keys.map((key) => `CAST(t.${key} AS BLOB) AS key_${key}`),
      // The driver reads a text up to a NUL, and invalid UTF-8 as U+FFFD.
      `instr(concat(${columns.map((column) => `t.${column}`).join(', ')}), char(0)) AS nul`,
      `CAST(concat(${columns.map((column) => `t.${column}`).join(', ')}) AS BLOB) AS bytes`,
      ...joined,
    ];
    const names = selected.map((column) => column.replace(/^.*[. ]/, ''));
    const rows = db.query(`SELECT ${selected.join(', ')} FROM ${name} t WHERE ${where}`).all();
    for (const values of rows) {
      const row: FoundRow = Object.fromEntries(names.map((column, at) => [column, values[at]]));
      const wrong = columns.filter((column) => checks[column]?.(row[column]) === false);
      const [bad] = wrong;
      const isText = row.nul === 0 && isUtf8(row.bytes as Uint8Array);
      if (bad === undefined && isText && isWhole(row)) continue;
      // A number is found by its index: a scan would read the whole table.
      const key = keys.map((each) => (Number.isSafeInteger(row[each]) ? row[each] : row[`key_${each}`]) as Value);
      const at = keys
        .map((each) => (Number.isSafeInteger(row[each]) ? `${each} = ?` : `CAST(${each} AS BLOB) = ?`))
        .join(' AND ');
      const what = `${name}${bad === undefined ? '' : `.${bad}`} of ${JSON.stringify(String(row[keys[0] ?? '']))}`;
      copyDamaged(db, name, what, now, at, key);
      lines.push(what);
      repair(name, { row, wrong, isText, what }, at, key);
    }
  };
}

interface DamagedRow {
  readonly row: FoundRow;
  /** The invalid columns; none: only the combination of columns is invalid. */
  readonly wrong: readonly string[];
  /** True if all texts are valid. */
  readonly isText: boolean;
  /** A description for people. */
  readonly what: string;
}

/** Returns the repair for a damaged row, which `at` and `key` find. The header lists the repair of each table. */
function createRepair(
  db: Connection,
  now: number,
): (name: TableName, damaged: DamagedRow, at: string, key: readonly Value[]) => void {
  const change = (sql: string, ...values: readonly Value[]): number => db.change(sql)(...values);
  const giveUp = (ref: number, what: string): void => {
    const own = db.query<[string, string | null]>('SELECT profile, route FROM dispatch WHERE ref = ?').get(ref);
    change('DELETE FROM delivery WHERE ref = ?', ref);
    change('DELETE FROM coalesce_group WHERE ref = ?', ref);
    if (own === undefined) return void change('DELETE FROM work WHERE ref = ?', ref);
    const ended =
      "INSERT OR REPLACE INTO work (ref, lane, state, reason, finished_at, steps) SELECT ?1, ?2, 'dead', ?3, ?4, " +
      'count(*) FROM step WHERE id BETWEEN ?5 AND ?6';
    const lane = isText(own[0]) ? laneKey(...own) : laneKey('', null);
    change(ended, ref, lane, JSON.stringify(`damaged in the store: ${what}`), now, ...stepIds(ref));
  };
  return (name, { row, wrong, isText: isReadable, what }, at, key) => {
    switch (name) {
      case 'work':
      case 'delivery':
        if (isCount(row.ref)) giveUp(Number(row.ref), what);
        else change(`DELETE FROM ${name} WHERE ${at}`, ...key);
        return;
      case 'claim':
        if (wrong[0] === 'expires_at') change(`UPDATE claim SET expires_at = ? WHERE ${at}`, now + HOUR, ...key);
        else change(`DELETE FROM claim WHERE ${at}`, ...key);
        return;
      case 'dispatch': {
        // Only the session is a text.
        const cleared = [...new Set(isReadable ? wrong : [...wrong, 'session'])];
        change(`UPDATE dispatch SET ${cleared.map((column) => `${column} = NULL`).join(', ')} WHERE ${at}`, ...key);
        return;
      }
      case 'job_state':
        change(`DELETE FROM job_state WHERE ${at}`, ...key);
        if (!isName(row.job)) return;
        change(
          'INSERT INTO job_state (job, paused) VALUES (?, ?)',
          row.job as string,
          (orNull(isOneOf(0, 1))(row.paused) ? row.paused : 1) as Value,
        );
        return;
      default:
        change(`DELETE FROM ${name} WHERE ${at}`, ...key);
    }
  };
}

/**
 * Recounts all dispatches when the counts are invalid, or those of pending work do not match. Returns whether it did.
 */
function repairTallies(db: Connection, now: number): boolean {
  const stored = db.query(`SELECT profile, route, max_concurrent, ${TALLY_COLUMNS.join(', ')} FROM tally`).all();
  const limits = new Map<string, number | null>();
  const counted = new Map<string, string>();
  let isWrong = false;
  for (const [profile, route, limit, ...counts] of stored) {
    const lane = laneKey(String(profile), route === '' ? null : String(route));
    const isLimit = limit === null || (isCount(limit) && limit !== 0);
    if (isLimit) limits.set(lane, limit as number | null);
    isWrong ||= !isLimit || !isName(profile) || !isText(route) || !counts.every(isCount);
    const open = OPEN_STATES.map((state) => counts[TALLY_COLUMNS.indexOf(state)]);
    if (open.some((count) => count !== 0)) counted.set(lane, String(open));
  }
  const found = countOf(db, 'finished_at IS NULL');
  for (const [lane, counts] of found) {
    isWrong ||= counted.get(lane) !== String(OPEN_STATES.map((state) => counts[state]));
    counted.delete(lane);
  }
  if (!isWrong && counted.size === 0) return false;
  copyDamaged(db, 'tally', 'counts of routes', now, '1', []);
  db.exec('DELETE FROM tally');
  const put = db.change(
    `INSERT INTO tally (profile, route, max_concurrent, ${TALLY_COLUMNS.join(', ')}) ` +
      `VALUES (?, ?, ?, ${TALLY_COLUMNS.map(() => '?').join(', ')})`,
  );
  for (const [lane, counts] of countOf(db, '1')) {
    const [profile, route] = JSON.parse(lane) as [string, string | null];
    put(profile, route ?? '', limits.get(lane) ?? null, ...TALLY_COLUMNS.map((column) => counts[column]));
  }
  return true;
}

function countOf(db: Connection, where: string): ReadonlyMap<string, ReturnType<typeof noCounts>> {
  const lanes = new Map<string, ReturnType<typeof noCounts>>();
  for (const [lane, state, count] of db
    .query<[string, string, number]>(`SELECT lane, state, count(*) FROM work WHERE ${where} GROUP BY 1, 2`)
    .all()) {
    const column = TALLY_COLUMNS.find((name) => name === state);
    if (column === undefined || !isLane(lane)) continue;
    const counts = lanes.get(routeLane(lane)) ?? noCounts();
    lanes.set(routeLane(lane), counts);
    counts[column] += count;
    counts.accepted += count;
  }
  return lanes;
}

/**
 * Copies the rows of the table `name` for which `at` is true. @param what a description for people @param now Unix ms
 * @param key values of `at`
 */
function copyDamaged(db: Connection, name: string, what: string, now: number, at: string, key: readonly Value[]): void {
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

/** The report of the quarantined rows, for `status` and `doctor`; null: there are none. */
export function readQuarantine(db: Connection): DamageReport | null {
  if (db.query("SELECT 1 FROM sqlite_schema WHERE name = 'damaged'").get() === undefined) return null;
  const [count = 0, at = 0, first = ''] =
    db.query<[number, number, string]>('SELECT count(*), min(at), what FROM damaged').get() ?? [];
  if (count === 0) return null;
  const rows = count === 1 ? '1 row was' : `${count} rows were`;
  return { at, message: `${rows} damaged and quarantined in the table "damaged": ${first}`, copy: null };
}
