/**
 * A unit of work: the effect of an event, an attempt, a run or a recovery on the rows of the store, for all engines.
 *
 *   load ───────────> change in memory ────────────────────────────> store
 *   the engine's      apply.ts, blocked.ts, jobs.ts, message.ts      the engine's
 *
 * An engine loads the rows and stores the changes, with one unit for each change (SQLite) or for a whole group, so that
 * a hundred changes take as many round trips as one (PostgreSQL). All decisions are made here, in code without I/O.
 */

import type { OpenDelivery } from '../contract.ts';
import type { DispatchHead, LargeTexts } from '../group-commit.ts';
import { headText } from '../group-commit.ts';
import type { LastError } from '../queries.ts';
import type { GuardRow, JobTick, Ref, StoredClaim } from '../records.ts';
import { claimedNames, claimKeys, guardKey, laneKey, routeLane, runLane } from '../records.ts';
import type { GuardRows } from '../run-limits.ts';
import type { DispatchState, OpenState, Step } from '../states.ts';
import { interruptedStep, isFinal } from '../states.ts';
import type { UnitParts } from '../store-part.ts';
import { NO_PARTS } from '../store-part.ts';
import type {
  AnswerRow,
  BodyChange,
  CountChange,
  DeliveryRow,
  DispatchRow,
  EndedRow,
  GuardChange,
  JobRow,
  MessageRow,
  StepRow,
  UnitRows,
  UsageRow,
  WorkRow,
} from './rows.ts';

interface NewDispatch {
  readonly head: DispatchHead;
  readonly texts: LargeTexts;
  /** Undefined: the limit of its lane is unchanged. */
  readonly max_concurrent?: number | null;
  readonly state: OpenState;
  readonly due_at: number;
  readonly now: number;
  readonly holder?: string | null;
  readonly group?: { readonly key: string; readonly first_at: number; readonly superseded: number };
  /** The row of the same group that it replaces. */
  readonly replaced?: WorkRow | undefined;
}

/** A change of state. */
interface Move {
  readonly to: DispatchState;
  readonly at: number;
  /** Null, here and below: unchanged. */
  readonly due_at?: number | null;
  readonly started_at?: number | null;
  readonly reason?: string | null;
  /** JSON. */
  readonly answer?: string | null;
  /** JSON of the end of the program that answered. */
  readonly program?: string | null;
  readonly steps?: readonly Step[];
}

type OnNewer = NonNullable<DispatchHead['on_newer']>;

/** The reason of a run that a newer event of its session replaces. */
export const SUPERSEDED = 'superseded';

export class WorkUnit implements GuardRows {
  readonly rows: UnitRows;
  readonly parts: UnitParts;
  // The changes to store.
  readonly newDispatches: DispatchRow[] = [];
  readonly newWork = new Set<WorkRow>();
  readonly changedWork = new Set<WorkRow>();
  /** Rows stored before that are now first in their sessions, or that a newer event replaces. */
  readonly unblocked = new Set<WorkRow>();
  /** The runs that each new dispatch has ended. */
  readonly replacedBy = new Map<Ref, readonly Ref[]>();
  readonly ended: EndedRow[] = [];
  /** Dispatches stored before that have now ended. */
  readonly droppedWork: Ref[] = [];
  readonly newDeliveries: DeliveryRow[] = [];
  readonly changedDeliveries = new Set<DeliveryRow>();
  readonly droppedDeliveries: DeliveryRow[] = [];
  readonly answers = new Map<Ref, AnswerRow>();
  readonly newSteps: StepRow[] = [];
  readonly newUsage: UsageRow[] = [];
  readonly newClaims = new Map<string, number>();
  /** The new expiry of ids that were claimed before. */
  readonly renewedClaims = new Map<string, number>();
  /** Rows of `newWork` whose dispatch had ended. */
  readonly reopened = new Set<Ref>();
  readonly newMessages = new Map<string, MessageRow>();
  readonly changedMessages = new Map<string, MessageRow>();
  readonly changedBodies: BodyChange[] = [];
  readonly newLimits = new Map<string, number | null>();
  readonly changedJobs = new Set<JobRow>();
  /** Changed rows of the guard, by the engine's key. */
  readonly changedGuard = new Map<string, GuardChange>();
  readonly newTicks: (JobTick & { readonly job: string })[] = [];
  readonly counts: CountChange[] = [];
  lastError: LastError | null = null;

