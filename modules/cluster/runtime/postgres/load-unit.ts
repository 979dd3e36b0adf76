/**
 * Loads and locks the rows that a series of changes needs. All locks are taken first, in key order; rows that depend on a
 * locked row are read by a later statement, because each statement sees the database as of its own start.
 */
import type { Headed } from '../../../../runtime/store/encode.ts';
import { laneKey } from '../../../../runtime/store/identity.ts';
import type { Mutation, Ref, Step } from '../../../../runtime/store/mutations.ts';
import type { PgConnection } from './driver.ts';
import { keyOfClaim, keyOfGroup, keyOfHold, keyOfTick } from './keys.ts';
import type { DeliveryRow, HeadRow, JobRow, OpenRow } from './tables.ts';
import type { LoadedRows } from './unit-rows.ts';

/** The changes that a unit of work makes. */
export type UnitChange = Headed<
  Extract<Mutation, { kind: 'accept' | 'join_group' | 'advance' | 'record_attempt' | 'tick_job' | 'fire_job' }>
>;

/** The keys to look up for a series of changes. */
class Needs {
  dispatches = 0;
  readonly claims = new Set<string>();
  readonly lanes = new Set<string>();
  readonly groups = new Set<string>();
  readonly open = new Set<Ref>();
  readonly heads = new Set<Ref>();
  /** Dispatches whose steps are needed, because the outcomes of their deliveries decide their final state. */
  readonly steps = new Set<Ref>();
  readonly jobs = new Set<string>();
  readonly ticks: { readonly job: string; readonly due_at: number }[] = [];

  add(change: UnitChange): void {
    const claim = 'claim' in change ? change.claim : null;
    if (claim !== null && claim !== undefined) this.claims.add(keyOfClaim(claim));
    if ('dispatch' in change && change.dispatch !== null) {
      this.dispatches++;
      this.lanes.add(laneKey(change.dispatch.profile, change.dispatch.route));
    }
    if (change.kind === 'join_group') {
      this.groups.add(keyOfGroup(change.dispatch.profile, change.dispatch.route, change.key));
    }
    if (change.kind === 'accept' && change.claiming === 'alone' && change.claim !== null) {
      this.groups.add(keyOfHold(change.claim));
    }
    if ('ref' in change) {
      this.open.add(change.ref);
      if (change.kind === 'record_attempt' || change.reason !== undefined) this.heads.add(change.ref);
    }
    if (change.kind === 'record_attempt' && change.due_at === null) this.steps.add(change.ref);
    if ('job' in change) this.jobs.add(change.job);
    if (change.kind === 'tick_job') this.ticks.push({ job: change.job, due_at: change.due_at });
  }
}

const REFS = "SELECT nextval('dispatch_ref') AS ref FROM generate_series(1, $1::integer)";
const CLAIMS = 'SELECT key, expires_at FROM claim WHERE key = ANY($1) ORDER BY key FOR UPDATE';
const LIMITS = 'SELECT lane, max_concurrent FROM lane WHERE lane = ANY($1)';
const OPEN_COLUMNS =
  'ref, lane, state, due_at, set_at, node, holder, started_at, answered_at, reason, failed, steps, group_key, first_at, superseded';
const OPEN = `SELECT ${OPEN_COLUMNS} FROM work WHERE ref = ANY($1::bigint[]) ORDER BY ref FOR UPDATE`;
const GROUPS = `SELECT ${OPEN_COLUMNS} FROM work WHERE group_key = ANY($1) ORDER BY ref FOR UPDATE`;
const JOBS = 'SELECT job, paused, "cursor", ref FROM job_state WHERE job = ANY($1) ORDER BY job FOR UPDATE';
const HEADS = 'SELECT ref, id, profile, route, job, targets FROM dispatch WHERE ref = ANY($1::bigint[])';
const DELIVERIES =
  'SELECT ref, n, lane, due_at, set_at, holder FROM delivery WHERE ref = ANY($1::bigint[]) ORDER BY ref, n FOR UPDATE';
const STEPS = 'SELECT ref, data FROM step WHERE ref = ANY($1::bigint[]) ORDER BY ref, n';
const TICKS =
  'SELECT job, due_at FROM job_tick WHERE (job, due_at) IN ' +
  '(SELECT job, due_at FROM json_to_recordset($1::json) AS x(job text, due_at bigint))';
