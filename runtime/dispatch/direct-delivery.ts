/**
 * Direct delivery: the sender waits for the result, so there is one attempt per target and no retry.
 *
 *   hold the id ──> stored as delivering, held ──> sent ──> done, and the id is claimed
 *                                                    └────> dead: a retry of the sender is a new attempt
 *
 * A second request with the same id waits for the first, and is a duplicate only if that one succeeds. Where gateways
 * share a store, the id is held for all of them, by the stored dispatch. The claim is stored with the success only: after a
 * crash the sender has had no response, and its retry must not be treated as a duplicate.
 */
import { targetLabel } from '../../base/label.ts';
import type { Dispatch } from '../../schemas/generated/types.ts';
import type { DeliveryOutcome } from '../deliver/deliverer.ts';
import { failed } from '../deliver/deliverer.ts';
import type { Clock } from '../platform/clock.ts';
import { settledWithin } from '../platform/clock.ts';
import { claimKey } from '../store/identity.ts';
import type { Accept, Advance, Holder, MutationResults, Ref, Step } from '../store/mutations.ts';
import type { RecentClaims } from '../store/recent-claims.ts';
import { endDelivering } from '../store/states.ts';
import { StoreUnavailable } from '../store/store.ts';
import type { DispatchContext } from './context.ts';
import { deliverOnce, deliveryStep, progressOf } from './delivery-attempt.ts';
import type { Claim, TargetResult } from './dispatcher.ts';
import { storedClaim } from './dispatcher.ts';
import { logFields } from './observer.ts';
import type { Persister } from './persist.ts';

export type DirectResult =
  | { readonly kind: 'duplicate' }
  | { readonly kind: 'delivered' | 'failed'; readonly results: readonly TargetResult[] };

type Stored = Exclude<MutationResults['accept'], { readonly kind: 'held' }>;

/** How often an id that another gateway holds is asked for again, in ms. */
const HELD_PAUSE_MS = 200;

/** How long the response waits until the result is stored, in ms. */
const RECORD_MS = 2000;

export class DirectDelivery {
  /** Ids under delivery; each resolves to true when the delivery succeeded. */
  private readonly held = new Map<string, Promise<boolean>>();
  private readonly context: DispatchContext;
  private readonly persister: Persister;
  private readonly holder: Holder;
  private readonly recent: RecentClaims;
  /** Number of deliveries under way. */
  active = 0;

  /** @param recent is notified of the ids that are claimed. */
  constructor(context: DispatchContext, holder: Holder, persister: Persister, recent: RecentClaims) {
    this.context = context;
    this.holder = holder;
    this.persister = persister;
    this.recent = recent;
  }

  /** Rejects with StoreUnavailable before anything is sent. @param timeoutMs for all targets, which run at once */
  async deliver(dispatch: Dispatch, claim: Claim, timeoutMs: number): Promise<DirectResult> {
    const name = claimKey(claim);
    for (let first = this.held.get(name); first !== undefined && !claim.generated; first = this.held.get(name)) {
      if (await first) return { kind: 'duplicate' };
    }
    const work = this.attempt(dispatch, claim, timeoutMs);
    const isTaken = work.then(
      ({ kind }) => kind !== 'failed',
      () => false,
    );
    const drop = this.hold(claim, isTaken);
    this.active++;
    try {
      return await work;
    } finally {
      this.active--;
      drop();
    }
  }

  /** Holds the id. Returns a function that ends this hold, but no later hold of the id. */
  private hold(claim: Claim, isTaken: Promise<boolean>): () => void {
    if (claim.generated) return () => {};
    const name = claimKey(claim);
    this.held.set(name, isTaken);
    return () => {
      if (this.held.get(name) === isTaken) this.held.delete(name);
    };
  }

