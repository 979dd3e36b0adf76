/**
 * The connection that writes. A group of changes is one transaction under this node's lease. Transactions run one at a
 * time, so changes take effect in the order in which they were written.
 *
 *   commit ──> BEGIN, token ──> changes ──> COMMIT ──> results
 *                │ no row          │ conflict   │ connection lost
 *                v                 v            v
 *           a new lease        retry        resume: was it committed?
 */

import { messageOf } from '../../../../base/errors.ts';
import type { NodeIdentity } from '../../../../runtime/module.ts';
import type { Clock, SharedClock } from '../../../../runtime/platform/clock.ts';
import type { MutationKind, MutationResults } from '../../../../runtime/store/contract.ts';
import { StoreRefused, StoreUnavailable } from '../../../../runtime/store/contract.ts';
import type { CommitResult, EncodedChange, LargeTexts } from '../../../../runtime/store/group-commit.ts';
import { decodeChange, togetherWith } from '../../../../runtime/store/group-commit.ts';
import type { UnitParts } from '../../../../runtime/store/store-part.ts';
import type { DirectChange, UnitChange, UnitKind } from '../../../../runtime/store/unit/apply.ts';
import { applyToUnit, isUnitChange } from '../../../../runtime/store/unit/apply.ts';
import { WorkUnit } from '../../../../runtime/store/unit/unit.ts';
import type { DirectChanges } from './direct-changes.ts';
import { createDirectChanges } from './direct-changes.ts';
import type { PgConnection } from './driver.ts';
import { describePgError, isConflict, isLost, isStatementError } from './driver.ts';
import type { Others } from './lease.ts';
import { LEASE_MS, Lease, LeaseEnded, readServerTime } from './lease.ts';
import { loadUnit } from './load-unit.ts';
import { storeUnit } from './store-unit.ts';
import { LaneTurns } from './take-due.ts';
import type { OpenScope, Scope } from './transact.ts';
import { openScope, transact } from './transact.ts';

interface WriterParts {
  /** Connects to the migrated database. @param ended called when the connection has ended */
  readonly connect: (ended: () => void) => Promise<PgConnection>;
  /** The first statements of each transaction. */
  readonly begin: string;
  /** What modules bring to changes. */
  readonly parts: UnitParts;
  readonly node: NodeIdentity;
  readonly clock: Clock;
  /** Called with the time of the database. */
  readonly follow: SharedClock['follow'];
  /** Called when the connection is lost. */
  readonly lost: (reason: string) => void;
}

/** It is unknown whether the transaction with this number was committed. */
class Unknown extends Error {
  readonly batch: number;

  constructor(batch: number) {
    super('the connection was lost during a commit');
    this.batch = batch;
  }
}

export class PgWriter {
  private readonly parts: WriterParts;
  private readonly direct: DirectChanges;
  private db: PgConnection | null = null;
  private lease: Lease | null = null;
  /** Number of the last transaction whose commit is confirmed. */
  private committed = 0;
  /** Earliest monotonic ms at which the lease ends. */
  private leaseEnds = Number.NEGATIVE_INFINITY;
  private last: Promise<unknown> = Promise.resolve();
  /** Called with true once the last committed transaction is known; with false if it remains unknown. */
  private resumed: ((isKnown: boolean) => void)[] = [];

  constructor(parts: WriterParts) {
    this.parts = parts;
    this.direct = createDirectChanges(new LaneTurns());
  }

  get isConnected(): boolean {
    return this.db !== null && this.db.lost === null;
  }

  /** The minimum remaining time of the lease, in ms; negative when it may have ended. */
  get leaseLeftMs(): number {
    return this.leaseEnds - this.parts.clock.monotonic();
  }

  get node(): number {
    return this.lease?.id ?? 0;
  }

  /** Connects if there is no connection, and resumes the lease. Rejects when that fails. */
  async connect(): Promise<void> {
    if (this.isConnected) return;
    const { db: before } = this;
    this.db = null;
    void before?.close().catch(() => {});
    const requestedAt = this.parts.clock.monotonic();
    const db: PgConnection = await this.parts.connect(() => {
      if (this.db === null || this.db !== db) return;
      this.db = null;
      this.parts.lost(db.lost?.message ?? 'the connection was closed');
    });
    const { lease } = this;
    if (lease === null) this.lease = await this.newLease(db);
    else this.committed = await transact(db, this.parts.begin, () => lease.resume(db));
    this.leaseEnds = requestedAt + LEASE_MS;
    await readServerTime(db, this.parts.clock, this.parts.follow);
    this.db = db;
    for (const resume of this.resumed.splice(0)) resume(true);
  }

