/**
 * Runs agents for stored dispatches: so many at once, lanes by route. An answer is stored before anything is delivered,
 * so that no crash makes an agent run twice for an answer we had.
 */
import type { Dispatch } from '../../schemas/generated/types.ts';
import type { Timer } from '../clock.ts';
import type { Ref, Step } from '../store/mutations.ts';
import { retryWait } from './backoff.ts';
import type { DispatchContext } from './context.ts';
import type { Turn } from './fair-queue.ts';
import { FairQueue } from './fair-queue.ts';
import { deliverNow, isImmediate, reportDelivered } from './immediate-delivery.ts';
import { logFields } from './log-fields.ts';
import type { Persister } from './persist.ts';
import { Recording } from './recording.ts';
import type { RunOutcome } from './run-agent.ts';
import { runAgent } from './run-agent.ts';
import { RunCut } from './run-cut.ts';
import { RunMarks } from './run-marks.ts';
import { TextBudget } from './text-budget.ts';

/** A stored dispatch that waits for its run. */
export interface RunnableDispatch {
  readonly ref: Ref;
  readonly profile: string;
  readonly route: string | null;
  readonly max_concurrent: number | null;
  /** Null: to be loaded when its turn comes. */
  readonly dispatch: Dispatch | null;
}

export interface RunLoopParts {
  readonly context: DispatchContext;
  readonly persister: Persister;
  /** Takes over once the answer is stored. */
  readonly deliver: (ref: Ref, dispatch: Dispatch, text: string) => void;
  /** The same for deliveries of which the first attempt is stored with the answer. */
  readonly resume: (ref: Ref) => void;
  /** The dispatch is final. */
  readonly ended: (ref: Ref) => void;
  /** A run has ended. */
  readonly changed: () => void;
}

interface Job {
  readonly ref: Ref;
  readonly dispatch: Dispatch | null;
}

export class RunLoop {
  private readonly queue = new FairQueue<Job>();
  private readonly budget = new TextBudget();
  private readonly retries = new Set<Timer>();
  private readonly parts: RunLoopParts;
  private readonly running = new Set<RunCut>();
  private readonly recording: Recording;
  private readonly marks: RunMarks;
  private closed = false;
  /** A pump is due. */
  private soon = false;

  constructor(parts: RunLoopParts) {
    this.parts = parts;
    this.marks = new RunMarks(parts.context);
    this.recording = new Recording(parts.context.log, parts.ended);
  }

  get queued(): number {
    return this.queue.queued;
  }

  /** Failed runs that wait for their next try. */
  get delayed(): number {
    return this.retries.size;
  }

  /** Runs, until their end is recorded. */
  get active(): number {
    return this.queue.active + this.recording.active;
  }

  /** Queues a run, to start in `delayMs` at the earliest. */
  submit(work: RunnableDispatch, delayMs = 0): void {
    if (delayMs > 0) {
      const timer = this.parts.context.clock.after(delayMs, () => {
        this.retries.delete(timer);
        this.submit(work);
      });
      this.retries.add(timer);
      return;
    }
    const kept = work.dispatch !== null && this.budget.keep(work.dispatch.prompt.length);
    const dispatch = kept ? work.dispatch : null;
    const lane = `${work.profile}/${work.route ?? ''}`;
    this.queue.push(lane, { ref: work.ref, dispatch }, work.max_concurrent ?? Number.POSITIVE_INFINITY);
    this.pumpSoon();
  }

  /** In the next turn: the answers of this one leave at its end, and starting a program takes longer than all of them. */
  private pumpSoon(): void {
    if (this.soon) return;
    this.soon = true;
    setImmediate(() => setImmediate(this.onSoon));
  }

  private readonly onSoon = (): void => {
    this.soon = false;
    this.pump();
  };

  /** Starts what may start; also after the limits have changed. */
  pump(): void {
    const most = this.parts.context.limits().max_concurrent_runs;
    while (!this.closed && !this.recording.isFull && this.queue.active < most) {
      const turn = this.queue.take();
      if (turn === null) return;
      void this.turn(turn);
    }
  }

  /** Starts nothing more and cuts off what runs; those go on after the next start. */
  close(): void {
    this.closed = true;
    this.marks.close();
    for (const timer of this.retries) timer.cancel();
    for (const cut of this.running) cut.cut('drain');
  }

  private async turn({ lane, item }: Turn<Job>): Promise<void> {
    const { recording } = this;
    let run: FinishedRun | null = null;
    try {
      run = await this.run(item);
    } catch (error) {
      recording.failed(item.ref, error, 'a run failed for a fault of this program');
    }
    this.queue.release(lane);
    recording.begin();
    this.pump();
    try {
      if (run !== null) await this.record(run);
    } catch (error) {
      recording.failed(item.ref, error, 'a run could not be recorded');
    }
    recording.end();
    this.pump();
    this.parts.changed();
  }

