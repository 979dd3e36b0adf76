/**
 * Delivers stored answers: one attempt after another per delivery, several deliveries at once, lanes by target. Every
 * attempt is recorded before the next one starts, so that a restart goes on where this process was.
 */
import { setMaxListeners } from 'node:events';
import type { Dispatch } from '../../schemas/generated/types.ts';
import type { Timer } from '../clock.ts';
import type { Ref } from '../store/mutations.ts';
import { untilReady } from './backoff.ts';
import type { DispatchContext } from './context.ts';
import type { Content } from './deliver-once.ts';
import type { Attempted } from './delivery-attempt.ts';
import { deliveryStep, makeAttempt, reportAttempt } from './delivery-attempt.ts';
import type { Delivering, Delivery, Ending } from './delivery-progress.ts';
import { applyStep, ending, isOpen, startDelivering } from './delivery-progress.ts';
import type { Turn } from './fair-queue.ts';
import { FairQueue } from './fair-queue.ts';
import type { Persister } from './persist.ts';
import { Stopped } from './persist.ts';
import { Recording } from './recording.ts';
import { TextBudget } from './text-budget.ts';

export interface DeliveryLoopParts {
  readonly context: DispatchContext;
  readonly persister: Persister;
  /** The dispatch is final. */
  readonly ended: (ref: Ref) => void;
  /** An attempt has ended. */
  readonly changed: () => void;
}

interface Attempt {
  readonly whole: Delivering;
  readonly delivery: Delivery;
  /** Null: to be loaded when its turn comes. */
  readonly content: Content | null;
}

/** Attempts at once: in all, and to one target of one profile, so that a slow one does not hold up the others. */
const MAX_ATTEMPTS = 64;
const MAX_PER_TARGET = 8;

export class DeliveryLoop {
  private readonly queue = new FairQueue<Attempt>();
  private readonly budget = new TextBudget();
  private readonly waiting = new Set<Timer>();
  private readonly parts: DeliveryLoopParts;
  private readonly drain = new AbortController();
  private readonly recording: Recording;
  private closed = false;

  constructor(parts: DeliveryLoopParts) {
    this.parts = parts;
    this.recording = new Recording(parts.context.log, parts.ended);
    // Every attempt may listen for the drain.
    setMaxListeners(0, this.drain.signal);
  }

  /** Attempts that could be made now. */
  get queued(): number {
    return this.queue.queued;
  }

  /** Attempts, until they are recorded. */
  get active(): number {
    return this.queue.active + this.recording.active;
  }

  /** Deliveries that wait for their next attempt. */
  get delayed(): number {
    return this.waiting.size;
  }

  /** Delivers what the agent answered just now. */
  submit(ref: Ref, dispatch: Dispatch, text: string): void {
    this.begin(startDelivering(ref, dispatch, []), { dispatch, text });
  }

  /** Goes on with a dispatch that an earlier process has left in `delivering`. */
  resume(ref: Ref): void {
    const stored = this.parts.context.store.load(ref);
    if (stored?.state !== 'delivering') return;
    const whole = startDelivering(ref, stored.dispatch, stored.steps);
    // The process that ended may have sent something unrecorded: this is no first attempt to a target that asks.
    for (const delivery of whole.deliveries) delivery.first_attempt_at ??= stored.answered_at ?? stored.accepted_at;
    this.begin(whole, null);
  }

  /** Starts nothing more and cuts off what is under way; it goes on after the next start. */
  close(): void {
    this.closed = true;
    for (const timer of this.waiting) timer.cancel();
    this.drain.abort();
  }

  private begin(whole: Delivering, content: Content | null): void {
    const now = this.parts.context.clock.now();
    const open = whole.deliveries.filter(isOpen);
    if (open.length === 0) void this.finishEmpty(whole, content);
    for (const delivery of open) {
      this.enqueue({ whole, delivery, content }, delivery.next_at === null ? 0 : untilReady(delivery.next_at, now));
    }
  }