const RUNNING =
  "SELECT s.job FROM job_state s JOIN work w ON w.ref = s.ref WHERE s.job = ANY($1) AND w.state IN ('pending', 'running')";

/** Loads the rows, within a transaction. */
export async function loadUnit(db: PgConnection, changes: readonly UnitChange[]): Promise<LoadedRows> {
  const needs = new Needs();
  for (const change of changes) needs.add(change);
  // All statements are sent at once, in this order; those without keys are left out.
  const ask = async <R extends object>(sql: string, keys: ReadonlySet<string | number>): Promise<readonly R[]> =>
    keys.size === 0 ? [] : db.query<R>(sql, [[...keys]]);
  const [refs, claims, limits, open, grouped, jobs, heads, deliveries, steps, ticks, running] = await Promise.all([
    needs.dispatches === 0 ? [] : db.query<{ ref: Ref }>(REFS, [needs.dispatches]),
    ask<{ key: string; expires_at: number }>(CLAIMS, needs.claims),
    ask<{ lane: string; max_concurrent: number | null }>(LIMITS, needs.lanes),
    ask<OpenRow>(OPEN, needs.open),
    ask<OpenRow>(GROUPS, needs.groups),
    ask<JobRow>(JOBS, needs.jobs),
    ask<HeadRow>(HEADS, needs.heads),
    ask<DeliveryRow>(DELIVERIES, needs.open),
    ask<{ ref: Ref; data: string }>(STEPS, needs.steps),
    needs.ticks.length === 0 ? [] : db.query<{ job: string; due_at: number }>(TICKS, [JSON.stringify(needs.ticks)]),
    ask<{ job: string }>(RUNNING, needs.jobs),
  ]);
  const runningJobs = new Set(running.map(({ job }) => job));
  return {
    ...emptyUnit(),
    refs: refs.map(({ ref }) => ref),
    claims: new Map(claims.map(({ key, expires_at }) => [key, expires_at])),
    limits: new Map(limits.map(({ lane, max_concurrent }) => [lane, max_concurrent])),
    open: new Map([...open, ...grouped].map((row) => [row.ref, row])),
    groups: new Map(grouped.map(({ group_key, ref }) => [group_key ?? '', ref])),
    heads: new Map(heads.map((row) => [row.ref, row])),
    deliveries: byRef(deliveries),
    steps: stepsByRef(steps),
    jobs: new Map(jobs.map((row) => [row.job, { ...row, running: runningJobs.has(row.job) }])),
    ticks: new Set(ticks.map(({ job, due_at }) => keyOfTick(job, due_at))),
  };
}

/** Loads the abandoned rows for `recover`. */
export async function loadLeft(db: PgConnection, refs: readonly Ref[]): Promise<LoadedRows> {
  const [open, heads] = await Promise.all([db.query<OpenRow>(OPEN, [refs]), db.query<HeadRow>(HEADS, [refs])]);
  return {
    ...emptyUnit(),
    open: new Map(open.map((row) => [row.ref, row])),
    heads: new Map(heads.map((row) => [row.ref, row])),
  };
}

const emptyUnit = (): LoadedRows => ({
  ...{ refs: [], claims: new Map(), limits: new Map(), open: new Map(), groups: new Map() },
  ...{ deliveries: new Map(), steps: new Map(), heads: new Map(), jobs: new Map(), ticks: new Set() },
});

function byRef(rows: readonly DeliveryRow[]): Map<Ref, Map<number, DeliveryRow>> {
  const found = new Map<Ref, Map<number, DeliveryRow>>();
  for (const row of rows) {
    const of = found.get(row.ref) ?? new Map<number, DeliveryRow>();
    found.set(row.ref, of.set(row.n, row));
  }
  return found;
}

function stepsByRef(rows: readonly { readonly ref: Ref; readonly data: string }[]): Map<Ref, Step[]> {
  const found = new Map<Ref, Step[]>();
  for (const { ref, data } of rows) found.set(ref, [...(found.get(ref) ?? []), JSON.parse(data) as Step]);
  return found;
}