  /** Null: there is nothing to run. */
  private async run({ ref, dispatch: kept }: Job): Promise<FinishedRun | null> {
    const { context } = this.parts;
    if (kept !== null) this.budget.free(kept.prompt.length);
    const dispatch = kept ?? (await this.load(ref));
    if (dispatch === null) return null;
    context.observer?.reached?.('run.begin');
    const startedAt = context.clock.now();
    const started = context.clock.monotonic();
    this.marks.began(ref, startedAt);
    const agent = context.agents(dispatch.profile);
    const cut = new RunCut();
    this.running.add(cut);
    const outcome: RunOutcome =
      agent === null
        ? { kind: 'failed', reason: `profile "${dispatch.profile}" has no agent` }
        : await runAgent(agent, dispatch, cut, context.clock);
    this.running.delete(cut);
    this.marks.ended(ref);
    context.observer?.reached?.('run.answered');
    const ms = Math.round(context.clock.monotonic() - started);
    const ended = outcome.kind === 'failed' || outcome.kind === 'interrupted' ? outcome.kind : 'ok';
    context.observer?.runEnded?.(dispatch, ended, ms);
    return { ref, dispatch, startedAt, ms, maxAttempts: agent?.max_attempts ?? 1, outcome };
  }

  private async load(ref: Ref): Promise<Dispatch | null> {
    const { store } = this.parts.context;
    const stored = store.load(ref);
    if (stored !== null) return stored.dispatch;
    await store.settle();
    return store.load(ref)?.dispatch ?? null;
  }

  private async record(run: FinishedRun): Promise<void> {
    const { context, persister, deliver } = this.parts;
    const { outcome } = run;
    const at = context.clock.now();
    if (outcome.kind === 'failed') return this.fail(run, outcome.reason, at);
    if (outcome.kind === 'interrupted') {
      const steps = [step(run, 'interrupted', 'stopped while running', at, null)];
      await persister.write({ kind: 'advance', ref: run.ref, to: 'pending', at, started_at: run.startedAt, steps });
      return;
    }
    const { text } = outcome;
    const { ref, startedAt: started_at } = run;
    if (outcome.kind === 'silent') {
      const { reason } = outcome;
      await persister.write({ kind: 'advance', ref, to: 'skipped', at, started_at, answer: text, reason });
      this.end(run, 'skipped', reason);
      return;
    }
    if (isImmediate(context, run.dispatch)) return this.deliverNow(run, text);
    await persister.write({ kind: 'advance', ref, to: 'delivering', at, started_at, answer: text });
    context.observer?.reached?.('run.stored');
    deliver(run.ref, run.dispatch, text);
  }

  private async deliverNow({ ref, dispatch, startedAt: started_at }: FinishedRun, answer: string): Promise<void> {
    const { context, persister, resume, ended } = this.parts;
    const delivered = await deliverNow(context, ref, dispatch, answer);
    const { end, steps } = delivered;
    const at = context.clock.now();
    const change = { kind: 'advance', ref, to: end?.state ?? 'delivering', at, started_at, answer, steps } as const;
    const reason = end?.reason ?? null;
    await persister.write(reason === null ? change : { ...change, reason });
    context.observer?.reached?.('delivery.marked');
    reportDelivered(context, dispatch, delivered);
    if (end === null) return resume(ref);
    context.observer?.finished?.(dispatch, end.state, reason);
    ended(ref);
  }

  private async fail(run: FinishedRun, reason: string, at: number): Promise<void> {
    const { context, persister } = this.parts;
    const { ref, dispatch, startedAt: started_at } = run;
    const failedBefore = run.maxAttempts === 1 ? 0 : countFailed(context.store.load(ref)?.steps ?? []);
    const attempt = failedBefore + 1;
    if (attempt >= run.maxAttempts) {
      const steps = [step(run, 'failed', reason, at, null)];
      await persister.write({
        kind: 'advance',
        ref,
        to: 'dead',
        at,
        started_at,
        reason: `run failed: ${reason}`,
        steps,
      });
      this.end(run, 'dead', `run failed: ${reason}`);
      return;
    }
    const wait = retryWait(attempt, null, context.random());
    const steps = [step(run, 'failed', reason, at, at + wait)];
    await persister.write({
      kind: 'advance',
      ref,
      to: 'pending',
      at,
      started_at,
      reason: `run failed: ${reason}`,
      ready_at: at + wait,
      steps,
    });
    context.log.warn({ ...logFields(dispatch), reason, attempt, retry_in_ms: wait }, 'run failed, trying again');
    context.observer?.retryScheduled?.('run');
    const stored = context.store.openOne(ref);
    if (stored !== null && !this.closed) this.submit({ ...stored, dispatch: null }, wait);
  }

  private end({ ref, dispatch, ms }: FinishedRun, state: 'dead' | 'skipped', reason: string): void {
    const { context, ended } = this.parts;
    const fields = { ...logFields(dispatch), outcome: state, reason, ms };
    if (state === 'dead') context.log.error(fields, 'given up');
    else context.log.info(fields, 'nothing to deliver');
    context.observer?.finished?.(dispatch, state, reason);
    ended(ref);
  }
}

interface FinishedRun {
  readonly ref: Ref;
  readonly dispatch: Dispatch;
  readonly startedAt: number;
  readonly ms: number;
  readonly maxAttempts: number;
  readonly outcome: RunOutcome;
}

function step(run: FinishedRun, outcome: Step['outcome'], reason: string, at: number, next: number | null): Step {
  const { startedAt } = run;
  return {
    kind: 'run',
    index: null,
    outcome,
    started_at: startedAt,
    at,
    reason,
    next_at: next,
    sent: 0,
    message_id: null,
  };
}

const countFailed = (steps: readonly Step[]): number =>
  steps.filter(({ kind, outcome }) => kind === 'run' && outcome === 'failed').length;
