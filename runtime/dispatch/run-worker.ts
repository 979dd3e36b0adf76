/**
 * Runs agents for the dispatches that were taken from the store. An answer is stored before it is delivered, so that a
 * crash does not repeat a run that has answered.
 */
import type { Dispatch } from '../../schemas/generated/types.ts';
import type { Advance, BeginRun, OpenDelivery, TakenRun } from '../store/contract.ts';
import { StoreDamaged } from '../store/decode.ts';
import type { SaidTurn } from '../store/queries.ts';
import type { Ref } from '../store/records.ts';
import { turnKey } from '../store/records.ts';
import type { OverLimit } from '../store/run-limits.ts';
import type { Step } from '../store/states.ts';
import { endDelivering, isFinal } from '../store/states.ts';
import { isMessage } from '../store/timeline.ts';
import type { DispatchContext, Handover, ProfileAgent } from './context.ts';
import type { Attempted } from './delivery-attempt.ts';
import { deliveryStep, makeAttempt, progressOf, reportAttempt } from './delivery-attempt.ts';
import { logFields } from './dispatcher.ts';
import type { FinishedRun, RunChange } from './finished-run.ts';
import { changeAfter, openOf, programOf, reportBlocked, reportedUsage, reportRun } from './finished-run.ts';
import { dispatchChange, Stopped } from './persist.ts';
import type { AbortReason } from './run-agent.ts';
import { runAgent } from './run-agent.ts';
import type { Worker, WorkerParts } from './worker.ts';
import { failDamaged } from './worker.ts';

/**
 * Maximum number of finished runs that wait to be stored. They do not count as running, but at this limit no run is
 * started. This bounds how many runs a crash can repeat when the store is slow or cannot write.
 */
const MAX_RECORDS = 256;
/** Wait before a run whose dispatch could not be read is retried, in ms. */
const UNREAD_MS = 5000;
/** How often a run checks whether an event of another gateway replaces it, in ms. */
const REPLACED_MS = 2000;

export class RunWorker implements Worker<TakenRun> {
  private readonly parts: WorkerParts;
  private readonly controllers = new Map<Ref, AbortController>();
  readonly underWay = new Set<TakenRun>();
  private running = 0;
  private isClosed = false;

  constructor(parts: WorkerParts) {
    this.parts = parts;
  }

  get room(): number {
    if (this.isClosed || this.underWay.size - this.running >= MAX_RECORDS) return 0;
    return Math.max(0, this.parts.context.limits().max_concurrent_runs - this.running);
  }

  /** Cancels the running runs; they resume after the next start. */
  close(): void {
    this.isClosed = true;
    const reason: AbortReason = 'drain';
    for (const controller of this.controllers.values()) controller.abort(reason);
  }

  /** Ends runs whose dispatches have ended because newer events replace them. */
  replace(refs: readonly Ref[]): void {
    for (const ref of refs) this.controllers.get(ref)?.abort('superseded' satisfies AbortReason);
  }

  async putBack({ ref }: TakenRun, delayMs = 0): Promise<void> {
    const at = this.parts.context.clock.now();
    await this.advance(ref, { to: 'pending', at, due_at: at + delayMs });
  }

  async start(taken: TakenRun): Promise<void> {
    const { context, changed } = this.parts;
    const { ref } = taken;
    this.underWay.add(taken);
    this.running++;
    await answersHaveLeft();
    const run = this.isClosed ? null : await this.run(taken).catch((error: unknown) => this.unread(taken, error));
    this.running--;
    const recorded =
      run instanceof StoreDamaged
        ? failDamaged(this.parts, ref, run.message)
        : run === 'left'
          ? Promise.resolve()
          : run === null
            ? this.putBack(taken, this.isClosed ? 0 : UNREAD_MS)
            : this.record(run);
    await recorded.catch((error: unknown) => {
      if (!(error instanceof Stopped)) context.log.error({ err: error, ref }, 'could not record a run');
    });
    this.underWay.delete(taken);
    changed();
  }

