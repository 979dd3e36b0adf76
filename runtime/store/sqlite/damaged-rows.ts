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
import type { ValueCheck } from '../decode.ts';
import { decodeOr, isCount, isInstant, isJobRecord, isOneOf, isText, orNull } from '../decode.ts';
import { FIGURES } from '../figures.ts';
import { GUARD_KINDS } from '../guard-mutations.ts';
import { laneKey, routeLane } from '../identity.ts';
import type { DamageReport } from '../queries.ts';
import { APPROVAL_STATES, OPEN_STATES } from '../states.ts';
import { noCounts, TALLY_COLUMNS } from '../tally.ts';
import { isAmount, MOST_USED } from '../usage.ts';
import type { Connection, Value } from './driver.ts';
import { inTransaction } from './driver.ts';
import { stepIds } from './memory.ts';

type Found = Readonly<Record<string, unknown>>;

const isJson =
  (check: ValueCheck): ValueCheck =>
  (value) =>
    decodeOr(value, check, null) !== null;
/** JSON [profile, name, …]. */
const isNames = isJson((value) => Array.isArray(value) && isText(value[0]) && value.every(orNull(isText)));
const isLane: ValueCheck = (value) => isText(value) && isNames(routeLane(value as string));
const isName: ValueCheck = (value) => isText(value) && value !== '';
/** No wait is longer than a year, in ms. */
const YEAR = 366 * 86_400_000;
const DUE = { due_at: isInstant, set_at: isInstant };
const isDue = ({ due_at, set_at }: Found): boolean => Math.abs(Number(due_at) - Number(set_at)) < YEAR;

interface Table {
  /** Columns that identify a row. */
  readonly keys: readonly string[];
  readonly checks: Readonly<Record<string, ValueCheck>>;
  /** Default: all rows. */
  readonly where?: string;
  /** Columns of other tables, for `isWhole`. */
  readonly joined?: readonly string[];
  readonly isWhole?: (row: Found) => boolean;
}

/** For tables with a million rows, of which hardly one is damaged. */
const WITHIN = (column: string, most: number): string =>
  `typeof(${column}) = 'integer' AND ${column} BETWEEN 0 AND ${most}`;
const INSTANT = (column: string): string => WITHIN(column, 2 ** 43 - 1);
const COUNT = (column: string): string => WITHIN(column, Number.MAX_SAFE_INTEGER);
const JSON_TEXT = (column: string): string =>
  `typeof(${column}) = 'text' AND json_valid(${column}) AND instr(${column}, char(0)) = 0`;

const OPEN =
  "ref IN (SELECT ref FROM work WHERE finished_at IS NULL UNION SELECT ref FROM work WHERE state = 'pending' " +
  'UNION SELECT ref FROM work WHERE holder IS NOT NULL UNION SELECT ref FROM delivery)';

const TABLES = {
  delivery: {
    keys: ['ref', 'n'],
    checks: {
      ...{ ref: isCount, n: isCount, lane: isNames, ...DUE, holder: orNull(isText) },
      waiting: isOneOf(null, ...APPROVAL_STATES),
    },
    isWhole: isDue,
  },
  work: {
    keys: ['ref'],
    checks: {
      ...{ ref: isCount, lane: isLane, state: isOneOf(...OPEN_STATES), ...DUE, holder: orNull(isText) },
      ...{ started_at: orNull(isInstant), answered_at: orNull(isInstant), finished_at: isOneOf(null) },
      ...{ reason: orNull(isJson(isText)), failed: isCount, steps: isCount },
      ...{ session: orNull(isNames), turn: orNull(isCount), waits_for: isOneOf('session', null) },
      waits_since: orNull(isInstant),
    },
    where: OPEN,
    joined: [
      '(SELECT profile FROM dispatch d WHERE d.ref = t.ref) AS own_profile',
      '(SELECT route FROM dispatch d WHERE d.ref = t.ref) AS own_route',
      'EXISTS (SELECT 1 FROM delivery x WHERE x.ref = t.ref) AS has_deliveries',
    ],
    isWhole: (row) =>
      isDue(row) &&
      routeLane(row.lane as string) === laneKey(row.own_profile as string, row.own_route as string | null) &&
      (row.has_deliveries === 1 ? row.state === 'delivering' : row.state !== 'delivering' || row.holder !== null),
  },
  // What finds a dispatch, in the indexes that find it: they follow the texts in a row, and a scan would read all of these.
  // The texts are looked at when they are read.
  dispatch: {
    keys: ['ref'],
    checks: { session: orNull(isNames), burst: orNull(isCount) },
    where:
      `ref IN (SELECT ref FROM dispatch INDEXED BY dispatch_session WHERE session IS NOT NULL AND NOT (${JSON_TEXT('session')}) ` +
      `UNION ALL SELECT ref FROM dispatch INDEXED BY dispatch_burst WHERE burst IS NOT NULL AND NOT (${COUNT('burst')}))`,
  },
  coalesce_group: {
    keys: ['key'],
    checks: { key: isNames, ref: isCount, first_at: isInstant, due_at: isInstant, superseded: isCount },
  },
  guard_state: {
    keys: ['id'],
    checks: {
      ...{ id: isNames, kind: isOneOf(...GUARD_KINDS), key: isJson(isText), expires_at: orNull(isInstant) },
      body: isJson(() => true),
    },
  },
  message: { keys: ['key'], checks: { key: isNames, ref: isCount, ttl_ms: isCount } },
  job: {
    keys: ['id'],
    checks: { id: isName, profile: isName, name: isName, body: isJson(isJobRecord) },
    isWhole: (row) => {
      const { id, profile, name } = decodeOr<Found>(row.body, isJobRecord, {});
      return id === row.id && profile === row.profile && name === row.name;
    },
  },
  job_state: {
    keys: ['job'],
    checks: {
      ...{ job: isName, paused: orNull(isOneOf(0, 1)), paused_until: orNull(isInstant), cursor: orNull(isInstant) },
      ...{ signature: orNull(isText), ref: orNull(isCount) },
    },
  },
  job_tick: {
    keys: ['job', 'due_at'],
    checks: {
      ...{ job: isName, due_at: isInstant, outcome: isOneOf('fired', 'missed', 'overlapped', 'budget') },
      ...{ ref: orNull(isCount), missed: isCount },
    },
    where:
      `NOT (typeof(job) = 'text' AND ${INSTANT('due_at')} AND outcome IN ('fired', 'missed', 'overlapped', 'budget') ` +
      "AND typeof(missed) = 'integer' AND missed >= 0 AND (ref IS NULL OR typeof(ref) = 'integer'))",
  },
  figure: {
    keys: ['minute'],
    checks: { minute: isInstant, ...Object.fromEntries(FIGURES.map((name) => [name, isCount])) },
    where: `NOT (${[INSTANT('minute'), ...FIGURES.map(COUNT)].join(' AND ')})`,
  },
  usage: {
    keys: ['id'],
    checks: {
      ...{ id: isCount, ref: isCount, at: isInstant, agent: orNull(isText) },
      ...{ input_tokens: orNull(isCount), output_tokens: orNull(isCount), cost: orNull(isAmount) },
    },
    where:
      `NOT (ref >= 0 AND ${INSTANT('at')} AND max(coalesce(input_tokens, 0), coalesce(output_tokens, 0), ` +
      `coalesce(cost, 0)) <= ${MOST_USED} AND min(coalesce(input_tokens, 0), coalesce(output_tokens, 0), coalesce(cost, 0)) >= 0)`,
  },
  claim: {
    keys: ['key'],
    checks: { key: isNames, expires_at: isInstant },
    where: `NOT (${INSTANT('expires_at')} AND ${JSON_TEXT('key')})`,
  },
} as const satisfies Readonly<Record<string, Table>>;
type TableName = keyof typeof TABLES;

