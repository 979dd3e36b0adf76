/**
 * Releases abandoned work, in two statements, of which the second sees what the first has locked: first expired leases get
 * a new token, which stops their late writers; then the work that they held is released.
 */
import type { Ref } from '../../../../runtime/store/mutations.ts';
import type { GivenUp, Recover, Recovered } from '../../../../runtime/store/recover.ts';
import { interruptedStep, UNANSWERED } from '../../../../runtime/store/recover.ts';
import { loadLeft } from './load-unit.ts';
import { FORGET_WINDOWS } from './rate-slots.ts';
import type { Scope } from './scope.ts';
import { storeUnit } from './store-unit.ts';
import { ADD_COUNTS, COUNT_COLUMNS } from './tables.ts';
import { WorkUnit } from './unit.ts';

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

/** Runs `recover` (../recover.ts), and removes old nodes and windows. */
export async function recover(scope: Scope, { holder, now, under_way }: Recover): Promise<Recovered> {
  const { db, node } = scope;
  await db.change(END_LEASES, [node]);
  const left = await db.query<{ ref: Ref; has_begun: boolean }>(LEFT, [holder, node, under_way.runs]);
  const begun = new Set(left.filter(({ has_begun }) => has_begun).map(({ ref }) => ref));
  const refs = left.map(({ ref }) => ref);
  const unit = new WorkUnit(node, await loadLeft(db, refs));
  const freed = free(unit, refs, { begun, now });
  storeUnit(scope, unit);
  const attempts = under_way.attempts.map(({ ref, index }) => ({ ref, n: index }));
  const released = await db.change(RELEASE, [holder, node, JSON.stringify(attempts)]);
  await Promise.all(RESET_CLOCK.map((sql) => db.change(sql, [now])));
  await tidyUp(scope);
  return { ...freed, attempts: released };
}

function free(
  unit: WorkUnit,
  refs: readonly Ref[],
  { begun, now }: { readonly begun: ReadonlySet<Ref>; readonly now: number },
): Pick<Recovered, 'runs' | 'given_up'> {
  const given_up: GivenUp[] = [];
  let runs = 0;
  for (const ref of refs) {
    const row = unit.loaded.open.get(ref);
    // Another gateway has released it already.
    if (row === undefined || row.holder === null) continue;
    if (row.state === 'running') {
      runs++;
      const reason = row.reason === null ? null : (JSON.parse(row.reason) as string);
      const steps = begun.has(ref) ? [interruptedStep(row.started_at ?? now, now)] : [];
      unit.move(row, { to: 'pending', at: now, reason, steps });
      continue;
    }
    const { id = '', profile = '', route = null, job = null } = unit.loaded.heads.get(ref) ?? {};
    unit.move(row, { to: 'dead', at: now, reason: UNANSWERED });
    unit.noteError(ref, now, UNANSWERED);
    given_up.push({ id, profile, route, job, reason: UNANSWERED });
  }
  return { runs, given_up };
}

async function tidyUp({ db }: Scope): Promise<void> {
  const folded = await db.query(FOLD_COUNTS);
  if (folded.length > 0) await db.change(ADD_COUNTS, [JSON.stringify(folded)]);
  await Promise.all([FORGET_NODES, FORGET_WINDOWS].map((sql) => db.change(sql)));
}
