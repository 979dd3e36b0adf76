/**
 * The work behind the server, assembled: accepted events are stored, wait, run and are delivered, in that order, and
 * whatever a stop or a crash leaves unfinished goes on after the next start.
 */
import type { Dispatch } from '../../schemas/generated/types.ts';
import type { Ref } from '../store/mutations.ts';
import { StoreUnavailable } from '../store/store.ts';
import { Caretaker } from './caretaker.ts';
import type { DispatchContext } from './context.ts';
import { DeliveryLoop } from './delivery-loop.ts';
import { DirectDelivery } from './direct-delivery.ts';
import type { DispatchCounts, DispatchReport, DispatchService } from './dispatch-service.ts';
import type { Claim, Dispatcher, Refusal } from './dispatcher.ts';
import { GroupTimers } from './group-timers.ts';
import { Persister } from './persist.ts';
import { Progress } from './progress.ts';
import type { RecoveryParts } from './recovery.ts';
import { takeUp } from './recovery.ts';
import { RunLoop } from './run-loop.ts';
import { storedClaim } from './stored-claim.ts';

const ACCEPTED = { kind: 'accepted' } as const;
const SHUTTING_DOWN: Refusal = { kind: 'shutting_down', retry_after_seconds: 10 };
const QUEUE_FULL: Refusal = { kind: 'overloaded', retry_after_seconds: 30 };
const STORE_DOWN: Refusal = { kind: 'overloaded', retry_after_seconds: 10 };

/** How long work that was cut off may take to say so, in ms. */
const CUT_OFF_MS = 5000;

export function createDispatcher(context: DispatchContext): DispatchService {
  return new DispatcherService(context);
}

class DispatcherService implements DispatchService {
  private readonly context: DispatchContext;
  private readonly persister: Persister;
  private readonly known = new Set<Ref>();
  private readonly runs: RunLoop;
  private readonly deliveries: DeliveryLoop;
  private readonly groups: GroupTimers;
  private readonly direct: DirectDelivery;
  private readonly parts: RecoveryParts;
  private accepting = 0;
  private stopping = false;
  private readonly progress: Progress;
  private readonly caretaker: Caretaker;
  /** Whether the last write was refused: said once, not for each event. */
  private storeIsDown = false;

  constructor(context: DispatchContext) {
    this.context = context;
    const persister = new Persister(context);
    this.persister = persister;
    const ended = (ref: Ref): void => void this.known.delete(ref);
    this.progress = new Progress(context.clock);
    const changed = (): void => this.progress.changed();
    this.deliveries = new DeliveryLoop({ context, persister, ended, changed });
    this.runs = new RunLoop({
      ...{ context, persister, ended, changed },
      deliver: (ref, dispatch, text) => this.deliveries.submit(ref, dispatch, text),
      resume: (ref) => this.deliveries.resume(ref),
    });
    this.groups = new GroupTimers({
      ...{ clock: context.clock, persister },
      replaced: ended,
      due: () => context.observer?.reached?.('group.due'),
      release: (work) => {
        context.observer?.reached?.('group.released');
        this.runs.submit(work);
      },
    });
    this.direct = new DirectDelivery(context, persister, this.known);
    const { runs, deliveries, groups, known } = this;
    this.parts = { context, persister, runs, deliveries, groups, known };
    this.caretaker = new Caretaker(this.parts);
  }

  isDone(claim: Claim, thorough: boolean): boolean {
    if (claim.generated) return false;
    const { store, clock } = this.context;
    return thorough ? store.isClaimed(claim, clock.now()) : store.isKnownClaimed(claim, clock.now());
  }

  async accept(dispatch: Dispatch, claim: Claim, max_concurrent: number | null): ReturnType<Dispatcher['accept']> {
    if (this.isFull()) return QUEUE_FULL;
    if (this.stopping) return SHUTTING_DOWN;
    const { store, clock, observer } = this.context;
    const now = clock.now();
    this.accepting++;
    try {
      observer?.reached?.('accept.begin');
      const stored = this.worked(
        await store.write({
          kind: 'accept',
          dispatch,
          max_concurrent,
          claim: storedClaim(claim, now),
          claiming: 'now',
          state: 'pending',
          now,
          inbox: false,
        }),
      );
      if (stored.kind === 'duplicate') return stored;
      observer?.reached?.('accept.stored');
      const { ref } = stored;
      this.known.add(ref);
      this.runs.submit({ ref, profile: dispatch.profile, route: dispatch.route, max_concurrent, dispatch });
      return ACCEPTED;
    } catch (error) {
      return this.refuse(error);
    } finally {
      this.accepting--;
    }
  }

