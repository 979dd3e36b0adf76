/**
 * Runs agents for the dispatches that were taken. An answer is stored before anything is delivered, so that no crash makes
 * an agent run twice for an answer we had.
 */
import type { Dispatch } from '../../schemas/generated/types.ts';
import { endDelivering } from '../store/delivery-ending.ts';
import type { Advance, Holder, TakenRun } from '../store/mutations.ts';
import type { Contents } from './contents.ts';
import type { DispatchContext } from './context.ts';
import type { FinishedRun, RunChange } from './finished-run.ts';
import { changeAfter, reportRun } from './finished-run.ts';
import { deliverNow, isImmediate, reportDelivered } from './immediate-delivery.ts';
import type { Persister } from './persist.ts';
import { Stopped } from './persist.ts';
import { runAgent } from './run-agent.ts';
import { RunCancellation } from './run-cancellation.ts';

export interface WorkerParts {
  readonly context: DispatchContext;
  readonly holder: Holder;
  readonly persister: Persister;
  readonly contents: Contents;
  /** Something has ended or was stored: there may be more to do. */
  readonly changed: () => void;
}

/**
 * Most ends of runs that are being stored at once. They keep no place of runs that could start, but when the store cannot
 * keep up, or cannot write at all, nothing more is started: so much a crash can repeat.
 */
const MAX_RECORDS = 256;
/** When a run is tried again whose dispatch could not be read, in ms. */
const UNREAD_MS = 5000;

export class RunWorker {
  private readonly parts: WorkerParts;
  private readonly cancellations = new Set<RunCancellation>();
  private running = 0;
  private recording = 0;
  private closed = false;

  constructor(parts: WorkerParts) {
    this.parts = parts;
  }

  /** Runs that may be started now. */
  get room(): number {
    if (this.closed || this.recording >= MAX_RECORDS) return 0;
    return Math.max(0, this.parts.context.limits().max_concurrent_runs - this.running);
  }

  /** Runs, until their end is stored. */
  get active(): number {
    return this.running + this.recording;
  }

  /** Cancels what runs; it goes on after the next start. */
  close(): void {
    this.closed = true;
    for (const cancellation of this.cancellations) cancellation.cancel('drain');
  }

  /** Gives a run back that was taken and is not to begin. */
  async putBack({ ref }: TakenRun, due_at?: number): Promise<void> {
    const at = this.parts.context.clock.now();
    await this.advance(ref, { to: 'pending', at, due_at: due_at ?? at });
  }

  async start(taken: TakenRun): Promise<void> {
    const { context, changed } = this.parts;
    this.running++;
    let run: FinishedRun | null = null;
    let fault: unknown = null;
    try {
      await answersHaveLeft();
      run = this.closed ? null : await this.run(taken);
    } catch (error) {
      fault = error;
    }
    this.running--;
    this.recording++;
    try {
      const recorded = run === null ? this.failToRun(taken, fault) : this.record(run);
      // Before it is stored, so that what is taken next shares its commit.
      changed();
      await recorded;
    } catch (error) {
      if (!(error instanceof Stopped)) context.log.error({ err: error, ref: taken.ref }, 'a run could not be recorded');
    }
    this.recording--;
    changed();
  }

  /** @throws when its dispatch cannot be read */
  private async run(taken: TakenRun): Promise<FinishedRun> {
    const { context, contents } = this.parts;
    const dispatch = await contents.forRun(taken.ref);
    if (dispatch === null) throw new Error(`there is no dispatch ${taken.ref}`);
    const { clock, observer } = context;
    observer?.reached?.('run.begin');
    const startedAt = clock.now();
    const agent = context.agents(dispatch.profile);
    const shared = { taken, dispatch, startedAt, maxAttempts: agent?.max_attempts ?? 1 };
    const reasons = refusals(context, dispatch);
    if (reasons !== null) return { ...shared, ms: 0, outcome: { kind: 'undeliverable', reasons } };
    if (agent === null) {
      return { ...shared, ms: 0, outcome: { kind: 'failed', reason: `profile "${dispatch.profile}" has no agent` } };
    }
    const started = clock.monotonic();
    const cancellation = new RunCancellation();
    this.cancellations.add(cancellation);
    const outcome = await runAgent(agent, dispatch, cancellation, clock);
    this.cancellations.delete(cancellation);
    observer?.reached?.('run.answered');
    const ms = Math.round(clock.monotonic() - started);
    const ended = outcome.kind === 'failed' || outcome.kind === 'interrupted' ? outcome.kind : 'ok';
    observer?.runEnded?.(dispatch, ended, ms);
    return { ...shared, ms, outcome };
  }

  private async record(run: FinishedRun): Promise<void> {
    const { context, contents } = this.parts;
    const { outcome, dispatch, taken } = run;
    if (outcome.kind === 'answered' && isImmediate(context, dispatch)) return this.deliverNow(run, outcome.text);
    const change = changeAfter(run, context.clock.now(), context.random());
    if (outcome.kind === 'answered') contents.keep(taken.ref, dispatch, outcome.text);
    if (!(await this.advance(taken.ref, change))) return;
    if (outcome.kind === 'answered') context.observer?.reached?.('run.stored');
    reportRun(context, run, change);
  }

  private async deliverNow({ taken, dispatch, startedAt: started_at }: FinishedRun, answer: string): Promise<void> {
    const { context } = this.parts;
    const delivered = await deliverNow(context, dispatch, answer);
    const { open, steps } = delivered;
    const at = context.clock.now();
    const end = open.length > 0 ? null : endDelivering(dispatch.deliveries, steps);
    const reason = end === null ? (steps.at(-1)?.reason ?? null) : end.reason;
    const change: RunChange = { to: end?.state ?? 'delivering', at, started_at, answer, steps, open };
    if (!(await this.advance(taken.ref, reason === null ? change : { ...change, reason }))) return;
    context.observer?.reached?.('delivery.marked');
    reportDelivered(context, dispatch, delivered);
    if (end !== null) context.observer?.finished?.(dispatch, end.state, end.reason);
  }

  private async failToRun(taken: TakenRun, error: unknown): Promise<void> {
    const { log, clock } = this.parts.context;
    if (error === null) return this.putBack(taken);
    log.error({ err: error, ref: taken.ref }, 'a run could not be started, trying again');
    await this.putBack(taken, clock.now() + UNREAD_MS);
  }

  /** False: another process has it by now. */
  private async advance(ref: Advance['ref'], change: RunChange): Promise<boolean> {
    const { persister, holder, context } = this.parts;
    const stored = await persister.writeOr<Advance>({ kind: 'advance', ref, holder, ...change }, () => {
      const reason = 'what came of the run cannot be stored';
      return { kind: 'advance', ref, holder, to: 'dead', at: context.clock.now(), reason };
    });
    if (!stored) context.log.warn({ ref }, 'the run was not held any more');
    return stored;
  }
}

/** The answers of this turn of the event loop leave at its end: starting a program takes longer than all of them. */
function answersHaveLeft(): Promise<void> {
  return new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
}

/** Why each delivery would fail whatever the agent said; null when one could succeed. */
function refusals({ deliverer }: DispatchContext, { profile, deliveries }: Dispatch): readonly string[] | null {
  const reasons: string[] = [];
  for (const delivery of deliveries) {
    const reason = deliverer.refusal(profile, delivery);
    if (reason === null) return null;
    reasons.push(reason);
  }
  return reasons.length === 0 ? null : reasons;
}