  private unread({ ref }: TakenRun, error: unknown): StoreDamaged | null {
    if (error instanceof StoreDamaged) return error;
    this.parts.context.log.error({ err: error, ref }, 'could not start a run; will retry');
    return null;
  }

  /** Returns whether its limits and its job let the run begin; otherwise the run has ended. */
  private async begin({ ref }: TakenRun, dispatch: Dispatch): Promise<boolean> {
    const { context, persister, holder } = this.parts;
    const at = context.clock.now();
    const limits = context.limiter?.metered(dispatch, at) ?? [];
    const job = firedJob(context, dispatch);
    if (limits.length === 0 && job === null) return true;
    const result = await persister.write({ kind: 'begin_run', ref, holder, limits, job, at });
    if (result.kind === 'begun' || result.kind === 'gone') return result.kind === 'begun';
    const reason = 'reason' in result ? result.reason : result.kind;
    if (result.kind === 'over_limit') reportOver(context, dispatch, result);
    else context.log.info({ ...logFields(dispatch), reason }, 'skipped a run: its job is running or paused');
    context.observer?.finished?.(dispatch, 'skipped', reason, null);
    return false;
  }

  /** Rejects when the dispatch cannot be read. */
  private async run(taken: TakenRun): Promise<FinishedRun | 'left'> {
    const { context, contents } = this.parts;
    const stored = await contents.forRun(taken.ref);
    if (stored === null) throw new Error('the dispatch does not exist');
    const dispatch = context.asked?.(stored) ?? stored;
    if (isMessage(dispatch)) return this.release(taken, dispatch, stored);
    const { clock, observer } = context;
    observer?.reached?.('run.begin');
    const startedAt = clock.now();
    const { profile, agent: name = null } = dispatch;
    const agent = context.agents(profile, name);
    const run = {
      taken,
      dispatch,
      stored,
      startedAt,
      ms: 0,
      program: null,
      usage: null,
      outputs: null,
      maxAttempts: agent?.max_attempts ?? 1,
    };
    const reasons = refusals(context, dispatch);
    if (reasons !== null) return { ...run, outcome: { kind: 'undeliverable', reasons } };
    const wait = (reason: string): FinishedRun => {
      const { max_attempts: maxAttempts } = context.policy(dispatch.profile, dispatch.deliveries[0]?.target ?? '');
      return { ...run, maxAttempts, outcome: { kind: 'failed', reason } };
    };
    // A later table may have removed the agent or the targets; another table may restore them.
    if (agent === null) return wait(`profile "${profile}" has no agent${name === null ? '' : ` "${name}"`}`);
    if (hasNoTarget(context, dispatch)) return wait('no target of this event is enabled');
    const said = await saidBefore(context, agent, dispatch);
    if (!(await this.begin(taken, dispatch))) return 'left';
    observer?.moved?.(dispatch);
    const handover = await openHandover(context, dispatch);
    const started = clock.monotonic();
    const controller = new AbortController();
    this.controllers.set(taken.ref, controller);
    if (dispatch.on_newer === 'cancel') void this.watchNewer(taken.ref);
    const result = await runAgent(agent, dispatch, controller, clock, { handover, said });
    const { outcome, usage } = result;
    this.controllers.delete(taken.ref);
    observer?.reached?.('run.answered');
    const ms = Math.round(clock.monotonic() - started);
    const ended = outcome.kind === 'failed' || outcome.kind === 'interrupted' ? outcome.kind : 'ok';
    if (outcome.kind !== 'postponed') observer?.runEnded?.(dispatch, ended, ms);
    if (usage !== null) observer?.used?.(dispatch, usage);
    if (controller.signal.reason === ('superseded' satisfies AbortReason)) {
      context.log.info({ ...logFields(dispatch), ms }, 'cancelled the run: a newer event of its session replaces it');
      return 'left';
    }
    return { ...run, ms, ...result };
  }

