/**
 * A unit of work: the rows that a series of changes needs are loaded and locked at once (load-unit.ts), changed in memory
 * in the order of the changes, and written at once (store-unit.ts). So a hundred changes take as many round trips as one,
 * and the rules (accept.ts, advance.ts, firing.ts) are plain code.
 */
import { laneKey } from '../../../../runtime/store/identity.ts';
import type { OpenDelivery, Ref, StoredClaim } from '../../../../runtime/store/mutations.ts';
import type { LastError } from '../../../../runtime/store/queries.ts';
import type { Move } from '../../../../runtime/store/row-changes.ts';
import { isFinal } from '../../../../runtime/store/states.ts';
import { keyOfClaim } from './keys.ts';
import type { DeliveryRow, JobRow, OpenRow } from './tables.ts';
import { CountChanges } from './tables.ts';
import type { DispatchRow, EndedRow, LoadedRows, NewUnitDispatch } from './unit-rows.ts';
import { ROW_BYTES } from './unit-rows.ts';

export class WorkUnit {
  readonly node: number;
  readonly loaded: LoadedRows;
  readonly counts = new CountChanges();
  readonly newClaims = new Map<string, number>();
  readonly laterClaims = new Map<string, number>();
  readonly newLimits = new Map<string, number | null>();
  readonly newDispatches: DispatchRow[] = [];
  readonly newOpen = new Set<OpenRow>();
  readonly changedOpen = new Set<OpenRow>();
  readonly ended: EndedRow[] = [];
  readonly droppedOpen: Ref[] = [];
  readonly newDeliveries = new Set<DeliveryRow>();
  readonly changedDeliveries = new Set<DeliveryRow>();
  readonly droppedDeliveries: DeliveryRow[] = [];
  readonly answers = new Map<Ref, string>();
  readonly newSteps: { readonly ref: Ref; readonly n: number; readonly data: string }[] = [];
  readonly changedJobs = new Set<JobRow>();
  readonly newTicks: object[] = [];
  lastError: LastError | null = null;

  constructor(node: number, loaded: LoadedRows) {
    this.node = node;
    this.loaded = loaded;
  }

  insert({ head, texts, state, due_at, now, holder = null, group, max_concurrent }: NewUnitDispatch): Ref {
    const ref = this.loaded.refs.shift();
    if (ref === undefined) throw new Error('no number is left for a dispatch');
    const { id, profile, route, job, mode, accepted_at } = head;
    const lane = laneKey(profile, route);
    if (max_concurrent !== undefined) this.limit(lane, max_concurrent);
    const body = texts.body ?? 'null';
    this.newDispatches.push({
      ...{ ref, id, profile, route, job, mode, accepted_at, max_concurrent: max_concurrent ?? null, body },
      head: JSON.stringify([head.event, head.delivery_id, head.replay_of, group?.superseded ?? 0]),
      targets: JSON.stringify(head.targets),
    });
    const open: OpenRow = {
      ...{ ref, lane, state, due_at, set_at: now, node: holder === null ? null : this.node, holder, started_at: null },
      ...{ answered_at: texts.answer === null ? null : now, reason: null, failed: 0, steps: 0 },
      ...{ group_key: group?.key ?? null, first_at: group?.first_at ?? null, superseded: group?.superseded ?? 0 },
    };
    this.loaded.open.set(ref, open);
    this.newOpen.add(open);
    if (group !== undefined) this.loaded.groups.set(group.key, ref);
    if (texts.answer !== null) this.answer(open, texts.answer);
    this.counts.add(lane, 'accepted', 1);
    this.counts.add(lane, state, 1);
    this.counts.add(lane, 'bytes', Buffer.byteLength(body) + ROW_BYTES);
    return ref;
  }

  addDeliveries(ref: Ref, profile: string, open: readonly OpenDelivery[], now: number): void {
    const known = this.loaded.deliveries.get(ref) ?? new Map<number, DeliveryRow>();
    this.loaded.deliveries.set(ref, known);
    for (const { index, target, due_at } of open) {
      const row = { ref, n: index, lane: laneKey(profile, target), due_at, set_at: now, holder: null };
      known.set(index, row);
      this.newDeliveries.add(row);
    }
  }

