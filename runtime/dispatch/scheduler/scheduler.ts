/**
 * Fires scheduled jobs, each at most once for each instant, and never during its previous run.
 *
 * The scheduler sleeps until the next instant, but never longer than `pollMs`, so that it notices changed jobs and a
 * changed clock. The store decides whether a job fires, in the transaction that stores the run
 * (../../store/unit/jobs.ts). The state here only determines when to query it.
 */
import type { Dispatch } from '../../../schemas/generated/types.ts';
import type { Clock, Timer } from '../../platform/clock.ts';
import type { Ids } from '../../platform/ids.ts';
import type { Logger, TraceFields } from '../../platform/log.ts';
import type { MutationResults, Store } from '../../store/contract.ts';
import { StoreUnavailable } from '../../store/contract.ts';
import type { JobRecord, JobState, WatchJob } from '../../store/records.ts';
import { isJobPaused, NO_STATE, pauseEnd } from '../../store/records.ts';
import type { FindDestination } from '../../table/held-place.ts';
import type { FindLimits, JobFirer } from '../context.ts';
import type { Claim, Dispatcher, DispatchObserver } from '../dispatcher.ts';
import { storedClaim } from '../dispatcher.ts';
import { reportOver } from '../run-worker.ts';
import type { CronTimes, DeliveryTable, Due, Job, JobTable } from './job.ts';
import { decideDue, eventDispatch, jobSignature, listJobs, readCron, scheduledDispatch } from './job.ts';

export interface SchedulerOptions {
  readonly store: Store;
  /** The table in service, read again each time. */
  readonly table: () => JobTable;
  readonly place?: FindDestination;
  /** Called when a run was stored and can be taken. */
  readonly wake: () => void;
  /** IANA zone of jobs without a zone, if the config has none either. */
  readonly timezone: string;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly log: Logger;
  readonly limiter?: FindLimits;
  readonly observer?: DispatchObserver;
  /** Called with the jobs of the store whenever any process has changed them, before they fire. */
  readonly changed?: (records: readonly JobRecord[]) => Promise<void>;
  /** Begins the trace of an instant that fires; null: tracing is off. */
  readonly tracing?: { fired(job: string, dueAt: number): TraceFields } | null;
  /** Longest sleep, in ms. Default: 1000. */
  readonly pollMs?: number;
}

const POLL_MS = 1000;

/** The reply to an event that fires a job, by the store's result. */
const FIRED = { stored: 'accepted', running: 'already_running', paused: 'paused', duplicate: 'duplicate' } as const;

export class JobScheduler implements JobFirer {
  private readonly options: SchedulerOptions;
  private readonly pollMs: number;
  private readonly ticks: TickRetention;
  private watched: ReadonlyMap<string, Watched> = new Map();
  private source: { readonly table: JobTable; readonly version: number } | null = null;
  private startedAt = 0;
  private timer: Timer | null = null;
  private working: Promise<void> = Promise.resolve();
  private loading: Promise<void> = Promise.resolve();
  private stopped = true;
  /** True if the store was unavailable at the last attempt; logged once. */
  private isRefused = false;

  constructor(options: SchedulerOptions) {
    this.options = options;
    this.pollMs = options.pollMs ?? POLL_MS;
    this.ticks = new TickRetention(options.store);
  }

  /** Starts to watch the jobs; instants before now count as missed. */
  start(): void {
    this.stopped = false;
    this.startedAt = this.options.clock.now();
    this.wake();
  }

  /** Stops firing; resolves when running work is stored. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.timer?.cancel();
    await this.working;
  }

  /** Polls now instead of at the next interval, after a table was swapped or jobs were changed. */
  refresh(): void {
    if (this.stopped) return;
    this.timer?.cancel();
    this.wake();
  }

  /** Unix ms of the earliest instant that has passed and was not handled; null: there is none. */
  overdue(): number | null {
    const now = this.options.clock.now();
    const passed = [...this.watched.values()].flatMap(({ next }) => (next !== null && next <= now ? [next] : []));
    return passed.length === 0 ? null : Math.min(...passed);
  }

  private get targets(): DeliveryTable {
    const { table, place } = this.options;
    return { ...table(), place };
  }

  isPaused(job: string): boolean {
    return this.watched.get(job)?.job.paused ?? false;
  }

  async fire(dispatch: Dispatch, claim: Claim): ReturnType<Dispatcher['fire']> {
    await this.load();
    const { store, clock, log, wake, limiter } = this.options;
    const job = this.watched.get(dispatch.job ?? '')?.job;
    if (job === undefined || job.profile !== dispatch.profile) return { kind: 'unknown_job' };
    const now = clock.now();
    const fields = { job: job.id, route: dispatch.route, delivery_id: dispatch.delivery_id };
    const fired = eventDispatch(job, this.targets, dispatch);
    const change = {
      kind: 'fire_job',
      job: job.id,
      paused: job.paused,
      now,
      even_paused: false,
      limits: limiter?.counted(fired, now) ?? [],
      dispatch: fired,
      claim: storedClaim(claim, now),
    } as const;
    const result = await store.write(change, claim);
    if (result.kind === 'stored') wake();
    if (result.kind === 'running') log.info(fields, 'skipped an event: its job is already running');
    if (result.kind === 'paused') log.info(fields, 'dropped an event: its job is paused');
    if (result.kind !== 'over_limit') return { kind: FIRED[result.kind] };
    reportOver(this.options, fired, result);
    return result;
  }