  constructor(rows: UnitRows, parts: UnitParts = NO_PARTS) {
    this.rows = rows;
    this.parts = parts;
  }

  guardRow(of: Pick<GuardRow, 'kind' | 'key'>): string | undefined {
    return this.rows.guard.get(this.rows.keyOf(guardKey(of)));
  }

  /** Replaces or removes a row. @param expires_at Unix ms from which it may be removed; null: never */
  putGuardRow(row: Omit<GuardRow, 'body'> & { readonly body: string | null }, expires_at: number | null): void {
    const { rows, changedGuard } = this;
    const key = rows.keyOf(guardKey(row));
    const known = changedGuard.get(key)?.known ?? rows.guard.get(key) !== undefined;
    changedGuard.set(key, { ...row, expires_at, known });
    if (row.body === null) rows.guard.delete(key);
    else rows.guard.set(key, row.body);
  }

  insert({ head, texts, state, due_at, now, holder = null, group, replaced, max_concurrent }: NewDispatch): Ref {
    const { rows } = this;
    const { id, profile, route, job, mode, accepted_at, targets } = head;
    const ref = rows.nextRef();
    const lane = laneKey(profile, route);
    const session = head.turn_key === null || state !== 'pending' ? null : rows.keyOf(head.turn_key);
    const { key: group_key = null, first_at = null, superseded = 0 } = group ?? {};
    if (max_concurrent !== undefined && (rows.limits.get(lane) ?? null) !== max_concurrent) {
      rows.limits.set(lane, max_concurrent);
      this.newLimits.set(lane, max_concurrent);
    }
    // Plain literals, because they are the fastest.
    this.newDispatches.push({
      ref,
      id,
      profile,
      route,
      job,
      mode,
      accepted_at,
      max_concurrent: max_concurrent ?? null,
      targets,
      session,
      burst: head.burst ? (replaced?.turn ?? ref) : null,
      head: headText(head, superseded),
      body: texts.body ?? 'null',
    });
    const row: WorkRow = {
      ref,
      lane: runLane(profile, route, head.agent),
      state,
      due_at,
      set_at: now,
      holder,
      started_at: null,
      answered_at: texts.answer === null ? null : now,
      reason: null,
      failed: 0,
      steps: 0,
      group_key,
      first_at,
      superseded,
      session,
      turn: replaced?.turn ?? ref,
      blocked_by: null,
    };
    // A replayed event is not newer than those that came after it.
    if (session !== null && head.on_newer !== undefined && head.replay_of === null)
      this.replaceEarlier(row, session, head.on_newer, replaced);
    if (session !== null) this.joinQueue(row, session, replaced);
    rows.work.set(ref, row);
    this.newWork.add(row);
    if (group !== undefined) rows.groups.set(group.key, ref);
    if (texts.answer !== null) this.answers.set(ref, { lane, text: texts.answer, program: null });
    this.counts.push([lane, 'accepted', 1], [lane, state, 1]);
    return ref;
  }

  /** Stores a message that the gateway itself sends, due immediately. */
  insertMessage(head: DispatchHead, texts: LargeTexts, now: number): void {
    const ref = this.insert({ head, texts, state: 'delivering', due_at: now, now });
    const open = head.targets.map(({ target }, index) => ({ index, target, due_at: now }));
    this.addDeliveries(ref, head.profile, open, now);
  }

