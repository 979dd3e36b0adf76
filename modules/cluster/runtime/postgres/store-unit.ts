/**
 * Sends the changed rows of a unit of work: one statement for each kind of row, with one JSON parameter, all at once.
 */

import { createHash } from 'node:crypto';
import type { ClaimKey } from '../../../../runtime/store/records.ts';
import { claimKeys, laneKey } from '../../../../runtime/store/records.ts';
import type { TallyColumn } from '../../../../runtime/store/tally.ts';
import { TALLY_COLUMNS } from '../../../../runtime/store/tally.ts';
import type { DispatchRow, MessageRow, WorkRow } from '../../../../runtime/store/unit/rows.ts';
import type { WorkUnit } from '../../../../runtime/store/unit/unit.ts';
import type { PgValue } from './driver.ts';
import { DELIVERY, DISPATCH, WORK } from './schema.ts';
import type { Scope } from './transact.ts';

/** Counts of a lane, and the bytes of its texts. */
type CountColumn = TallyColumn | 'bytes';
export const COUNT_COLUMNS = [...TALLY_COLUMNS, 'bytes'] as const satisfies readonly CountColumn[];

/** Approximate size of a dispatch and its indexes without its texts, in bytes. */
export const ROW_BYTES = 600;

/** A list of columns with their types. */
const typed = (columns: Readonly<Record<string, string>>): string =>
  Object.entries(columns)
    .map((column) => column.join(' '))
    .join(', ');

