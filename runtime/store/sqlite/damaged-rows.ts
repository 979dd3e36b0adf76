/**
 * Finds rows of work and of bookkeeping that are not what was written, when the file is opened and when a change fails.
 * Each is copied into the table `damaged`, as the statement that wrote it; then
 *
 *   work, delivery                 the dispatch is dead, with the reason: `deliveries list` shows it, `replay` repeats it
 *   dispatch                       its session or its burst, whichever is damaged, is forgotten; its texts are checked when it is read
 *   coalesce_group, message, guard_state, usage, figure, job, job_tick   the row is removed; a dispatch that waited in the group runs when it is due
 *   job_state                      what is damaged begins anew; a job that may have been paused is paused
 *   claim                          the id counts as claimed for an hour more; one whose id is damaged is removed
 *   tally                          counted anew
 *
 * Texts of a dispatch are large, and checked when it is read (../listed-rows.ts).
 */
import { isUtf8 } from 'node:buffer';
import { isCount, isOneOf, isText, orNull } from '../decode.ts';
import { laneKey } from '../identity.ts';
import { repairTallies } from './damaged-counts.ts';
import { keepDamaged } from './damaged-table.ts';
import type { Connection, Value } from './driver.ts';
import { inTransaction } from './driver.ts';
import { stepIds } from './memory.ts';
import type { FoundRow, RowChecks, TableName } from './row-checks.ts';
import { isName, ROW_CHECKS } from './row-checks.ts';

const HOUR = 3_600_000;

/** Sets damaged rows aside. Returns what was found, a line each. @param now Unix ms @throws when the medium fails */
export function setRowsAside(db: Connection, now: number): readonly string[] {
  const lines: string[] = [];
  const aside = createAside(db, now, lines);
  inTransaction(db, () => {
    for (const name of Object.keys(ROW_CHECKS) as TableName[]) aside(name);
    if (lines.length > 0) db.exec(GIVE_TURNS);
    if (repairTallies(db, now)) lines.push('counts of routes');
    checkIndexes(db, lines, now);
  });
  return lines;
}

/** Gives the turn to the first of each session in which no run has it any more. */
const GIVE_TURNS =
  'UPDATE work SET blocked_by = NULL WHERE session IS NOT NULL AND blocked_by IS NOT NULL ' +
  'AND NOT EXISTS (SELECT 1 FROM work e WHERE e.session = work.session AND e.turn < work.turn)';

/** Work is found by these indexes alone: a row that is missing there would wait for ever. */
const DUE_INDEXES = {
  work_due: { table: 'work', columns: 'lane, due_at, ref', where: "state = 'pending' AND blocked_by IS NULL" },
  delivery_due: { table: 'delivery', columns: 'lane, due_at, ref, n', where: 'holder IS NULL' },
} as const;

/** Creates an index anew that lacks rows of its table. The rows are found by another way than that index. */
function checkIndexes(db: Connection, lines: string[], now: number): void {
  for (const [name, { table, columns, where }] of Object.entries(DUE_INDEXES)) {
    const open = 'ref IN (SELECT ref FROM work INDEXED BY work_open WHERE finished_at IS NULL)';
    const missing =
      `SELECT ${columns} FROM ${table} NOT INDEXED WHERE ${open} AND ${where} ` +
      `EXCEPT SELECT ${columns} FROM ${table} INDEXED BY ${name} WHERE ${where}`;
    if (db.query(`SELECT 1 FROM (${missing})`).get() === undefined) continue;
    keepDamaged(db, table, `the index ${name}`, now, `(${columns}) IN (${missing})`, []);
    lines.push(`the index ${name}`);
    db.exec(`REINDEX ${name}`);
  }
}

function createAside(db: Connection, now: number, lines: string[]): (name: TableName) => void {
  const repair = createRepair(db, now);
  return (name) => {
    const { keys, checks, where = '1', joined = [], isWhole = () => true }: RowChecks = ROW_CHECKS[name];
    const columns = Object.keys(checks);
    const selected = [
      ...new Set([...keys, ...columns].map((column) => `t.${column}`)),
      // A key that is no valid text is found by its bytes.
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
      // A number is found by its index: a scan would read all of the table.
      const key = keys.map((each) => (Number.isSafeInteger(row[each]) ? row[each] : row[`key_${each}`]) as Value);
      const at = keys
        .map((each) => (Number.isSafeInteger(row[each]) ? `${each} = ?` : `CAST(${each} AS BLOB) = ?`))
        .join(' AND ');
      const what = `${name}${bad === undefined ? '' : `.${bad}`} of ${JSON.stringify(String(row[keys[0] ?? '']))}`;
      keepDamaged(db, name, what, now, at, key);
      lines.push(what);
      repair(name, { row, wrong, isText, what }, at, key);
    }
  };
}

interface DamagedRow {
  readonly row: FoundRow;
  /** The columns that are not what they may be; none: the row as a whole is not. */
  readonly wrong: readonly string[];
  /** All texts are valid. */
  readonly isText: boolean;
  /** For people. */
  readonly what: string;
}

/** Returns a function that makes good for a row, which `at` and `key` find: what becomes of each table's stands above. */
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