  private wake(): void {
    this.timer = null;
    this.working = this.working.then(() => this.work()).catch((error: unknown) => this.logFailure(error));
    void this.working.then(() => this.sleep());
  }

  private logFailure(error: unknown): void {
    const isRefused = error instanceof StoreUnavailable;
    if (isRefused && this.isRefused) return;
    this.isRefused ||= isRefused;
    const fields = isRefused ? { reason: error.message } : { err: error };
    this.options.log.error(fields, 'the scheduler failed; will retry');
  }

  private async work(): Promise<void> {
    if (this.stopped) return;
    await this.load();
    const { clock, table } = this.options;
    const now = clock.now();
    const settling = [...this.watched.values()].flatMap((watched) =>
      watched.next !== null && watched.next <= now ? [this.settle(watched, watched.next, now)] : [],
    );
    const results = await Promise.allSettled(settling);
    for (const result of results) if (result.status === 'rejected') this.logFailure(result.reason);
    if (results.some(({ status }) => status === 'fulfilled')) this.isRefused = false;
    await this.ticks.forget(now, table().gateway.retention_days);
  }

  private sleep(): void {
    if (this.stopped || this.timer !== null) return;
    const now = this.options.clock.now();
    let ms = this.pollMs;
    for (const { next } of this.watched.values()) if (next !== null) ms = Math.min(ms, next - now);
    this.timer = this.options.clock.after(Math.max(1, ms), () => this.wake());
  }

  /** Reloads the jobs when table, store or clock have changed. Loads run one at a time. */
  private load(): Promise<void> {
    this.loading = this.loading.then(
      () => this.loadNow(),
      () => this.loadNow(),
    );
    return this.loading;
  }

  private async loadNow(): Promise<void> {
    const { store, timezone, clock, log } = this.options;
    const current = await store.read({ kind: 'jobs_version' });
    const table = this.options.table();
    const isNew = this.source?.table !== table || this.source.version !== current;
    const isBack = [...this.watched.values()].some(({ cursor }) => isAhead(cursor, clock.now()));
    if (!isNew && !isBack) return;
    const { records, states, version } = await store.read({ kind: 'jobs' });
    const now = clock.now();
    if (isBack) {
      log.warn({}, 'system clock moved back; rescheduled jobs (no job fires twice)');
      this.startedAt = Math.min(this.startedAt, now);
    }
    const before = isBack ? new Map<string, Watched>() : this.watched;
    const found = watchJobs(listJobs(table, records, timezone), { states, before, now });
    this.watched = found.watched;
    if (this.source?.version !== version) await this.options.changed?.(records);
    this.source = { table, version };
    for (const begin of found.begun) store.write(begin).catch((error: unknown) => this.logFailure(error));
    for (const { job, error } of found.unreadable) {
      log.error({ job, err: error }, 'invalid schedule: the job will not fire');
    }
  }

  private async settle(watched: Watched, first: number, now: number): Promise<void> {
    const { job, cron } = watched;
    const due = decideDue({ cron, first, started_at: this.startedAt, now, misfire: job.misfire });
    const { store, ids, limiter, tracing = null } = this.options;
    const { due_at, missed } = due;
    const occasion = { id: ids.dispatch(now), due_at, now };
    const traced = due.fires && tracing !== null ? tracing.fired(job.id, due_at) : {};
    const dispatch = due.fires ? { ...scheduledDispatch(job, this.targets, occasion), ...traced } : null;
    const result = await store.write({
      kind: 'tick_job',
      job: job.id,
      paused: job.paused,
      now,
      due_at,
      dispatch,
      missed,
      limits: dispatch === null ? [] : (limiter?.counted(dispatch, now) ?? []),
    });
    watched.cursor = due_at;
    watched.next = due.next;
    if (result.kind === 'over_limit' && dispatch !== null) reportOver(this.options, dispatch, result);
    this.report(job, due, result.kind);
    if (result.kind === 'stored') this.options.wake();
  }

  private report(job: Job, { due_at, missed }: Due, outcome: MutationResults['tick_job']['kind']): void {
    const { log, observer } = this.options;
    if (outcome !== 'claimed' && outcome !== 'paused') observer?.jobTicked?.(job, missed, outcome === 'stored');
    const fields = { job: job.id, profile: job.profile, due_at: new Date(due_at).toISOString() };
    if (outcome === 'stored') log.info(fields, 'job fired');
    if (outcome === 'over_limit') log.info(fields, 'skipped a run: budget exhausted');
    if (outcome === 'running') log.warn(fields, 'skipped a run: the job is still running');
    if (missed > 0 && outcome !== 'claimed') log.warn({ ...fields, missed }, 'missed runs of a job');
  }
}