  /** Moves a dispatch to a state and clears its holder. */
  move(
    row: OpenRow,
    { to, at, due_at = null, started_at = null, reason = null, answer = null, steps = [] }: Move,
  ): void {
    for (const [index, step] of steps.entries()) {
      this.newSteps.push({ ref: row.ref, n: row.steps + index + 1, data: JSON.stringify(step) });
    }
    if (row.state !== to) {
      this.counts.add(row.lane, row.state, -1);
      this.counts.add(row.lane, to, 1);
    }
    Object.assign(row, {
      state: to,
      node: null,
      holder: null,
      reason: reason === null ? null : JSON.stringify(reason),
    });
    row.failed += steps.filter(({ kind, outcome }) => kind === 'run' && outcome === 'failed').length;
    row.steps += steps.length;
    row.started_at = started_at ?? row.started_at;
    if (due_at !== null) Object.assign(row, { due_at, set_at: at });
    if (answer !== null) {
      row.answered_at = at;
      this.answer(row, answer);
    }
    if (isFinal(to)) this.end(row, at);
    else if (!this.newOpen.has(row)) this.changedOpen.add(row);
  }

  /** The delivery if `holder` holds it; otherwise null. */
  heldDelivery(ref: Ref, index: number, holder: string): DeliveryRow | null {
    const row = this.loaded.deliveries.get(ref)?.get(index);
    return row === undefined || row.holder !== holder ? null : row;
  }

  retryDelivery(row: DeliveryRow, due_at: number, at: number): void {
    Object.assign(row, { due_at, set_at: at, holder: null });
    this.changedDeliveries.add(row);
  }

  /** Removes the delivery; returns whether others of the same dispatch are left. */
  endDelivery(row: DeliveryRow): boolean {
    const rows = this.loaded.deliveries.get(row.ref);
    rows?.delete(row.n);
    this.droppedDeliveries.push(row);
    return (rows?.size ?? 0) > 0;
  }

  isClaimed(claim: StoredClaim | null, now: number): boolean {
    return claim !== null && (this.loaded.claims.get(keyOfClaim(claim)) ?? Number.NEGATIVE_INFINITY) > now;
  }

  claim(claim: StoredClaim | null | undefined): void {
    if (claim === null || claim === undefined) return;
    const key = keyOfClaim(claim);
    const isKnown = this.loaded.claims.has(key) && !this.newClaims.has(key);
    (isKnown ? this.laterClaims : this.newClaims).set(key, claim.expires_at);
    this.loaded.claims.set(key, claim.expires_at);
  }

  noteError(ref: Ref, at: number, reason: string): void {
    const { id = '', route = null } = this.loaded.heads.get(ref) ?? {};
    this.lastError = { id, route, at, reason };
  }

  /** The state of the job; a new one if the job is unknown. */
  job(job: string): JobRow {
    const known = this.loaded.jobs.get(job);
    if (known !== undefined) return known;
    const row: JobRow = { job, paused: null, cursor: null, ref: null, running: false };
    this.loaded.jobs.set(job, row);
    return row;
  }

  private limit(lane: string, max_concurrent: number | null): void {
    if (this.loaded.limits.get(lane) === max_concurrent) return;
    if (max_concurrent === null && !this.loaded.limits.has(lane)) return;
    this.loaded.limits.set(lane, max_concurrent);
    this.newLimits.set(lane, max_concurrent);
  }

  private answer({ ref, lane }: OpenRow, text: string): void {
    this.answers.set(ref, text);
    this.counts.add(lane, 'bytes', Buffer.byteLength(text));
  }

  private end(row: OpenRow, finished_at: number): void {
    const { ref, state, started_at, answered_at, reason, group_key } = row;
    this.ended.push({ ref, state, started_at, answered_at, finished_at, reason });
    if (group_key !== null && this.loaded.groups.get(group_key) === ref) this.loaded.groups.delete(group_key);
    this.loaded.open.delete(ref);
    this.changedOpen.delete(row);
    if (!this.newOpen.delete(row)) this.droppedOpen.push(ref);
  }
}