const HOUR = 3_600_000;

/** Sets damaged rows aside. Returns what was found, a line each. @param now Unix ms @throws when the medium fails */
export function setRowsAside(db: Connection, now: number): readonly string[] {
  const lines: string[] = [];
  const aside = createAside(db, now, lines);
  inTransaction(db, () => {
    for (const name of Object.keys(TABLES) as TableName[]) aside(name);
    checkTallies(db, lines, now);
    checkIndexes(db, lines, now);
  });
  return lines;
}

/** Work is found by these indexes alone: a row that is missing there would wait for ever. */
const DUE_INDEXES = {
  work_due: { table: 'work', columns: 'lane, due_at, ref', where: "state = 'pending' AND waits_for IS NULL" },
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
    keep(db, table, `the index ${name}`, now, `(${columns}) IN (${missing})`, []);
    lines.push(`the index ${name}`);
    db.exec(`REINDEX ${name}`);
  }
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

function createAside(db: Connection, now: number, lines: string[]): (name: TableName) => void {
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
  return (name) => {
    const { keys, checks, where = '1', joined = [], isWhole = () => true }: Table = TABLES[name];
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
      const row: Found = Object.fromEntries(names.map((column, at) => [column, values[at]]));
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
      keep(db, name, what, now, at, key);
      lines.push(what);
      if ((name === 'work' || name === 'delivery') && isCount(row.ref)) giveUp(Number(row.ref), what);
      else if (name === 'claim' && bad === 'expires_at')
        change(`UPDATE claim SET expires_at = ? WHERE ${at}`, now + HOUR, ...key);
      else if (name === 'dispatch') {
        // Only the session is a text.
        const cleared = new Set(isText ? wrong : [...wrong, 'session']);
        change(
          `UPDATE dispatch SET ${[...cleared].map((column) => `${column} = NULL`).join(', ')} WHERE ${at}`,
          ...key,
        );
      } else change(`DELETE FROM ${name} WHERE ${at}`, ...key);
      if (name === 'job_state' && isName(row.job)) {
        const paused = orNull(isOneOf(0, 1))(row.paused) ? row.paused : 1;
        change('INSERT INTO job_state (job, paused) VALUES (?, ?)', row.job as string, paused as Value);
      }
    }
  };
}

/** Copies a row as the statement that writes it. */
function keep(db: Connection, name: string, what: string, now: number, at: string, key: readonly Value[]): void {
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

/** Counts all dispatches anew when the counts are no counts, or those of open work are not what is there. */
function checkTallies(db: Connection, lines: string[], now: number): void {
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
  if (!isWrong && counted.size === 0) return;
  keep(db, 'tally', 'counts of routes', now, '1', []);
  lines.push('counts of routes');
  db.exec('DELETE FROM tally');
  const put = db.change(
    `INSERT INTO tally (profile, route, max_concurrent, ${TALLY_COLUMNS.join(', ')}) ` +
      `VALUES (?, ?, ?, ${TALLY_COLUMNS.map(() => '?').join(', ')})`,
  );
  for (const [lane, counts] of countOf(db, '1')) {
    const [profile, route] = JSON.parse(lane) as [string, string | null];
    put(profile, route ?? '', limits.get(lane) ?? null, ...TALLY_COLUMNS.map((column) => counts[column]));
  }
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