  renew(): Promise<Others> {
    return this.runExclusively(async () => {
      const { db, lease } = this.open();
      const requestedAt = this.parts.clock.monotonic();
      try {
        const others = await transact(db, this.parts.begin, () => lease.renew(db, this.parts.node));
        this.leaseEnds = requestedAt + LEASE_MS;
        await readServerTime(db, this.parts.clock, this.parts.follow);
        return others;
      } catch (error) {
        if (!(error instanceof LeaseEnded)) throw this.failed(error);
        await this.beginLease(db);
        return { left: 0, tables: [] };
      }
    });
  }

  /** Commits the changes; resolves to the results in the same order. Rejects when it is unknown whether they were stored. */
  commit(changes: readonly EncodedChange[]): Promise<readonly CommitResult[]> {
    return this.runExclusively(() => commitGroup(changes, (group) => this.makeUnderLease(group), this.parts.clock));
  }

  async close(): Promise<void> {
    for (const resume of this.resumed.splice(0)) resume(false);
    await this.runExclusively(async () => {
      const { db, lease } = this;
      if (db !== null && lease !== null) await transact(db, this.parts.begin, () => lease.end(db)).catch(() => {});
      this.db = null;
      await db?.close().catch(() => {});
    });
  }

  private runExclusively<T>(work: () => Promise<T>): Promise<T> {
    const result = this.last.then(work);
    this.last = result.catch(() => {});
    return result;
  }

  private open(): { readonly db: PgConnection; readonly lease: Lease } {
    const { db, lease } = this;
    if (db === null || lease === null || db.lost !== null) {
      throw new StoreUnavailable(`cannot reach the database: ${db?.lost?.message ?? 'not connected'}`);
    }
    return { db, lease };
  }

  private async makeUnderLease(changes: readonly EncodedChange[]): ReturnType<typeof makeChanges> {
    for (;;) {
      try {
        return await this.makeAll(changes);
      } catch (error) {
        if (error instanceof LeaseEnded) await this.beginLease(this.open().db);
        else throw isConflict(error) || isStatementError(error) ? error : this.failed(error);
      }
    }
  }

  /** Rejects with LeaseEnded, Unknown, or the database's error; after any but Unknown, nothing was stored. */
  private async makeAll(changes: readonly EncodedChange[]): ReturnType<typeof makeChanges> {
    const { db, lease } = this.open();
    const batch = lease.nextBatch();
    const { scope, settle } = openScope(db, lease.id);
    const begun = db.script(`${this.parts.begin}; ${batch.sql}`);
    try {
      const making = makeChanges(scope, this.direct, changes, this.parts.parts);
      // All are sent at once; the first failure counts.
      const [begin, results] = await Promise.allSettled([begun, making]);
      if (begin.status === 'rejected') throw begin.reason;
      if (begin.value.length === 0) throw new LeaseEnded();
      if (results.status === 'rejected') return await settle(making);
      await this.end(db, batch.number, settle);
      return results.value;
    } catch (error) {
      if (db.lost === null && !(error instanceof Unknown)) await db.script('ROLLBACK').catch(() => {});
      throw error;
    }
  }

  /**
   * Sends the commit without waiting for the last changes. If its response is lost, waits until the outcome is known.
   * Rejects with the failure of a change, after which the server has rolled back.
   */
  private async end(db: PgConnection, batch: number, settle: OpenScope['settle']): Promise<void> {
    const committing = db.script('COMMIT');
    try {
      await committing;
      await settle(committing);
      return;
    } catch (error) {
      if (!isLost(error)) throw error;
      this.parts.lost(describePgError(error));
      this.db = null;
      void db.close().catch(() => {});
    }
    const isKnown = await new Promise<boolean>((resolve) => this.resumed.push(resolve));
    if (!isKnown) throw new Unknown(batch);
    if (this.committed < batch) throw new StoreUnavailable('lost the connection to the database: nothing was stored');
  }

  private async beginLease(db: PgConnection): Promise<void> {
    const requestedAt = this.parts.clock.monotonic();
    this.lease = await this.newLease(db);
    this.leaseEnds = requestedAt + LEASE_MS;
  }

  private newLease(db: PgConnection): Promise<Lease> {
    return transact(db, this.parts.begin, () => Lease.begin(db, this.parts.node));
  }

  /** Converts an error for callers, and drops a lost connection. */
  private failed(error: unknown): Error {
    if (error instanceof StoreUnavailable) return error;
    if (isLost(error) && this.db !== null) {
      void this.db.close().catch(() => {});
      this.db = null;
      this.parts.lost(describePgError(error));
    }
    return new StoreUnavailable(`database unavailable: ${describePgError(error)}`);
  }
}

/** Makes the changes in one transaction. */
type MakeGroup = (changes: readonly EncodedChange[]) => Promise<readonly MutationResults[MutationKind][]>;