  /** Creates the deliveries of a dispatch that has none. */
  addDeliveries(ref: Ref, profile: string, open: readonly OpenDelivery[], now: number): void {
    const added = open.map(({ index, target, due_at, blocked_by = null }): DeliveryRow => {
      const lane = laneKey(profile, target);
      return { ref, n: index, lane, due_at, set_at: now, holder: null, blocked_by, told_at: null };
    });
    this.rows.deliveries.set(ref, new Map(added.map((row) => [row.n, row])));
    this.newDeliveries.push(...added);
  }

  /** Moves a dispatch to a state and clears its holder. A run that a newer event replaces does not wait again. */
  move(row: WorkRow, change: Move): void {
    const isReplaced = row.blocked_by === 'newer' && change.to === 'pending';
    const isLast = isReplaced && this.rows.sessions.get(row.session ?? '')?.at(-1) === row;
    if (isReplaced) row.blocked_by = null;
    this.moveTo(row, isReplaced && !isLast ? { ...change, to: 'skipped', due_at: null, reason: SUPERSEDED } : change);
  }

  private moveTo(
    row: WorkRow,
    { to, at, due_at = null, started_at = null, reason = null, answer = null, program = null, steps = [] }: Move,
  ): void {
    const lane = routeLane(row.lane);
    for (const step of steps) this.newSteps.push({ ref: row.ref, lane, n: ++row.steps, step });
    row.failed += steps.filter(({ kind, outcome }) => kind === 'run' && outcome === 'failed').length;
    if (row.state !== to) this.counts.push([lane, row.state, -1], [lane, to, 1]);
    if (to !== 'pending' && to !== 'running') this.leaveQueue(row, at);
    row.state = to;
    row.holder = null;
    row.reason = reason === null ? null : JSON.stringify(reason);
    row.started_at = started_at ?? row.started_at;
    if (due_at !== null) {
      row.due_at = due_at;
      row.set_at = at;
    }
    if (answer !== null) {
      row.answered_at = at;
      this.answers.set(row.ref, { lane, text: answer, program });
    }
    if (isFinal(to)) this.end(row, at);
    else if (!this.newWork.has(row)) this.changedWork.add(row);
  }

  /**
   * Skips the runs of the session that wait, and with `cancel` those in progress, whose outcome is then not stored. The
   * others in progress may end, but not wait again.
   */
  private replaceEarlier({ ref, set_at: at }: WorkRow, session: string, how: OnNewer, replaced?: WorkRow): void {
    const ended: Ref[] = [];
    // The last one first, so that none of them gets the turn of another.
    for (const other of this.rows.wholeSession(session).toReversed()) {
      if (other === replaced) continue;
      const isRunning = other.state === 'running';
      if (isRunning && how === 'latest') {
        other.blocked_by = 'newer';
        if (!this.newWork.has(other)) this.unblocked.add(other);
        continue;
      }
      ended.unshift(other.ref);
      const steps = isRunning ? [interruptedStep(other.started_at ?? at, at, SUPERSEDED)] : [];
      this.moveTo(other, { to: 'skipped', at, reason: SUPERSEDED, steps });
    }
    if (ended.length > 0) this.replacedBy.set(ref, ended);
  }

  /** Gives a new row its position in its session. */
  private joinQueue(row: WorkRow, session: string, replaced: WorkRow | undefined): void {
    const line = this.rows.sessions.get(session) ?? [];
    if (replaced?.session === session) {
      row.blocked_by = replaced.blocked_by;
      Object.assign(replaced, { session: null, blocked_by: null });
    } else if (line.length > 0) row.blocked_by = 'session';
    const others = line.filter((other) => other !== replaced);
    const after = others.findIndex(({ turn }) => turn > row.turn);
    this.rows.sessions.set(session, others.toSpliced(after < 0 ? others.length : after, 0, row));
  }

