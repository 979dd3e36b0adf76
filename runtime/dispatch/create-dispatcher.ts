/**
 * Assembles the dispatcher: accepted events are stored, queued, run and delivered. Work that a stop or a crash leaves
 * unfinished resumes after the next start.
 */

import { randomUUID } from 'node:crypto';
import type { StopResult } from '../../schemas/built/operations/types.ts';
import type { Dispatch } from '../../schemas/generated/types.ts';
import type { Clock } from '../platform/clock.ts';
import type { Accept, InitialWork, JoinGroup } from '../store/contract.ts';
import type { Ref } from '../store/records.ts';
import { RecentClaims } from '../store/tally.ts';
import { isMessage } from '../store/timeline.ts';
import { Contents } from './contents.ts';
import type { DispatchContext } from './context.ts';
import { DeliveryWorker } from './delivery-worker.ts';
import { DirectDelivery } from './direct-delivery.ts';
import type { Claim, DispatchCounts, Dispatcher, DispatchService, Refusal } from './dispatcher.ts';
import { logFields, orRefused, refusePaused, storedClaim } from './dispatcher.ts';
import { openOf, reportBlocked } from './finished-run.ts';
import { Persister } from './persist.ts';
import { RunWorker, reportOver } from './run-worker.ts';
import { WorkLoop } from './work-loop.ts';

const SHUTTING_DOWN: Refusal = { kind: 'shutting_down', retry_after_seconds: 10 };
const QUEUE_FULL: Refusal = { kind: 'overloaded', reason: 'queue_full', retry_after_seconds: 30 };

/** Another request is delivering this message. */
const HELD: Refusal = { kind: 'overloaded', reason: 'store_unavailable', retry_after_seconds: 10 };

/** How long cancelled work may take to end, in ms. */
const CANCEL_MS = 5000;

/** Creates the dispatcher; call `start` to begin work. */
export function createDispatcher(context: DispatchContext): DispatchService {
  return new DispatcherService(context);
}

class DispatcherService implements DispatchService {
  private readonly context: DispatchContext;
  private readonly persister: Persister;
  private readonly contents: Contents;
  private readonly recent = new RecentClaims();
  private readonly runs: RunWorker;
  private readonly deliveries: DeliveryWorker;
  private readonly direct: DirectDelivery;
  private readonly loop: WorkLoop;
  private readonly progress: WorkProgress;
  private stopping = false;

  constructor(context: DispatchContext) {
    this.context = context;
    const holder = randomUUID();
    const persister = new Persister(context);
    const contents = new Contents(context.store);
    this.progress = new WorkProgress(context.clock);
    const ended = (): void => {
      this.loop.wake();
      this.progress.changed();
    };
    const parts = { context, holder, persister, contents, changed: ended };
    this.runs = new RunWorker(parts);
    this.deliveries = new DeliveryWorker(parts);
    this.direct = new DirectDelivery(context, holder, persister, this.recent);
    const { runs, deliveries } = this;
    const changed = (): void => this.progress.changed();
    this.loop = new WorkLoop({ context, holder, runs, deliveries, changed });
    this.persister = persister;
    this.contents = contents;
  }

  isKnownDone(claim: Claim): boolean {
    const now = this.context.clock.now();
    const key = storedClaim(claim, now);
    return key !== null && this.recent.has(key, now);
  }

  async refuseRepeat(claim: Claim): Promise<Refusal | null> {
    const { store, clock } = this.context;
    const now = clock.now();
    const key = storedClaim(claim, now);
    if (key === null) return null;
    const found = await orRefused(store.read({ kind: 'is_claimed', key, now }));
    if (found === true) return { kind: 'duplicate' };
    return found === false ? null : found;
  }

  async accept(
    ...[dispatch, claim, max_concurrent, event]: Parameters<Dispatcher['accept']>
  ): ReturnType<Dispatcher['accept']> {
    const isRun = !isMessage(dispatch);
    // A batch may be longer than the queue.
    const before = this.loop.queued - (claim.together?.size ?? 0);
    if (isRun && before >= this.context.limits().max_queued_runs) return QUEUE_FULL;
    if (this.stopping) return SHUTTING_DOWN;
    const { store, clock, observer, limiter } = this.context;
    const now = clock.now();
    const work = initialWork(dispatch, now);
    const storedId = storedClaim(claim, now);
    const change: Accept = {
      kind: 'accept',
      dispatch,
      max_concurrent,
      claim: storedId,
      claiming: 'now',
      work,
      limits: limiter?.counted(dispatch, now, event) ?? [],
      now,
    };
    observer?.reached?.('accept.begin');
    const written = store.write(change, claim);
    // Called after `write`, so that the same commit takes the run.
    if (isRun) this.loop.arrive(1);
    else this.loop.wake();
    const stored = await orRefused(written);
    if (stored.kind !== 'stored') {
      if (isRun) this.loop.arrive(-1);
      if (stored.kind === 'over_limit') reportOver(this.context, dispatch, stored);
      if (stored.kind === 'route_paused') return refusePaused(stored, now);
      // The route was `deliver_only` until a moment ago.
      return stored.kind === 'held' ? HELD : stored;
    }
    // Its change may have been sent later than those that take runs.
    if (claim.together !== undefined) this.loop.wake();
    if (stored.over !== undefined) reportOver(this.context, dispatch, stored.over);
    this.recent.committed(change, stored);
    observer?.moved?.(dispatch);
    this.replace(dispatch, stored.replaced);
    if (stored.continued === undefined) this.contents.keep(stored.ref, dispatch, null);
    observer?.reached?.('accept.stored');
    if (work.kind === 'deliveries') reportBlocked(this.context, work.open);
    return { kind: 'accepted' };
  }

