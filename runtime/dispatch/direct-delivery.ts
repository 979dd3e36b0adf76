/**
 * Direct delivery: the sender waits for the result. Each target has two attempts within that time.
 *
 *   hold the id ──> stored as delivering, held ──> sent ──> done, and the id is claimed
 *                       ^                           └────> dead ──┐
 *                       └── the sender's next attempt, or replay ─┘ to the targets that do not have it
 *
 * The row of a delivery id is the same for all attempts (`runtime/store/unit/message.ts`). A second request with the
 * same id, or the same replay guard, waits for the first, and is a duplicate only if that one succeeds. If gateways share a store, the row holds
 * the id for all of them. The claim is stored only with the success: after a crash the sender has received no response,
 * and its retry must not be treated as a duplicate.
 */
import { targetLabel } from '../../base/text.ts';
import type { Dispatch } from '../../schemas/generated/types.ts';
import type { DeliveryOutcome } from '../deliver/deliverer.ts';
import { failed } from '../deliver/deliverer.ts';
import type { Clock } from '../platform/clock.ts';
import { settledWithin } from '../platform/clock.ts';
import type { Accept, Advance, Continued } from '../store/contract.ts';
import { StoreUnavailable } from '../store/contract.ts';
import type { Holder, Ref } from '../store/records.ts';
import { claimKeys } from '../store/records.ts';
import type { Step } from '../store/states.ts';
import { endDelivering, hasEnded } from '../store/states.ts';
import type { RecentClaims } from '../store/tally.ts';
import type { DispatchContext, RetryPolicy } from './context.ts';
import { deliverOnce, deliveryStep, mayRepeat, progressOf } from './delivery-attempt.ts';
import type { Claim, TargetResult } from './dispatcher.ts';
import { logFields, refusePaused, storedClaim } from './dispatcher.ts';
import type { Persister } from './persist.ts';

type DirectResult =
  | { readonly kind: 'duplicate' }
  | ReturnType<typeof refusePaused>
  | { readonly kind: 'delivered' | 'failed'; readonly results: readonly TargetResult[] };

/** The message in delivery, as in its row. */
interface HeldMessage {
  readonly ref: Ref;
  readonly dispatch: Dispatch;
  /** Steps of earlier attempts of the sender; null: this is the first attempt. */
  readonly earlier: readonly Step[] | null;
  readonly timeoutMs: number;
  /** Monotonic ms at which the response is due. */
  readonly until: number;
}

/** The interval at which an id that another gateway holds is checked again, in ms. */
const HELD_PAUSE_MS = 200;

/** How long the response waits until the result is stored, in ms. */
const RECORD_MS = 2000;

/** Wait before the second attempt if the target does not specify one, in ms. */
const SECOND_MS = 1000;

export class DirectDelivery {
  /** Ids and guards in delivery; each resolves to true when the delivery succeeded. */
  private readonly held = new Map<string, Promise<boolean>>();
  private readonly context: DispatchContext;
  private readonly persister: Persister;
  private readonly holder: Holder;
  private readonly recent: RecentClaims;
  /** Number of deliveries in progress. */
  active = 0;

  /** @param recent receives the claimed ids */
  constructor(context: DispatchContext, holder: Holder, persister: Persister, recent: RecentClaims) {
    this.context = context;
    this.holder = holder;
    this.persister = persister;
    this.recent = recent;
  }

  /** Rejects with StoreUnavailable before anything is sent. @param timeoutMs for all targets, which run in parallel */
  async deliver(dispatch: Dispatch, claim: Claim, timeoutMs: number): Promise<DirectResult> {
    const { clock } = this.context;
    const names = claimKeys(storedClaim(claim, 0));
    // The first request may take its whole time, plus the time to store its result.
    const until = clock.monotonic() + timeoutMs + 2 * RECORD_MS;
    for (let first = this.heldAs(names); first !== undefined; first = this.heldAs(names)) {
      await settledWithin(clock, Math.max(0, until - clock.monotonic()), first);
      if (clock.monotonic() >= until) throw new StoreUnavailable('an earlier request is still delivering this event');
      if (await first) return { kind: 'duplicate' };
    }
    const work = this.attempt(dispatch, claim, timeoutMs);
    const isTaken = work.then(
      ({ kind }) => kind === 'delivered' || kind === 'duplicate',
      () => false,
    );
    const drop = this.hold(names, isTaken);
    this.active++;
    try {
      return await work;
    } finally {
      this.active--;
      drop();
    }
  }

  private heldAs(names: readonly string[]): Promise<boolean> | undefined {
    return names.map((name) => this.held.get(name)).find((first) => first !== undefined);
  }