  /** Removes the row from its session. If it had the turn, the next one gets it. */
  private leaveQueue(row: WorkRow, at: number): void {
    const { session, blocked_by } = row;
    if (session === null) return;
    const line = (this.rows.sessions.get(session) ?? []).filter((other) => other !== row);
    this.rows.sessions.set(session, line);
    Object.assign(row, { session: null, blocked_by: null });
    const [next] = line;
    if (blocked_by === 'session' || next === undefined) return;
    Object.assign(next, { blocked_by: null, set_at: at });
    if (!this.newWork.has(next)) this.unblocked.add(next);
  }

  /** Makes a dispatch that has ended `delivering` again. */
  reopen(row: WorkRow, at: number): void {
    const { ref } = row;
    this.rows.ended.delete(ref);
    this.rows.work.set(ref, row);
    const index = this.ended.findIndex((ended) => ended.row === row);
    if (index >= 0) this.ended.splice(index, 1);
    this.reopened.add(ref);
    this.newWork.add(row);
    this.move(row, { to: 'delivering', at, due_at: at });
  }

  /** Records the row that a message has from now on, under its id and its guard. */
  setMessages(claim: StoredClaim, ref: Ref, now: number): void {
    for (const [name, expires_at] of claimedNames(claim))
      this.setMessage(this.rows.keyOf(name), { ref, ttl_ms: expires_at - now });
  }

  setMessage(key: string, row: MessageRow): void {
    const isKnown = this.rows.messages.get(key) !== undefined && !this.newMessages.has(key);
    (isKnown ? this.changedMessages : this.newMessages).set(key, row);
    this.rows.messages.set(key, row);
  }

  /** The delivery if `holder` holds it; otherwise null. */
  heldDelivery(ref: Ref, index: number, holder: string): DeliveryRow | null {
    const row = this.rows.deliveries.get(ref)?.get(index);
    return row === undefined || row.holder !== holder ? null : row;
  }

  retryDelivery(row: DeliveryRow, due_at: number, at: number): void {
    Object.assign(row, { due_at, set_at: at, holder: null });
    this.changedDeliveries.add(row);
  }

  /** Removes the delivery; returns whether others of the same dispatch are left. */
  endDelivery(row: DeliveryRow): boolean {
    const rows = this.rows.deliveries.get(row.ref);
    rows?.delete(row.n);
    this.droppedDeliveries.push(row);
    return (rows?.size ?? 0) > 0;
  }

  /** All steps of a dispatch, in order. */
  stepsOf({ ref, steps }: WorkRow): readonly Step[] {
    if (steps === 0) return [];
    const added = this.newSteps.filter((row) => row.ref === ref).map(({ step }) => step);
    return [...this.rows.stepsOf(ref), ...added];
  }

  isClaimed(claim: StoredClaim | null, now: number): boolean {
    return claimKeys(claim).some((name) => (this.rows.claims.get(this.rows.keyOf(name)) ?? now) > now);
  }

  claim(claim: StoredClaim | null | undefined): void {
    for (const [name, expires_at] of claimedNames(claim)) this.claimName(name, expires_at);
  }

  claimName(name: string, expires_at: number): void {
    const key = this.rows.keyOf(name);
    const isKnown = this.rows.claims.get(key) !== undefined && !this.newClaims.has(key);
    (isKnown ? this.renewedClaims : this.newClaims).set(key, expires_at);
    this.rows.claims.set(key, expires_at);
  }

  noteError(ref: Ref, at: number, reason: string): void {
    const { id = '', route = null } = this.rows.headOf(ref) ?? {};
    this.lastError = { id, route, at, reason };
  }

  private end(row: WorkRow, finished_at: number): void {
    const { ref, group_key } = row;
    this.ended.push({ row, finished_at });
    if (group_key !== null && this.rows.groups.get(group_key) === ref) this.rows.groups.delete(group_key);
    this.rows.work.delete(ref);
    this.rows.ended.set(ref, row);
    this.changedWork.delete(row);
    this.unblocked.delete(row);
    if (!this.newWork.delete(row)) this.droppedWork.push(ref);
  }
}