/** Removes old records of fired instants, once an hour, for the scheduler. */
const EVERY_MS = 3_600_000;
/** Maximum number of records removed in one change. */
const SLICE = 1000;
/** Minimum time that records stay, in ms: they prevent a second firing after the system clock moved back. */
const KEEP_MS = 48 * 3_600_000;

class TickRetention {
  private readonly store: Pick<Store, 'write'>;
  private dueAt = 0;

  constructor(store: Pick<Store, 'write'>) {
    this.store = store;
  }

  /** @param now Unix ms @param days how long ended dispatches stay */
  async forget(now: number, days: number): Promise<void> {
    // A due time that is further ahead was set before the system clock moved back.
    if (now < this.dueAt && this.dueAt - now <= EVERY_MS) return;
    this.dueAt = now + EVERY_MS;
    const before = Math.round(now - Math.max(KEEP_MS, days * 24 * 3_600_000));
    while ((await this.store.write({ kind: 'forget_ticks', before, limit: SLICE })) === SLICE);
  }
}

/** A job that the scheduler watches. It resumes at its cursor in the store. */
interface Watched {
  readonly job: Job;
  readonly cron: CronTimes;
  readonly paused: boolean;
  /** See `pauseEnd`. */
  readonly ends: number | null;
  /** Unix ms of the latest handled instant, or from which the job is watched. */
  cursor: number;
  /** Unix ms of the next instant; null: there is none, or the job is paused. */
  next: number | null;
}

interface WatchInput {
  readonly states: Readonly<Record<string, JobState>>;
  /** The jobs watched so far: an unchanged schedule is not parsed again. */
  readonly before: ReadonlyMap<string, Watched>;
  readonly now: number;
}

interface WatchedJobs {
  readonly watched: ReadonlyMap<string, Watched>;
  /** Changes to store for jobs that are watched from now on. */
  readonly begun: readonly WatchJob[];
  readonly unreadable: readonly { readonly job: string; readonly error: unknown }[];
}

/** Smaller steps of the clock, in ms, are ordinary adjustments. */
const MINUTE_MS = 60_000;

/**
 * True if the system clock moved back so far that the job would not fire until the clock reaches the old time again.
 * Such a job is watched from now on; the store still has the instants that fired.
 */
const isAhead = (cursor: number, now: number): boolean => cursor - now > MINUTE_MS;

/** The stored cursor; null when the job is new, has another schedule, or the system clock moved back since. */
function leftAt(job: Job, { cursor, signature }: JobState, now: number): number | null {
  const isSame = signature === jobSignature(job) || (signature === null && job.kind === 'dynamic');
  return isSame && cursor !== null && !isAhead(cursor, now) ? cursor : null;
}

/** The first cursor of a job: the creation time for a job that no scheduler has seen yet, otherwise now. */
function beginAt(job: Job, { cursor, signature }: JobState, now: number): number {
  return signature === null && cursor === null && job.since !== null ? Math.min(job.since, now) : now;
}

/** The end of a pause, after `watch_job` has set the cursor: earlier if the system clock moved back. */
const endAfter = ({ paused_until: end, cursor: before }: JobState, cursor: number): number | null =>
  end === null ? null : end - Math.max((before ?? 0) - cursor, 0);

function isUnchanged(known: Watched | undefined, job: Job, paused: boolean, state: JobState): known is Watched {
  if (known === undefined || known.paused !== paused || known.ends !== pauseEnd(state)) return false;
  if (jobSignature(known.job) !== jobSignature(job)) return false;
  return (state.cursor ?? Number.NEGATIVE_INFINITY) <= known.cursor;
}

/** Computes the jobs to watch from now on. A job whose schedule cannot be parsed is reported and not watched. */
function watchJobs(jobs: ReadonlyMap<string, Job>, { states, before, now }: WatchInput): WatchedJobs {
  const watched = new Map<string, Watched>();
  const begun: WatchJob[] = [];
  const unreadable: { job: string; error: unknown }[] = [];
  for (const [id, job] of jobs) {
    const stored = (Object.hasOwn(states, id) ? states[id] : undefined) ?? NO_STATE;
    const left = leftAt(job, stored, now);
    const cursor = left ?? beginAt(job, stored, now);
    const state = { ...stored, paused_until: endAfter(stored, cursor) };
    const paused = isJobPaused(state, job.paused, now);
    const ends = pauseEnd(state);
    const known = before.get(id);
    if (isUnchanged(known, job, paused, state)) {
      watched.set(id, { ...known, job });
      continue;
    }
    try {
      const cron = readCron(job.schedule, job.timezone);
      if (left === null) begun.push({ kind: 'watch_job', job: id, signature: jobSignature(job), now: cursor });
      // Instants during a pause are not made up for.
      const isHeld = paused && (ends === null || ends <= now);
      const next = isHeld ? null : cron.next(Math.max(cursor, ends ?? cursor));
      watched.set(id, { job, cron, paused, ends, cursor, next });
    } catch (error) {
      unreadable.push({ job: id, error });
    }
  }
  return { watched, begun, unreadable };
}
