/** Statements that write many rows of a table at once, as one JSON parameter. */

import { createHash } from 'node:crypto';
import type { ClaimKey } from '../../../../runtime/store/identity.ts';
import { claimKey } from '../../../../runtime/store/identity.ts';
import type { TallyColumn } from '../../../../runtime/store/tally.ts';
import { TALLY_COLUMNS } from '../../../../runtime/store/tally.ts';

/** Counts of a lane, and the bytes of its texts. */
export type CountColumn = TallyColumn | 'bytes';
export const COUNT_COLUMNS = [...TALLY_COLUMNS, 'bytes'] as const satisfies readonly CountColumn[];

/** Approximate size of a dispatch and its indexes without its texts, in bytes. */
export const ROW_BYTES = 600;

/** The columns that are written in each table, with their types. */
const COLUMNS = {
  claim: 'key text, expires_at bigint',
  message: 'key text, ref bigint, ttl_ms bigint',
  lane: 'lane text, max_concurrent integer',
  work:
    'ref bigint, lane text, state text, due_at bigint, set_at bigint, node bigint, holder text, started_at bigint, ' +
    'answered_at bigint, reason text, failed integer, steps integer, group_key text, first_at bigint, superseded integer, ' +
    'session text, turn bigint, blocked_by text',
  ended: 'ref bigint, state text, started_at bigint, answered_at bigint, finished_at bigint, reason text',
  delivery: 'ref bigint, n integer, lane text, due_at bigint, set_at bigint, node bigint, holder text, waiting text',
  answer: 'ref bigint, text text, program text',
  step: 'ref bigint, n integer, data text',
  usage: 'ref bigint, at bigint, agent text, input_tokens bigint, output_tokens bigint, cost double precision',
  job_state: 'job text, paused boolean, "cursor" bigint, signature text, ref bigint, paused_until bigint',
  guard_state: 'id text, kind text, key text, body text, expires_at bigint',
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

/** Longest key that is stored unchanged, in UTF-16 units; an index row holds 2,700 bytes. */
const MAX_CHARS = 600;

/** Keys are JSON and start with `[`, so that no key can equal the digest of another. */
export const shortenedKey = (key: string): string =>
  key.length <= MAX_CHARS ? key : `sha256:${createHash('sha256').update(key).digest('hex')}`;

export const keyOfClaim = (claim: ClaimKey): string => shortenedKey(claimKey(claim));
