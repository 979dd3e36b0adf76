/**
 * Makes the delivery attempts that were taken from the store, several at once. The result of each is stored before the
 * delivery can be taken again, so that a restart resumes where this process stopped.
 */
import { setMaxListeners } from 'node:events';
import { targetLabel } from '../../base/text.ts';
import type { Dispatch } from '../../schemas/generated/types.ts';
import type { MutationResults, RecordAttempt, TakenAttempt } from '../store/contract.ts';
import { StoreDamaged } from '../store/decode.ts';
import type { Step } from '../store/states.ts';
import { isMessage, keyOfMessage } from '../store/timeline.ts';
import { loadDelivery } from './asked-approvals.ts';
import type { DeliverableContent } from './contents.ts';
import type { Attempted } from './delivery-attempt.ts';
import { deliveryStep, makeAttempt, reportAttempt } from './delivery-attempt.ts';
import { logFields } from './dispatcher.ts';
import { Stopped } from './persist.ts';
import type { Worker, WorkerParts } from './worker.ts';
import { failDamaged } from './worker.ts';

/**
 * Maximum number of concurrent attempts: in total, and to one target of a profile, so that a slow target does not delay
 * the others.
 */
const MAX_ATTEMPTS = 64;
export const MAX_PER_TARGET = 8;
/** Wait before a delivery that could not be read is retried, in ms. */
const UNREAD_MS = 5000;
/** The reason of a delivery that no person has approved. */
const NOT_APPROVED = 'not_approved';

type Recorded = NonNullable<MutationResults['record_attempt']>;

export class DeliveryWorker implements Worker<TakenAttempt> {
  private readonly parts: WorkerParts;
  private readonly drain = new AbortController();
  readonly underWay = new Set<TakenAttempt>();

  constructor(parts: WorkerParts) {
    this.parts = parts;
    // Each attempt adds a listener.
    setMaxListeners(0, this.drain.signal);
  }

  get room(): number {
    return this.drain.signal.aborted ? 0 : MAX_ATTEMPTS - this.underWay.size;
  }

  /** Cancels the running attempts; they resume after the next start. */
  close(): void {
    this.drain.abort();
  }

  async putBack(taken: TakenAttempt, delayMs = 0): Promise<void> {
    const { persister, context, holder } = this.parts;
    const { ref, index } = taken;
    const at = context.clock.now();
    await persister.write({ kind: 'record_attempt', ref, index, holder, at, step: null, due_at: at + delayMs });
  }

  async start(taken: TakenAttempt): Promise<void> {
    const { context, changed } = this.parts;
    this.underWay.add(taken);
    await this.attempt(taken).catch((error: unknown) => {
      if (error instanceof Stopped) return;
      context.log.error({ err: error, ...taken }, 'could not record a delivery attempt');
      return failDamaged(this.parts, taken.ref, 'could not store the outcome of a delivery attempt').catch(() => {});
    });
    this.underWay.delete(taken);
    changed();
  }

  private async attempt(taken: TakenAttempt): Promise<void> {
    const { context, contents } = this.parts;
    // The store knows who has refused it.
    if (taken.unsent !== undefined) contents.forget(taken.ref);
    const content = await loadDelivery(contents, taken, context).catch((error: unknown) => {
      if (error instanceof StoreDamaged) return error;
      context.log.error({ err: error, ...taken }, 'could not read a delivery; will retry');
      return null;
    });
    if (content === null) return this.putBack(taken, UNREAD_MS);
    if (content instanceof StoreDamaged) return failDamaged(this.parts, taken.ref, content.message);
    if (taken.unsent !== undefined) return this.refuse(taken, content);
    const attempted = await makeAttempt(context, content, content.progress, this.drain.signal);
    if (attempted.kind === 'attempted') return this.record(taken, content, attempted);
    // The next attempt uses the steps in the store.
    contents.forget(taken.ref);
    await this.putBack(taken, attempted.kind === 'paced' ? attempted.wait_ms : 0);
  }

  private async record(taken: TakenAttempt, content: DeliverableContent, attempted: Attempted): Promise<void> {
    const { context, contents, persister, changed } = this.parts;
    const { dispatch, progress } = content;
    const { clock, observer, log } = context;
    const step = deliveryStep(taken.index, attempted, clock.now());
    if (step.next_at !== null) contents.forget(taken.ref);
    const recorded = persister.writeOr(this.recordOf(taken, dispatch, step), () => {
      const reason = 'could not store the outcome of the attempt';
      return this.recordOf(taken, dispatch, { ...step, reason, message_id: null, next_at: null });
    });
    // Called before it is stored, so that the next `take_work` shares the commit.
    changed();
    const result = await recorded;
    if (result === null) return log.warn({ ...taken }, 'lost the lease of the delivery; its outcome was not stored');
    observer?.reached?.('delivery.marked');
    reportAttempt(context, dispatch, progress.attempts + 1, attempted);
    this.finish(taken, content, result);
  }

  /** Ends a delivery that was not released. */
  private async refuse(taken: TakenAttempt, content: DeliverableContent): Promise<void> {
    const { context, persister, changed } = this.parts;
    const { dispatch, progress } = content;
    const { clock, log } = context;
    const at = clock.now();
    const isAnswered = taken.unsent === 'refused';
    const { reason: why = null, by } = (isAnswered ? progress.answer : null) ?? {};
    const reason = why === null ? NOT_APPROVED : `${NOT_APPROVED}: ${why}`;
    const outcome = isAnswered ? 'permanent' : 'rejected';
    const step = { kind: 'delivery', index: taken.index, outcome, started_at: at, at, reason } as const;
    const ended: Step = { ...step, next_at: null, sent: progress.sent, message_id: null };
    const recorded = persister.write(this.recordOf(taken, dispatch, ended));
    changed();
    const result = await recorded;
    if (result === null) return log.warn({ ...taken }, 'lost the lease of the delivery; its outcome was not stored');
    const delivery = dispatch.deliveries[taken.index];
    const target = delivery === undefined ? '' : targetLabel(delivery);
    log.info({ ...logFields(dispatch), target, reason, ...(by === undefined ? {} : { by }) }, 'message not sent');
    if (!isAnswered) context.observer?.deliveryEnded?.(dispatch, taken.index, `${reason}: no answer in time`);
    this.finish(taken, content, result);
  }

  /** Called after a delivery, and perhaps its dispatch, has ended. */
  private finish({ ref }: TakenAttempt, { dispatch, text }: DeliverableContent, { state, reason }: Recorded): void {
    const { context, contents } = this.parts;
    if (state === 'delivering') return;
    contents.forget(ref);
    context.observer?.finished?.(dispatch, state, reason, isMessage(dispatch) ? null : text);
  }

  private recordOf({ ref, index }: TakenAttempt, dispatch: Dispatch, step: Step): RecordAttempt {
    const key = keyOfMessage(dispatch);
    const of = { ref, index, holder: this.parts.holder, ...(key === null ? {} : { key }) };
    return { kind: 'record_attempt', ...of, at: step.at, step, due_at: step.next_at };
  }
}