/** Maximum number of attempts of a group that conflicts with another gateway's. */
const TRIES = 6;
const PAUSE_MS = 20;

/**
 * Commits the changes; resolves to the results in the same order. A group that conflicts with another gateway's is retried;
 * a change that cannot be stored fails alone. Rejects when it is unknown whether the changes were stored.
 */
export async function commitGroup(
  changes: readonly EncodedChange[],
  make: MakeGroup,
  clock: Clock,
): Promise<readonly CommitResult[]> {
  for (let tries = 1; ; tries++) {
    try {
      return (await make(changes)).map((value) => ({ kind: 'ok', value }));
    } catch (error) {
      if (isConflict(error) && tries < TRIES) await pause(clock, tries);
      else if (isConflict(error) || isStatementError(error)) return oneByOne(changes, make, clock, error);
      else if (error instanceof StoreUnavailable)
        return changes.map(() => ({ kind: 'unavailable', message: error.message }));
      else throw error;
    }
  }
}

async function oneByOne(
  changes: readonly EncodedChange[],
  make: MakeGroup,
  clock: Clock,
  error: unknown,
): Promise<readonly CommitResult[]> {
  if (togetherWith(changes, 0).length === changes.length) {
    const message = messageOf(error);
    const kind = isConflict(error) || error instanceof StoreRefused ? 'unavailable' : 'failed';
    return changes.map(() => ({ kind, message }));
  }
  const results: CommitResult[] = [];
  while (results.length < changes.length) {
    const part = changes.slice(results.length, results.length + togetherWith(changes, results.length).length);
    const stored = await commitGroup(part, make, clock).catch((failure: unknown): readonly CommitResult[] =>
      part.map(() => ({ kind: 'in_doubt', message: messageOf(failure) })),
    );
    results.push(...stored);
  }
  return results;
}

const pause = (clock: Clock, tries: number): Promise<void> =>
  new Promise((resolve) => void clock.after(Math.random() * PAUSE_MS * tries, resolve));

/*
 * Makes a group of changes within its transaction. The changes of a group are concurrent, because none was
 * acknowledged. So the changes of events are made first, as one unit of work, and `take_work` sees them. The others
 * follow in their order.
 */

type Result = MutationResults[MutationKind];

/** A change with its index in the group. */
interface IndexedChange {
  readonly index: number;
  readonly change: UnitChange;
  readonly texts: LargeTexts;
}

type Section =
  | { readonly kind: 'unit'; readonly parts: IndexedChange[] }
  | { readonly kind: 'direct'; readonly index: number; readonly change: DirectChange };

/**
 * Kinds that share a unit. Jobs do not share one with changes that end runs, because runs that these unblock must be
 * stored first.
 */
const UNIT_OF: Readonly<Record<UnitKind, 'events' | 'firing'>> = {
  accept: 'events',
  join_group: 'events',
  advance: 'events',
  record_attempt: 'events',
  give_up: 'events',
  change_delivery: 'events',
  resend: 'events',
  put_guard: 'events',
  pause_route: 'events',
  begin_run: 'events',
  tick_job: 'firing',
  fire_job: 'firing',
};

/** Makes the changes; resolves to their results, in order, once their statements have been sent. */
export async function makeChanges(
  scope: Scope,
  direct: DirectChanges,
  encoded: readonly EncodedChange[],
  parts: UnitParts,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  for (const section of sectionsOf(encoded)) {
    if (section.kind === 'direct') {
      const { index, change } = section;
      const make = direct[change.kind] as (scope: Scope, change: DirectChange) => Promise<Result>;
      results[index] = await make(scope, change);
      continue;
    }
    const changes = section.parts.map(({ change }) => change);
    const unit = new WorkUnit(await loadUnit(scope.db, changes), parts);
    for (const { index, change, texts } of section.parts) results[index] = applyToUnit(unit, change, texts);
    storeUnit(scope, unit);
  }
  return results;
}

function sectionsOf(encoded: readonly EncodedChange[]): readonly Section[] {
  const events: IndexedChange[] = [];
  const others: Section[] = [];
  for (const [index, one] of encoded.entries()) {
    const [, body, answer] = one;
    const change = decodeChange(one);
    if (!isUnitChange(change)) {
      others.push({ kind: 'direct', index, change });
      continue;
    }
    const part = { index, change, texts: { body, answer } };
    const last = others.at(-1);
    if (UNIT_OF[change.kind] === 'events') events.push(part);
    else if (last?.kind === 'unit') last.parts.push(part);
    else others.push({ kind: 'unit', parts: [part] });
  }
  return events.length === 0 ? others : [{ kind: 'unit', parts: events }, ...others];
}