  /** Ends the run when an event has replaced it that another gateway accepted, or this one just before the run began. */
  private async watchNewer(ref: Ref): Promise<void> {
    const { store, clock } = this.parts.context;
    while (this.controllers.has(ref)) {
      const stored = await store.read({ kind: 'load', ref }).catch(() => null);
      if (stored !== null && isFinal(stored.state)) return this.replace([ref]);
      await new Promise<void>((resolve) => clock.after(REPLACED_MS, resolve));
    }
  }

  /** Releases a message that its paused route has held: its deliveries become due. */
  private async release({ ref }: TakenRun, dispatch: Dispatch, stored: Dispatch): Promise<'left'> {
    const at = this.parts.context.clock.now();
    const open = openOf(dispatch.deliveries, at);
    this.parts.contents.keep(ref, dispatch, null);
    if (await this.advance(ref, { to: 'delivering', at, open, ...dispatchChange(stored, dispatch) }))
      reportBlocked(this.parts.context, open);
    return 'left';
  }

  private async record(run: FinishedRun): Promise<void> {
    const { context, contents } = this.parts;
    const { outcome, dispatch, taken } = run;
    if (outcome.kind === 'answered' && run.outputs === null && isImmediate(context, dispatch))
      return this.deliverNow(run, outcome.text);
    const at = context.clock.now();
    const limits = context.limiter?.metered(dispatch, at) ?? [];
    const change: RunChange = { ...changeAfter(run, at, context), limits };
    if (outcome.kind === 'answered') contents.keep(taken.ref, change.dispatch ?? dispatch, outcome.text);
    if (!(await this.advance(taken.ref, change))) return;
    context.observer?.reached?.('run.stored');
    context.observer?.moved?.(dispatch);
    reportBlocked(context, change.open);
    reportRun(context, run, change);
  }

  private async deliverNow(
    { taken, dispatch, program, usage, startedAt: started_at }: FinishedRun,
    answer: string,
  ): Promise<void> {
    const { context } = this.parts;
    const { open, steps, made: attempts } = await deliverNow(context, dispatch, answer);
    const end = open.length > 0 ? null : endDelivering(dispatch.deliveries, steps);
    const reason = end === null ? (steps.at(-1)?.reason ?? null) : end.reason;
    const at = context.clock.now();
    const change: RunChange = {
      to: end?.state ?? 'delivering',
      at,
      started_at,
      answer,
      ...programOf(program),
      ...reportedUsage({ usage, dispatch }),
      steps,
      open,
      limits: context.limiter?.metered(dispatch, at) ?? [],
    };
    if (!(await this.advance(taken.ref, reason === null ? change : { ...change, reason }))) return;
    context.observer?.reached?.('delivery.marked');
    for (const attempt of attempts) reportAttempt(context, dispatch, 1, attempt);
    if (end !== null) context.observer?.finished?.(dispatch, end.state, end.reason, answer);
  }

  /** Returns false when another process holds the run now. */
  private async advance(ref: Advance['ref'], change: RunChange): Promise<boolean> {
    const { persister, holder, context, changed } = this.parts;
    const of = { kind: 'advance', ref, holder } as const;
    const writing = persister.writeOr<Advance>({ ...of, ...change }, () => {
      return { ...of, to: 'dead', at: context.clock.now(), reason: 'could not store the outcome of the run' };
    });
    // Called before it is stored, so that the next `take_work` shares the commit, and takes the next turn of its session.
    changed();
    const stored = await writing;
    if (stored === 'superseded') context.log.info({ ref }, 'skipped a run: a newer event of its session replaces it');
    else if (!stored) context.log.warn({ ref }, 'lost the lease of the run; its outcome was not stored');
    return stored === true;
  }
}

/** The job that the dispatch fires as the event of a route; null for scheduled and manual runs, which are not held. */
const firedJob = ({ jobs }: DispatchContext, { job, route }: Dispatch): BeginRun['job'] =>
  job === null || route === null ? null : { id: job, paused: jobs?.isPaused(job) ?? false };