  async coalesce(
    ...[dispatch, claim, group, max_concurrent, event]: Parameters<Dispatcher['coalesce']>
  ): ReturnType<Dispatcher['coalesce']> {
    if (this.stopping) return SHUTTING_DOWN;
    const { store, clock, observer } = this.context;
    const now = clock.now();
    const limits = { window_ms: Math.round(group.window_ms), max_wait_ms: Math.round(group.max_wait_ms) };
    const storedId = storedClaim(claim, now);
    const { key } = group;
    const run_limits = this.context.limiter?.counted(dispatch, now, event) ?? [];
    const of = { kind: 'join_group', dispatch, max_concurrent, key, limits, now, claim: storedId } as const;
    const change: JoinGroup = { ...of, run_limits };
    observer?.reached?.('accept.begin');
    const stored = await orRefused(store.write(change, claim));
    const over = stored.kind === 'stored' ? stored.over : stored;
    if (over?.kind === 'over_limit') reportOver(this.context, dispatch, over);
    if (stored.kind !== 'stored') return stored;
    this.recent.committed(change, stored);
    observer?.moved?.(dispatch);
    this.replace(dispatch, stored.replaced);
    observer?.reached?.('accept.stored');
    this.loop.wakeAt(stored.due_at);
    return { kind: 'coalesced', superseded: stored.superseded } as const;
  }

  /** Ends the runs that the event has replaced. */
  private replace(dispatch: Dispatch, replaced: readonly Ref[] = []): void {
    if (replaced.length === 0) return;
    const { log, observer } = this.context;
    log.info({ ...logFields(dispatch), replaced: replaced.length }, 'skipped earlier runs of the session');
    observer?.superseded?.(dispatch, replaced.length);
    for (const ref of replaced) this.contents.forget(ref);
    this.runs.replace(replaced);
  }

  async deliver(...[dispatch, claim, timeoutMs]: Parameters<Dispatcher['deliver']>): ReturnType<Dispatcher['deliver']> {
    if (this.stopping) return SHUTTING_DOWN;
    const delivered = orRefused(this.direct.deliver(dispatch, claim, timeoutMs));
    return delivered.finally(() => this.progress.changed());
  }

  async fire(dispatch: Parameters<Dispatcher['fire']>[0], claim: Claim): ReturnType<Dispatcher['fire']> {
    const { jobs } = this.context;
    if (jobs === undefined) return { kind: 'unknown_job' };
    return this.stopping ? SHUTTING_DOWN : orRefused(jobs.fire(dispatch, claim));
  }

  start(): Promise<number> {
    return this.loop.start();
  }

  wake(): void {
    this.loop.wake();
  }

  async stop(drainMs: number): Promise<StopResult> {
    this.stopping = true;
    let flushed = false;
    const flush = (): void => {
      flushed = true;
      this.loop.wake();
    };
    const { store, clock } = this.context;
    this.persister.write({ kind: 'flush_groups', now: clock.now() }).then(flush, flush);
    const isDrained = (): boolean => flushed && this.loop.isIdle && this.direct.active === 0;
    // A store that cannot write hands out no work. Pending work resumes after the next start.
    this.loop.wake();
    const isStuck = (): boolean => store.problem() !== null && !this.loop.isBusy && this.direct.active === 0;
    await this.progress.until(() => isDrained() || isStuck(), drainMs);
    const abandoned = this.active;
    const drained = isDrained() && abandoned === 0;
    this.loop.close();
    this.runs.close();
    this.deliveries.close();
    await this.progress.until(() => this.active === 0 && !this.loop.isBusy, CANCEL_MS);
    this.persister.stop();
    return { drained, abandoned };
  }

  async counts(): Promise<DispatchCounts> {
    const { store, clock } = this.context;
    const { backlog } = await store.read({ kind: 'overview', now: clock.now() });
    return {
      runs_active: this.runs.underWay.size,
      runs_queued: backlog.runs,
      deliveries_active: this.deliveries.underWay.size + this.direct.active,
      deliveries_queued: backlog.deliveries,
      deliveries_delayed: backlog.deliveries_delayed,
      groups: backlog.groups,
    };
  }

  private get active(): number {
    return this.runs.underWay.size + this.deliveries.underWay.size + this.direct.active;
  }
}

function initialWork(dispatch: Dispatch, now: number): InitialWork {
  if (!isMessage(dispatch)) return { kind: 'run' };
  return { kind: 'deliveries', answer: null, open: openOf(dispatch.deliveries, now) };
}

/** Lets a stop wait until work has ended, for a limited time. */
class WorkProgress {
  private readonly checks = new Set<() => void>();
  private readonly clock: Clock;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  changed(): void {
    for (const check of this.checks) check();
  }

  /** Resolves once `done()` returns true, or after `ms`. */
  until(done: () => boolean, ms: number): Promise<void> {
    return new Promise((resolve) => {
      const finish = (): void => {
        this.checks.delete(check);
        timer.cancel();
        resolve();
      };
      const check = (): void => (done() ? finish() : undefined);
      const timer = this.clock.after(ms, finish);
      this.checks.add(check);
      check();
    });
  }
}