  private enqueue(attempt: Attempt, delayMs: number): void {
    if (this.closed) return;
    if (delayMs > 0) {
      const timer = this.parts.context.clock.after(delayMs, () => {
        this.waiting.delete(timer);
        this.enqueue({ ...attempt, content: null }, 0);
      });
      this.waiting.add(timer);
      return;
    }
    const { whole, delivery } = attempt;
    const kept = attempt.content !== null && this.budget.keep(sizeOf(attempt.content));
    const content = kept ? attempt.content : null;
    this.queue.push(`${whole.profile}/${delivery.target}`, { whole, delivery, content }, MAX_PER_TARGET);
    this.pump();
  }

  private pump(): void {
    while (!this.closed && !this.recording.isFull && this.queue.active < MAX_ATTEMPTS) {
      const turn = this.queue.take();
      if (turn === null) return;
      void this.turn(turn);
    }
  }

  private async turn({ lane, item }: Turn<Attempt>): Promise<void> {
    const { recording } = this;
    const { ref } = item.whole;
    let made: CountedAttempt | null = null;
    try {
      made = await this.attempt(item);
    } catch (error) {
      recording.failed(ref, error, 'a delivery failed for a fault of this program');
    }
    this.queue.release(lane);
    recording.begin();
    this.pump();
    try {
      if (made !== null) await this.record(made);
    } catch (error) {
      recording.failed(ref, error, 'a delivery could not be recorded');
    }
    recording.end();
    this.pump();
    this.parts.changed();
  }

  /** Null: there is nothing to record. */
  private async attempt(attempt: Attempt): Promise<CountedAttempt | null> {
    const { context } = this.parts;
    const { whole, delivery } = attempt;
    if (attempt.content !== null) this.budget.free(sizeOf(attempt.content));
    const content = attempt.content ?? this.load(whole.ref);
    if (content === null) return null;
    const made = await makeAttempt(context, content, delivery, this.drain.signal);
    if (made.kind === 'attempted') return { whole, delivery, content, attempted: made };
    if (made.kind === 'paced') this.enqueue(attempt, made.wait_ms);
    return null;
  }

  private async record(made: CountedAttempt): Promise<void> {
    const { context, persister } = this.parts;
    const { whole, delivery, content, attempted } = made;
    const at = context.clock.now();
    const step = deliveryStep(delivery, attempted, at);
    applyStep(delivery, step);
    const end = ending(whole);
    const reason = end === null ? step.reason : end.reason;
    const change = { kind: 'advance', ref: whole.ref, to: end?.state ?? 'delivering', at, steps: [step] } as const;
    await persister.write(reason === null ? change : { ...change, reason });
    context.observer?.reached?.('delivery.marked');
    reportAttempt(context, content.dispatch, delivery, attempted);
    if (attempted.verdict.kind === 'again') {
      this.enqueue({ whole, delivery, content: null }, attempted.verdict.wait_ms);
    }
    if (end !== null) this.end(whole, content.dispatch, end);
  }

  /** A dispatch that names no delivery, or whose last attempt was recorded without its end. */
  private async finishEmpty(whole: Delivering, content: Content | null): Promise<void> {
    const end = ending(whole) ?? { state: 'done', reason: null };
    const at = this.parts.context.clock.now();
    const change = { kind: 'advance', ref: whole.ref, to: end.state, at } as const;
    try {
      await this.parts.persister.write(end.reason === null ? change : { ...change, reason: end.reason });
    } catch (error) {
      if (error instanceof Stopped) return;
      throw error;
    }
    const dispatch = content?.dispatch ?? this.load(whole.ref)?.dispatch;
    if (dispatch !== undefined) this.end(whole, dispatch, end);
  }

  private end({ ref }: Delivering, dispatch: Dispatch, { state, reason }: Ending): void {
    this.parts.context.observer?.finished?.(dispatch, state, reason);
    this.parts.ended(ref);
  }

  private load(ref: Ref): Content | null {
    const stored = this.parts.context.store.load(ref);
    return stored === null ? null : { dispatch: stored.dispatch, text: stored.answer ?? stored.dispatch.prompt };
  }
}

const sizeOf = ({ dispatch, text }: Content): number => dispatch.prompt.length + text.length;

interface CountedAttempt extends Attempt {
  readonly content: Content;
  readonly attempted: Attempted;
}
