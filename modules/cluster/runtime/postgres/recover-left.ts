/**
 * Releases abandoned work, in two statements, of which the second sees what the first has locked: first expired leases get
 * a new token, which stops their late writers; then the work that they held is released.
 */

import type { LeftWork } from '../../../../runtime/store/unit/recover.ts';
import { release } from '../../../../runtime/store/unit/recover.ts';
import { WorkUnit } from '../../../../runtime/store/unit/unit.ts';
import type { Recover, Recovered } from '../../../../runtime/store/work-mutations.ts';
import { loadLeft } from './load-unit.ts';
import { FORGET_WINDOWS } from './rate-slots.ts';
import { storeUnit } from './store-unit.ts';
import { ADD_COUNTS, COUNT_COLUMNS } from './tables.ts';
import type { Scope } from './transact.ts';

/** Skips a node that is in a transaction, whose row is locked: it still has its lease. */
const END_LEASES =
  'UPDATE node SET token = token + 1, ended_at = clock_timestamp() WHERE id IN (SELECT id FROM node WHERE ended_at IS NULL ' +
  'AND until < (SELECT clock_timestamp()) AND id <> $1 ORDER BY id FOR UPDATE SKIP LOCKED)';
/** Whether the holder has ended: an earlier process of this gateway, or of a node without a lease. */
const IS_GONE =
  'holder <> $1 AND (node = $2 OR NOT EXISTS (SELECT 1 FROM node n WHERE n.id = t.node AND n.ended_at IS NULL))';
const LEFT =
  `SELECT ref, holder <> $1 AS has_begun FROM work t WHERE holder IS NOT NULL AND (${IS_GONE} ` +
  "OR holder = $1 AND state = 'running' AND NOT ref = ANY($3::bigint[])) ORDER BY ref";
const RELEASE =
  `UPDATE delivery t SET node = NULL, holder = NULL WHERE holder IS NOT NULL AND (${IS_GONE} OR holder = $1 AND ` +
  'NOT EXISTS (SELECT 1 FROM json_to_recordset($3::json) AS x(ref bigint, n integer) WHERE x.ref = t.ref AND x.n = t.n))';
const RESET_CLOCK = [
  "UPDATE work SET due_at = $1 + due_at - set_at, set_at = $1 WHERE state = 'pending' AND set_at > $1",
  'UPDATE delivery SET due_at = $1 + due_at - set_at, set_at = $1 WHERE holder IS NULL AND set_at > $1',
  'UPDATE work SET first_at = $1 WHERE group_key IS NOT NULL AND first_at > $1',
];
/** Merges the counts of ended nodes into one row for each lane. */
const FOLD_COUNTS =
  'WITH gone AS (DELETE FROM tally t USING node n WHERE n.id = t.node AND n.ended_at IS NOT NULL RETURNING t.*) ' +
  `SELECT lane, 0 AS node, ${COUNT_COLUMNS.map((name) => `sum(${name})::bigint AS ${name}`).join(', ')} FROM gone GROUP BY lane`;
const FORGET_NODES = "DELETE FROM node WHERE ended_at < clock_timestamp() - interval '1 day'";

/** Runs `recover`, and removes old nodes and windows. */
export async function recover(scope: Scope, { holder, now, under_way }: Recover): Promise<Recovered> {
  const { db, node } = scope;
  await db.change(END_LEASES, [node]);
  const left = await db.query<LeftWork>(LEFT, [holder, node, under_way.runs]);
  const refs = left.map(({ ref }) => ref);
  const unit = new WorkUnit(await loadLeft(db, refs));
  const released = release(unit, left, now);
  storeUnit(scope, unit);
  const attempts = under_way.attempts.map(({ ref, index }) => ({ ref, n: index }));
  const freed = await db.change(RELEASE, [holder, node, JSON.stringify(attempts)]);
  await Promise.all(RESET_CLOCK.map((sql) => db.change(sql, [now])));
  await tidyUp(scope);
  return { ...released, attempts: freed };
}

async function tidyUp({ db }: Scope): Promise<void> {
  const folded = await db.query(FOLD_COUNTS);
  if (folded.length > 0) await db.change(ADD_COUNTS, [JSON.stringify(folded)]);
  await Promise.all([FORGET_NODES, FORGET_WINDOWS].map((sql) => db.change(sql)));
}
