/** Rows of the tables, and statements that write many of them at once, as one JSON parameter. */
import type { Ref } from '../../../../runtime/store/identity.ts';
import type { DispatchState } from '../../../../runtime/store/states.ts';
import type { TallyColumn } from '../../../../runtime/store/tally.ts';
import { TALLY_COLUMNS } from '../../../../runtime/store/tally.ts';

/** The row of a dispatch that has not ended. */
export interface OpenRow {
  readonly ref: Ref;
  readonly lane: string;
  state: DispatchState;
  due_at: number;
  set_at: number;
  node: number | null;
  holder: string | null;
  started_at: number | null;
  answered_at: number | null;
  /** JSON. */
  reason: string | null;
  failed: number;
  steps: number;
  group_key: string | null;
  first_at: number | null;
  readonly superseded: number;
}

export interface DeliveryRow {
  readonly ref: Ref;
  readonly n: number;
  readonly lane: string;
  due_at: number;
  set_at: number;
  holder: string | null;
}

/** The fields of a dispatch that are needed in addition to its `OpenRow`. */
export interface HeadRow {
  readonly ref: Ref;
  readonly id: string;
  readonly profile: string;
  readonly route: string | null;
  readonly job: string | null;
  /** JSON. */
  readonly targets: string;
}

export interface JobRow {
  readonly job: string;
  readonly paused: boolean | null;
  cursor: number | null;
  ref: Ref | null;
  /** Whether its latest run waits or is under way. */
  running: boolean;
}

/** Counts of a lane, and the bytes of its texts. */
export type CountColumn = TallyColumn | 'bytes';
export const COUNT_COLUMNS = [...TALLY_COLUMNS, 'bytes'] as const satisfies readonly CountColumn[];

/** The columns that are written in each table, with their types. */
const COLUMNS = {
  claim: 'key text, expires_at bigint',
  lane: 'lane text, max_concurrent integer',
  work:
    'ref bigint, lane text, state text, due_at bigint, set_at bigint, node bigint, holder text, started_at bigint, ' +
    'answered_at bigint, reason text, failed integer, steps integer, group_key text, first_at bigint, superseded integer',
  ended: 'ref bigint, state text, started_at bigint, answered_at bigint, finished_at bigint, reason text',
  delivery: 'ref bigint, n integer, lane text, due_at bigint, set_at bigint, node bigint, holder text',
  answer: 'ref bigint, text text',
  step: 'ref bigint, n integer, data text',
  job_state: 'job text, paused boolean, "cursor" bigint, signature text, ref bigint',
  job_tick: 'job text, due_at bigint, outcome text, ref bigint, missed integer',
  meta: 'key text, value text',
  tally: `lane text, node bigint, ${COUNT_COLUMNS.map((name) => `${name} bigint`).join(', ')}`,
} as const;

type Table = keyof typeof COLUMNS;

const namesOf = (table: Table): readonly string[] =>
  COLUMNS[table].split(', ').map((column) => column.split(' ')[0] ?? '');

/** The rows of the first parameter, a JSON array of objects, as a table `x`. */
export const rowsOf = (columns: string): string => `json_to_recordset($1::json) AS x(${columns})`;

/** Inserts the rows of the first parameter. */
export const insertInto = (table: Table): string =>
  `INSERT INTO ${table} (${namesOf(table).join(', ')}) SELECT ${namesOf(table).join(', ')} FROM ${rowsOf(COLUMNS[table])}`;

/** Inserts rows, or sets the other columns of rows whose key exists. */
export function upsert(table: Table, key: string): string {
  const others = namesOf(table).filter((name) => !key.split(', ').includes(name));
  const set = others.map((name) => `${name} = excluded.${name}`).join(', ');
  return `${insertInto(table)} ORDER BY ${key} ON CONFLICT (${key}) DO UPDATE SET ${set}`;
}

/** Sets these columns of existing rows. */
export function updateRows(table: Table, keys: readonly string[], names: readonly string[]): string {
  const set = names.map((name) => `${name} = x.${name}`).join(', ');
  const where = keys.map((key) => `t.${key} = x.${key}`).join(' AND ');
  return `UPDATE ${table} t SET ${set} FROM ${rowsOf(COLUMNS[table])} WHERE ${where}`;
}

/** Adds to the counts of this node. */
export const ADD_COUNTS =
  `${insertInto('tally')} ORDER BY lane ON CONFLICT (lane, node) DO UPDATE SET ` +
  COUNT_COLUMNS.map((name) => `${name} = tally.${name} + excluded.${name}`).join(', ');

/** Changes of the counts, by lane. */
export class CountChanges {
  private readonly byLane = new Map<string, Record<CountColumn, number>>();

  add(lane: string, column: CountColumn, by: number): void {
    let counts = this.byLane.get(lane);
    if (counts === undefined) {
      counts = Object.fromEntries(COUNT_COLUMNS.map((name) => [name, 0])) as Record<CountColumn, number>;
      this.byLane.set(lane, counts);
    }
    counts[column] += by;
  }

  rows(node: number): readonly object[] {
    return [...this.byLane].map(([lane, counts]) => ({ lane, node, ...counts }));
  }
}