  private async attempt(dispatch: Dispatch, claim: Claim, timeoutMs: number): Promise<DirectResult> {
    const { observer } = this.context;
    const stored = await this.store(dispatch, claim, timeoutMs);
    if (stored.kind === 'duplicate') return { kind: 'duplicate' };
    observer?.reached?.('direct.stored');
    const steps = await Promise.all(dispatch.deliveries.map((_, index) => this.send(dispatch, index, timeoutMs)));
    observer?.reached?.('direct.sent');
    await this.record(stored.ref, dispatch, claim, steps);
    observer?.reached?.('direct.marked');
    const isOk = (index: number): boolean => steps[index]?.outcome === 'ok';
    const results = dispatch.deliveries.map((delivery, index) => ({ target: targetLabel(delivery), ok: isOk(index) }));
    return { kind: results.every(({ ok }) => ok) ? 'delivered' : 'failed', results };
  }

  /** Waits up to `timeoutMs` while another gateway holds the id. @throws StoreUnavailable when it holds it longer */
  private async store(dispatch: Dispatch, claim: Claim, timeoutMs: number): Promise<Stored> {
    const { store, clock } = this.context;
    const until = clock.monotonic() + timeoutMs;
    const work = { kind: 'held', holder: this.holder } as const;
    const claiming = store.shared === null ? 'later' : 'alone';
    for (;;) {
      const now = clock.now();
      const held = { claim: storedClaim(claim, now), claiming, work } as const;
      const stored = await store.write<Accept>({ kind: 'accept', dispatch, max_concurrent: null, now, ...held });
      if (stored.kind !== 'held') return stored;
      if (clock.monotonic() >= until) throw new StoreUnavailable('another gateway is delivering this event');
      await new Promise<void>((resolve) => void clock.after(HELD_PAUSE_MS, resolve));
    }
  }

  private async send(dispatch: Dispatch, index: number, timeoutMs: number): Promise<Step> {
    const { clock, observer } = this.context;
    const startedAt = clock.now();
    const started = clock.monotonic();
    const controller = new AbortController();
    const content = { dispatch, text: dispatch.prompt };
    const sent = deliverOnce(this.context, content, progressOf(index, []), controller.signal);
    const outcome = await Promise.race([sent, late(clock, timeoutMs, sent)]);
    controller.abort();
    const ms = Math.round(clock.monotonic() - started);
    const delivery = dispatch.deliveries[index];
    observer?.attemptEnded?.(delivery === undefined ? '' : targetLabel(delivery), outcome.kind, ms);
    const isOk = outcome.kind === 'ok';
    const decision = isOk ? ({ kind: 'done' } as const) : ({ kind: 'dead', reason: outcome.reason } as const);
    return deliveryStep(index, { outcome, decision, startedAt }, clock.now());
  }

  private async record(ref: Ref, dispatch: Dispatch, claim: Claim, steps: readonly Step[]): Promise<void> {
    const { clock, log, observer } = this.context;
    const at = clock.now();
    const { state, reason } = endDelivering(dispatch.deliveries, steps);
    const end = { kind: 'advance', ref, holder: this.holder, to: state, at, steps } as const;
    const claimed = storedClaim(claim, at);
    const success: Advance = claimed === null ? end : { ...end, claim: claimed };
    const change: Advance = reason === null ? success : { ...end, reason };
    const recorded = this.persister.write(change).then((result) => this.recent.committed(change, result));
    // The text has been sent: the response does not wait for a store that has become unavailable meanwhile, but the id
    // stays held until the success is stored.
    if (reason === null) void recorded.finally(this.hold(claim, Promise.resolve(true))).catch(() => {});
    const targets = dispatch.deliveries.map(targetLabel);
    const fields = { ...logFields(dispatch), targets, ms: at - dispatch.accepted_at };
    if (reason === null) log.info(fields, 'delivered');
    else log.error({ ...fields, reason }, 'direct delivery failed');
    const settled = recorded.then(() => observer?.finished?.(dispatch, state, reason));
    await settledWithin(clock, this.context.record_patience_ms ?? RECORD_MS, settled);
  }
}

/** Resolves after the timeout with the outcome of a target that has not answered. */
async function late(clock: Clock, ms: number, sent: Promise<unknown>): Promise<DeliveryOutcome> {
  await settledWithin(clock, ms, sent);
  return failed('ambiguous', `no answer within ${ms / 1000} s`);
}