/** The columns that are written in each table, with their types. */
const COLUMNS = {
  claim: 'key text, expires_at bigint',
  message: 'key text, ref bigint, ttl_ms bigint',
  lane: 'lane text, max_concurrent integer',
  work: `${typed(WORK)}, node bigint`,
  ended: 'ref bigint, state text, started_at bigint, answered_at bigint, finished_at bigint, reason text',
  delivery: `${typed(DELIVERY)}, node bigint`,
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
const rowsOf = (columns: string): string => `json_to_recordset($1::json) AS x(${columns})`;

/** Inserts the rows of the first parameter. */
export const insertInto = (table: Table): string =>
  `INSERT INTO ${table} (${namesOf(table).join(', ')}) SELECT ${namesOf(table).join(', ')} FROM ${rowsOf(COLUMNS[table])}`;

/** Inserts rows, or sets the other columns of rows whose key exists. */
export function upsert(table: Table, key: string): string {
  const others = namesOf(table).filter((name) => !key.split(', ').includes(name));
  const set = others.map((name) => `${name} = excluded.${name}`).join(', ');
  return `${insertInto(table)} ORDER BY ${key} ON CONFLICT (${key}) DO UPDATE SET ${set}`;
}

/** Sets columns of existing rows: all but the keys, or these. */
function updateRows(table: Table, keys: readonly string[], only?: readonly string[]): string {
  const names = only ?? namesOf(table).filter((name) => !keys.includes(name));
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

/** Longest key that is stored unchanged, in UTF-16 units; an index row has at most 2,700 bytes. */
const MAX_CHARS = 600;

/** Keys are JSON and start with `[`, so that no key can equal the digest of another. */
export const shortenedKey = (key: string): string =>
  key.length <= MAX_CHARS ? key : `sha256:${createHash('sha256').update(key).digest('hex')}`;

export const keysOfClaim = (claim: ClaimKey): readonly string[] => claimKeys(claim).map(shortenedKey);

const NEW_CLAIMS = `${insertInto('claim')} ORDER BY key`;
const LATER_CLAIMS = updateRows('claim', ['key']);
const LIMITS = upsert('lane', 'lane');
/** Bodies are sent as one binary parameter; an array of texts would have to be escaped and parsed. */
const { body: _, ...SMALL } = DISPATCH;
const SMALL_NAMES = Object.keys(SMALL).join(', ');
const DISPATCHES =
  `INSERT INTO dispatch (${SMALL_NAMES}, body) SELECT ${SMALL_NAMES}, ` +
  "convert_from(substr($2::bytea, start, bytes), 'UTF8') " +
  `FROM ${rowsOf(`${typed(SMALL)}, start integer, bytes integer`)}`;
const BODIES =
  'UPDATE dispatch d SET head = x.head, targets = x.targets, body = x.body FROM json_to_recordset($1::json) AS ' +
  'x(ref bigint, head text, targets text, body text) WHERE d.ref = x.ref';
const NEW_MESSAGES = `${insertInto('message')} ORDER BY key`;
const CHANGED_MESSAGES = updateRows('message', ['key']);
const REOPEN = 'DELETE FROM ended WHERE ref = ANY($1::bigint[])';
const UNBLOCK = updateRows('work', ['ref'], ['blocked_by', 'set_at']);
const DROP_WORK = 'DELETE FROM work WHERE ref = ANY($1::bigint[])';
const NEW_WORK = insertInto('work');
const CHANGED_WORK = updateRows('work', ['ref']);
const ENDED = insertInto('ended');
const DROP_DELIVERIES =
  'DELETE FROM delivery WHERE (ref, n) IN (SELECT ref, n FROM json_to_recordset($1::json) AS x(ref bigint, n integer))';
const NEW_DELIVERIES = upsert('delivery', 'ref, n');
const CHANGED_DELIVERIES = updateRows(
  'delivery',
  ['ref', 'n'],
  ['due_at', 'set_at', 'node', 'holder', 'blocked_by', 'told_at'],
);
const ANSWERS = upsert('answer', 'ref');
const STEPS = insertInto('step');
const USAGE = insertInto('usage');
const JOBS =
  'INSERT INTO job_state (job, "cursor", ref) SELECT job, "cursor", ref FROM json_to_recordset($1::json) ' +
  'AS x(job text, "cursor" bigint, ref bigint) ORDER BY job ' +
  'ON CONFLICT (job) DO UPDATE SET "cursor" = excluded."cursor", ref = excluded.ref';
const NEW_GUARD = `${insertInto('guard_state')} ORDER BY id`;
const CHANGED_GUARD = updateRows('guard_state', ['id'], ['body', 'expires_at']);
const DROP_GUARD = 'DELETE FROM guard_state WHERE id = ANY($1)';
const TICKS = insertInto('job_tick');
export const PUT_META = upsert('meta', 'key');

/** Sends the rows without waiting; a failure fails the transaction. */
export function storeUnit({ send, node }: Scope, unit: WorkUnit): void {
  const put = (sql: string, rows: Iterable<object>): void => {
    const all = [...rows];
    if (all.length > 0) send(sql, [JSON.stringify(all)]);
  };
  const claims = (of: ReadonlyMap<string, number>): readonly object[] =>
    [...of].map(([key, expires_at]) => ({ key, expires_at }));
  // A held row is held by a process of this node.
  const withNode = (row: WorkRow): object => ({ ...row, node: row.holder === null ? null : node });
  put(NEW_CLAIMS, claims(unit.newClaims));
  put(LATER_CLAIMS, claims(unit.renewedClaims));
  put(
    LIMITS,
    [...unit.newLimits].map(([lane, max_concurrent]) => ({ lane, max_concurrent })),
  );
  if (unit.newDispatches.length > 0) send(DISPATCHES, valuesOf(unit.newDispatches));
  put(
    BODIES,
    unit.changedBodies.map(({ ref, head, targets, body }) => ({ ref, head, targets: JSON.stringify(targets), body })),
  );
  put(NEW_MESSAGES, messagesOf(unit.newMessages));
  put(CHANGED_MESSAGES, messagesOf(unit.changedMessages));
  if (unit.reopened.size > 0) send(REOPEN, [[...unit.reopened]]);
  // Before the new rows, because a group's latest event replaces the previous one.
  if (unit.droppedWork.length > 0) send(DROP_WORK, [unit.droppedWork]);
  put(NEW_WORK, [...unit.newWork].map(withNode));
  put(CHANGED_WORK, [...unit.changedWork].map(withNode));
  put(UNBLOCK, unit.unblocked);
  put(
    ENDED,
    unit.ended.map(({ row, finished_at }) => ({ ...row, finished_at })),
  );
  put(DROP_DELIVERIES, unit.droppedDeliveries);
  put(NEW_DELIVERIES, unit.newDeliveries);
  put(CHANGED_DELIVERIES, unit.changedDeliveries);
  put(
    ANSWERS,
    [...unit.answers].map(([ref, { text, program }]) => ({ ref, text, program })),
  );
  put(
    STEPS,
    unit.newSteps.map(({ ref, n, step }) => ({ ref, n, data: JSON.stringify(step) })),
  );
  put(USAGE, unit.newUsage);
  put(JOBS, unit.changedJobs);
  put(TICKS, unit.newTicks);
  const guard = [...unit.changedGuard].map(([id, row]) => ({ ...row, id, key: JSON.stringify(row.key) }));
  const isLeft = ({ body }: { readonly body: string | null }): boolean => body !== null;
  put(
    NEW_GUARD,
    guard.filter((row) => !row.known && isLeft(row)),
  );
  put(
    CHANGED_GUARD,
    guard.filter((row) => row.known && isLeft(row)),
  );
  const dropped = guard.filter((row) => row.known && !isLeft(row)).map(({ id }) => id);
  if (dropped.length > 0) send(DROP_GUARD, [dropped]);
  if (unit.lastError !== null) put(PUT_META, [{ key: 'last_error', value: JSON.stringify(unit.lastError) }]);
  put(ADD_COUNTS, countsOf(unit).rows(node));
}

const messagesOf = (rows: ReadonlyMap<string, MessageRow>): readonly object[] =>
  [...rows].map(([key, row]) => ({ key, ...row }));

function countsOf(unit: WorkUnit): CountChanges {
  const counts = new CountChanges();
  for (const change of unit.counts) counts.add(...change);
  for (const { profile, route, body } of unit.newDispatches) {
    counts.add(laneKey(profile, route), 'bytes', Buffer.byteLength(body) + ROW_BYTES);
  }
  for (const { lane, grown } of unit.changedBodies) counts.add(lane, 'bytes', grown);
  for (const { lane, text, program } of unit.answers.values())
    counts.add(lane, 'bytes', Buffer.byteLength(text) + Buffer.byteLength(program ?? ''));
  for (const { lane, step } of unit.newSteps) {
    if (step.program !== undefined) counts.add(lane, 'bytes', Buffer.byteLength(JSON.stringify(step)));
  }
  return counts;
}

function valuesOf(rows: readonly DispatchRow[]): readonly PgValue[] {
  const bodies = rows.map(({ body }) => Buffer.from(body));
  let start = 1;
  const small = rows.map(({ body, ...row }, index) => {
    const bytes = bodies[index]?.length ?? 0;
    start += bytes;
    return { ...row, targets: JSON.stringify(row.targets), start: start - bytes, bytes };
  });
  return [JSON.stringify(small), Buffer.concat(bodies)];
}