  coalesce(...[dispatch, claim, group, max_concurrent]: Parameters<Dispatcher['coalesce']>) {
    const { store, clock, observer } = this.context;
    const { key } = group;
    const { profile, route } = claim;
    const limits = { window_ms: Math.round(group.window_ms), max_wait_ms: Math.round(group.max_wait_ms) };
    return this.guarded(async () => {
      const now = clock.now();
      observer?.reached?.('accept.begin');
      const held = storedClaim(claim, now);
      const stored = await store.write({ kind: 'coalesce', dispatch, max_concurrent, key, limits, now, claim: held });
      if (stored.kind === 'duplicate') return stored;
      observer?.reached?.('accept.stored');
      const { ref, due_at, max_wait_ms, superseded } = stored;
      this.known.add(ref);
      // Only its number is kept: the stored dispatch also knows how many events it stands for.
      this.groups.watch({ key, due_at, max_wait_ms, work: { ref, profile, route, max_concurrent, dispatch: null } });
      return { kind: 'coalesced', superseded } as const;
    });
  }

  deliver(dispatch: Dispatch, claim: Claim, timeout_ms: number): ReturnType<Dispatcher['deliver']> {
    return this.guarded(() => this.direct.deliver(dispatch, claim, timeout_ms).finally(() => this.progress.changed()));
  }

  fire(dispatch: Dispatch, claim: Claim): ReturnType<Dispatcher['fire']> {
    const { jobs } = this.context;
    if (jobs === undefined) return Promise.resolve({ kind: 'unknown_job' });
    return this.guarded(() => jobs.fire(dispatch, claim));
  }

  start(): Promise<number> {
    return this.caretaker.start();
  }

  refresh(): void {
    this.runs.pump();
  }

  async adopt(ref: Ref): Promise<void> {
    const open = this.context.store.openOne(ref);
    if (open !== null) await takeUp(this.parts, open);
  }

  async stop(drainMs: number): Promise<DispatchReport> {
    this.stopping = true;
    this.caretaker.stop();
    let flushed = false;
    const flush = (): void => {
      flushed = true;
      this.progress.changed();
    };
    this.groups.flush().then(flush, flush);
    await this.progress.until(() => flushed && this.queued === 0 && this.active === 0, drainMs);
    const abandoned = this.active;
    const drained = abandoned === 0 && this.queued === 0;
    this.runs.close();
    this.deliveries.close();
    await this.progress.until(() => this.active === 0, CUT_OFF_MS);
    this.persister.stop();
    return { drained, abandoned };
  }

  counts(): DispatchCounts {
    return {
      runs_active: this.runs.active,
      runs_queued: this.runs.queued,
      deliveries_active: this.deliveries.active + this.direct.active,
      deliveries_queued: this.deliveries.queued,
      deliveries_delayed: this.deliveries.delayed,
      groups: this.groups.size,
    };
  }

  /** Work that could start now. */
  private get queued(): number {
    return this.runs.queued + this.deliveries.queued;
  }

  private get active(): number {
    return this.runs.active + this.deliveries.active + this.direct.active;
  }

  private isFull(): boolean {
    return this.runs.queued + this.runs.delayed + this.accepting >= this.context.limits().max_queued_runs;
  }

  /** Refuses while we stop, and when the store cannot take anything. */
  private async guarded<T>(work: () => Promise<T>): Promise<T | Refusal> {
    if (this.stopping) return SHUTTING_DOWN;
    try {
      return this.worked(await work());
    } catch (error) {
      return this.refuse(error);
    }
  }

  private worked<T>(result: T): T {
    if (this.storeIsDown) this.context.log.info({}, 'the store works again');
    this.storeIsDown = false;
    return result;
  }

  /** @throws what is not the store's doing. */
  private refuse(error: unknown): Refusal {
    if (!(error instanceof StoreUnavailable)) throw error;
    const { log } = this.context;
    if (!this.storeIsDown) log.error({ err: error.message }, 'the store cannot take anything: events are refused');
    this.storeIsDown = true;
    return STORE_DOWN;
  }
}