  /** Holds the names of a claim. Returns a function that ends this hold, but no later hold of a name. */
  private hold(names: readonly string[], isTaken: Promise<boolean>): () => void {
    for (const name of names) this.held.set(name, isTaken);
    return () => {
      for (const name of names) if (this.held.get(name) === isTaken) this.held.delete(name);
    };
  }

  private async attempt(dispatch: Dispatch, claim: Claim, timeoutMs: number): Promise<DirectResult> {
    const { clock, observer } = this.context;
    const stored = await this.store(dispatch, claim, timeoutMs);
    if (!('ref' in stored)) return stored;
    observer?.reached?.('direct.stored');
    const { ref, continued } = stored;
    const { steps: earlier = null, deliveries = dispatch.deliveries, ...row } = continued ?? {};
    const heldMessage: HeldMessage = {
      ref,
      dispatch: { ...dispatch, ...row, deliveries: [...deliveries] },
      earlier,
      timeoutMs,
      until: clock.monotonic() + timeoutMs,
    };
    const sentSteps = await this.sendAll(heldMessage);
    observer?.reached?.('direct.sent');
    await this.record(heldMessage, claim, sentSteps);
    observer?.reached?.('direct.marked');
    const steps = [...(earlier ?? []), ...sentSteps.steps];
    const results = heldMessage.dispatch.deliveries.flatMap((delivery, index) => {
      const last = steps.findLast((step) => step.index === index);
      return last?.outcome === 'withdrawn' ? [] : [{ target: targetLabel(delivery), ok: last?.outcome === 'ok' }];
    });
    return { kind: results.every(({ ok }) => ok) ? 'delivered' : 'failed', results };
  }

  /** Waits up to `timeoutMs` while another gateway holds the id. @throws StoreUnavailable when it is held longer */
  private async store(
    dispatch: Dispatch,
    claim: Claim,
    timeoutMs: number,
  ): Promise<{ readonly ref: Ref; readonly continued?: Continued } | Exclude<DirectResult, { results: unknown }>> {
    const { store, clock } = this.context;
    const until = clock.monotonic() + timeoutMs;
    const work = { kind: 'held', holder: this.holder } as const;
    for (;;) {
      const now = clock.now();
      const heldMessage = { claim: storedClaim(claim, now), claiming: 'later', work } as const;
      const change: Accept = { kind: 'accept', dispatch, max_concurrent: null, now, ...heldMessage };
      const stored = await store.write(change, claim);
      if ('ref' in stored) return stored;
      if (stored.kind === 'duplicate') return { kind: 'duplicate' };
      if (stored.kind === 'route_paused') return refusePaused(stored, now);
      if (clock.monotonic() >= until) throw new StoreUnavailable('another gateway is delivering this event');
      await pause(clock, HELD_PAUSE_MS);
    }
  }

  /**
   * Sends to all targets that do not have the message, in parallel. While others are in progress, a success is stored
   * immediately, so that a crash does not repeat it.
   */
  private async sendAll(heldMessage: HeldMessage): Promise<SentSteps> {
    const { deliveries } = heldMessage.dispatch;
    const open = deliveries.flatMap((_, index) => (hasEnded(heldMessage.earlier ?? [], index) ? [] : [index]));
    const stored: Promise<unknown>[] = [];
    let left = open.length;
    const sentSteps = await Promise.all(
      open.map(async (index) => {
        const steps = await this.send(heldMessage, index);
        const isEarly = --left > 0 && steps.at(-1)?.outcome === 'ok';
        if (isEarly) stored.push(this.storeEarly(heldMessage.ref, steps));
        return { steps, isEarly };
      }),
    );
    const rest = sentSteps.flatMap(({ steps, isEarly }) => (isEarly ? [] : steps));
    return { steps: sentSteps.flatMap(({ steps }) => steps), rest, stored };
  }

  private storeEarly(ref: Ref, steps: readonly Step[]): Promise<unknown> {
    const at = this.context.clock.now();
    return this.persister.write({ kind: 'advance', ref, holder: this.holder, to: 'delivering', held: true, at, steps });
  }

  /** Makes one attempt, and a second one when that is safe and there is time. Returns their steps. */
  private async send(heldMessage: HeldMessage, index: number): Promise<readonly Step[]> {
    const { clock, policy } = this.context;
    const { dispatch, earlier, until } = heldMessage;
    const retries = policy(dispatch.profile, dispatch.deliveries[index]?.target ?? '');
    const steps: Step[] = [];
    for (const isLast of [false, true]) {
      const startedAt = clock.now();
      const outcome = await this.sendOnce(heldMessage, index, [...(earlier ?? []), ...steps]);
      const step = (wait_ms: number | null): Step => {
        const { reason } = outcome.kind === 'ok' ? { reason: '' } : outcome;
        const decision =
          outcome.kind === 'ok'
            ? ({ kind: 'done' } as const)
            : wait_ms === null
              ? ({ kind: 'dead', reason } as const)
              : ({ kind: 'retry', reason, wait_ms } as const);
        return deliveryStep(index, { outcome, decision, startedAt }, clock.now());
      };
      const wait = isLast ? null : secondWait(outcome, retries);
      const isDue = wait !== null && clock.monotonic() + wait < until;
      steps.push(step(isDue ? wait : null));
      if (!isDue) return steps;
      await pause(clock, wait);
    }
    return steps;
  }