/** Waits until this turn's HTTP responses have been written, because starting a program blocks for longer than they take. */
const answersHaveLeft = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

/**
 * The turns of the session that the agent gets; none if it stores them itself. Rejects when the store cannot be read.
 */
async function saidBefore(
  { store }: DispatchContext,
  { history }: ProfileAgent,
  dispatch: Dispatch,
): Promise<readonly SaidTurn[]> {
  if (history === undefined || turnKey(dispatch) === null) return [];
  return store.read({ kind: 'said', of: dispatch, ...history });
}

/** Null if the dispatch may not have outputs. */
async function openHandover(
  { outputs: load, redact }: DispatchContext,
  { outputs }: Dispatch,
): Promise<Handover | null> {
  if (outputs === undefined) return null;
  if (load === undefined) throw new Error('outputs need the outputs module, which is not installed');
  return (await load())(outputs, redact ?? ((text) => text));
}

function hasNoTarget({ deliverer }: DispatchContext, { profile, deliveries }: Dispatch): boolean {
  return deliveries.length > 0 && !deliveries.some(({ target }) => deliverer.isEnabled(profile, target));
}

/** Why each delivery would fail for any answer; null when one of them could succeed. */
function refusals({ deliverer }: DispatchContext, { profile, deliveries }: Dispatch): readonly string[] | null {
  const reasons = deliveries
    .map((delivery) => deliverer.refusal(profile, delivery))
    .filter((reason) => reason !== null);
  return reasons.length > 0 && reasons.length === deliveries.length ? reasons : null;
}

/**
 * Deliveries that stay within this process (the `log` and `local` targets) are made immediately after the agent has
 * answered. One change stores the answer and the deliveries, which saves a second one. A crash before that change
 * repeats the run, like any crash before the answer is stored.
 */
interface DeliveredNow {
  readonly steps: readonly Step[];
  /** Deliveries that need another attempt. */
  readonly open: readonly OpenDelivery[];
  /** Attempts to report once they are stored. */
  readonly made: readonly Attempted[];
}

/** These deliveries are too short to be cancelled. */
const NEVER = new AbortController().signal;

/** True if all deliveries of a dispatch stay within this process, need no approval, and cannot be dropped by a newer event. */
function isImmediate({ deliverer }: DispatchContext, { profile, deliveries, on_newer }: Dispatch): boolean {
  if (on_newer === 'cancel') return false;
  return deliveries.every(
    ({ target, approve_ms }) => approve_ms === undefined && deliverer.isImmediate(profile, target),
  );
}

/** Makes the first attempt of each delivery. */
async function deliverNow(context: DispatchContext, dispatch: Dispatch, text: string): Promise<DeliveredNow> {
  const steps: Step[] = [];
  const open: OpenDelivery[] = [];
  const attempts: Attempted[] = [];
  for (const [index, { target }] of dispatch.deliveries.entries()) {
    const attempt = await makeAttempt(context, { dispatch, text }, progressOf(index, []), NEVER);
    const now = context.clock.now();
    // Only a target that has replaced this one in a swap can retry or be paced; it is handled like any other.
    if (attempt.kind === 'attempted') {
      const step = deliveryStep(index, attempt, now);
      steps.push(step);
      attempts.push(attempt);
      if (step.next_at !== null) open.push({ index, target, due_at: step.next_at });
    } else {
      open.push({ index, target, due_at: now + (attempt.kind === 'paced' ? attempt.wait_ms : 0) });
    }
  }
  return { steps, open, made: attempts };
}

/** Logs once for each window that a budget is exhausted. */
export function reportOver(
  { log, observer }: Pick<DispatchContext, 'log' | 'observer'>,
  dispatch: Dispatch,
  over: OverLimit,
): void {
  if (over.first) {
    const until = over.until === null ? null : new Date(over.until).toISOString();
    const fields = { ...logFields(dispatch), budget: over.limit.key, until };
    log.warn(fields, 'budget exhausted: events do not run until it resets');
  }
  observer?.overLimit?.(dispatch, over);
}