  private async sendOnce(
    { dispatch, earlier, until, timeoutMs }: HeldMessage,
    index: number,
    steps: readonly Step[],
  ): Promise<DeliveryOutcome> {
    const { clock, observer } = this.context;
    const started = clock.monotonic();
    const controller = new AbortController();
    const progress = progressOf(index, steps);
    // An earlier attempt may have sent this without recording it, so a target must not treat it as the first.
    const first_attempt_at = progress.first_attempt_at ?? (earlier === null ? null : dispatch.accepted_at);
    const content = { dispatch, text: dispatch.prompt };
    const sent = deliverOnce(this.context, content, { ...progress, first_attempt_at }, controller.signal);
    const outcome = await Promise.race([sent, late(clock, until - started, timeoutMs, sent)]);
    controller.abort();
    const ms = Math.round(clock.monotonic() - started);
    const delivery = dispatch.deliveries[index];
    observer?.attemptEnded?.(delivery === undefined ? '' : targetLabel(delivery), outcome.kind, ms);
    return outcome;
  }

  private async record(
    { ref, dispatch, earlier }: HeldMessage,
    claim: Claim,
    { steps, rest, stored }: SentSteps,
  ): Promise<void> {
    const { clock, log, observer } = this.context;
    const at = clock.now();
    const { state, reason } = endDelivering(dispatch.deliveries, [...(earlier ?? []), ...steps]);
    const end = { kind: 'advance', ref, holder: this.holder, to: state, at, steps: rest } as const;
    const claimed = storedClaim(claim, at);
    const success: Advance = claimed === null ? end : { ...end, claim: claimed };
    const change: Advance = reason === null ? success : { ...end, reason };
    // The change that ends the row comes last.
    const written = stored.length === 0 ? this.persister.write(change) : this.writeAfter(stored, change);
    const recorded = written.then((result) => this.recent.committed(change, result));
    // The response does not wait for a store that has become unavailable, but the id stays held until the result is
    // stored: after a success, a repeat is a duplicate immediately; after a failure, the repeat waits.
    const isOver = recorded.then(
      () => false,
      () => false,
    );
    void recorded
      .finally(this.hold(claimKeys(claimed), reason === null ? Promise.resolve(true) : isOver))
      .catch(() => {});
    const targets = dispatch.deliveries.map(targetLabel);
    const fields = { ...logFields(dispatch), targets, ms: at - dispatch.accepted_at };
    if (reason === null) log.info(fields, 'delivered');
    else log.error({ ...fields, reason }, 'direct delivery failed');
    for (const index of dispatch.deliveries.keys()) {
      const last = steps.findLast((step) => step.index === index);
      if (last !== undefined)
        observer?.deliveryEnded?.(dispatch, index, last.outcome === 'ok' ? null : (last.reason ?? 'failed'));
    }
    const settled = recorded.then(() => observer?.finished?.(dispatch, state, reason, null));
    await settledWithin(clock, this.context.record_patience_ms ?? RECORD_MS, settled);
  }

  private async writeAfter(before: readonly Promise<unknown>[], change: Advance): Promise<boolean> {
    await Promise.all(before);
    return (await this.persister.write(change)) === true;
  }
}

/** The steps of an attempt. */
interface SentSteps {
  readonly steps: readonly Step[];
  /** Steps that are not stored yet. */
  readonly rest: readonly Step[];
  /** The changes that store the other steps. */
  readonly stored: readonly Promise<unknown>[];
}

/** The wait before a second attempt, in ms; null: there is none, because it could post twice or fail again. */
function secondWait(outcome: DeliveryOutcome, policy: RetryPolicy): number | null {
  if (outcome.kind === 'ok' || outcome.kind === 'permanent' || !mayRepeat(outcome, policy)) return null;
  return Math.max(outcome.retry_after_ms ?? SECOND_MS, 1);
}

const pause = (clock: Clock, ms: number): Promise<void> => new Promise((resolve) => void clock.after(ms, resolve));

/** Resolves after `ms` with the outcome of a target that has not responded. */
async function late(clock: Clock, ms: number, timeoutMs: number, sent: Promise<unknown>): Promise<DeliveryOutcome> {
  await settledWithin(clock, Math.max(0, ms), sent);
  return failed('ambiguous', `no answer within ${timeoutMs / 1000} s`);
}
