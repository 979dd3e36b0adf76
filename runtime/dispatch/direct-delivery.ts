/**
 * Direct delivery: the sender waits for the result, so there is one attempt per target and no retry of ours.
 *
 *   hold the id ──> stored as delivering, held ──> sent ──> done, and the id is claimed
 *                                                    └────> dead: the sender's retry is a new try
 *
 * A second request with the same id waits for the first: it is a duplicate only of a success. The hold on the id is not
 * stored, so that after a crash the sender, who got no answer, is not taken for a repeat.
 */
import type { Dispatch } from '../../schemas/generated/types.ts';
import type { Clock } from '../clock.ts';
import type { DeliveryOutcome } from '../deliver/deliverer.ts';
import type { Accept, Advance, Holder, Ref, Step, StoredClaim } from '../store/mutations.ts';
import type { RecentClaims } from '../store/recent-claims.ts';
import type { DispatchContext } from './context.ts';
import { deliverOnce, progressOf } from './deliver-once.ts';
import type { Claim, TargetResult } from './dispatcher.ts';
import { logFields } from './log-fields.ts';
import type { Persister } from './persist.ts';
import { storedClaim } from './stored-claim.ts';

export type DirectResult =
  | { readonly kind: 'duplicate' }
  | { readonly kind: 'delivered' | 'failed'; readonly results: readonly TargetResult[] };

interface Sent {
  readonly target: string;
  readonly outcome: DeliveryOutcome;
  readonly startedAt: number;
}

export class DirectDelivery {
  /** Ids being delivered now; each resolves to whether it succeeded. */
  private readonly held = new Map<string, Promise<boolean>>();
  private readonly running = new Set<Promise<unknown>>();
  private readonly context: DispatchContext;
  private readonly persister: Persister;
  private readonly holder: Holder;
  private readonly recent: RecentClaims;

  /** @param recent is told of the ids that are claimed. */
  constructor(context: DispatchContext, holder: Holder, persister: Persister, recent: RecentClaims) {
    this.context = context;
    this.holder = holder;
    this.persister = persister;
    this.recent = recent;
  }

  get active(): number {
    return this.running.size;
  }

  /** @throws StoreUnavailable before anything is sent. */
  async deliver(dispatch: Dispatch, claim: Claim, timeoutMs: number): Promise<DirectResult> {
    const name = nameOf(claim);
    if (!claim.generated) {
      for (let first = this.held.get(name); first !== undefined; first = this.held.get(name)) {
        if (await first) return { kind: 'duplicate' };
      }
    }
    const work = this.attempt(dispatch, claim, timeoutMs);
    const succeeded = work.then(
      ({ kind }) => kind !== 'failed',
      () => false,
    );
    if (!claim.generated) this.held.set(name, succeeded);
    this.running.add(work);
    try {
      return await work;
    } finally {
      this.running.delete(work);
      if (this.held.get(name) === succeeded) this.held.delete(name);
    }
  }

  private async attempt(dispatch: Dispatch, claim: Claim, timeoutMs: number): Promise<DirectResult> {
    const { store, clock, observer } = this.context;
    const now = clock.now();
    const work = { kind: 'held', holder: this.holder } as const;
    const stored = await store.write<Accept>({
      ...{ kind: 'accept', dispatch, max_concurrent: null, work, now },
      ...{ claim: storedClaim(claim, now), claiming: 'later' },
    });
    if (stored.kind === 'duplicate') return stored;
    observer?.reached?.('direct.stored');
    const sent = await Promise.all(dispatch.deliveries.map((_, index) => this.send(dispatch, index, timeoutMs)));
    observer?.reached?.('direct.sent');
    const ok = sent.every(({ outcome }) => outcome.kind === 'ok');
    await this.record(stored.ref, dispatch, claim, sent, ok);
    observer?.reached?.('direct.marked');
    const results = sent.map(({ target, outcome }) => ({ target, ok: outcome.kind === 'ok' }));
    return { kind: ok ? 'delivered' : 'failed', results };
  }

  private async send(dispatch: Dispatch, index: number, timeoutMs: number): Promise<Sent> {
    const { clock, observer } = this.context;
    const target = dispatch.deliveries[index]?.target ?? '';
    const startedAt = clock.now();
    const started = clock.monotonic();
    const controller = new AbortController();
    const late: DeliveryOutcome = {
      ...{ kind: 'ambiguous', reason: `no answer within ${timeoutMs / 1000} s`, retry_after_ms: null },
      ...{ idempotent: false, attempted: true, sent: 0 },
    };
    let timer = { cancel(): void {} };
    const timeout = new Promise<DeliveryOutcome>((resolve) => {
      timer = clock.after(timeoutMs, () => {
        controller.abort();
        resolve(late);
      });
    });
    const content = { dispatch, text: dispatch.prompt };
    const attempt = deliverOnce(this.context, content, progressOf(index, []), controller.signal);
    const outcome = await Promise.race([attempt, timeout]);
    timer.cancel();
    observer?.attemptEnded?.(target, outcome.kind, Math.round(clock.monotonic() - started));
    return { target, outcome, startedAt };
  }

  private async record(ref: Ref, dispatch: Dispatch, claim: Claim, sent: readonly Sent[], ok: boolean): Promise<void> {
    const { clock, log, observer } = this.context;
    const at = clock.now();
    const steps = sent.map(({ outcome, startedAt }, index) => toStep(outcome, index, startedAt, at));
    const failed = sent.filter(({ outcome }) => outcome.kind !== 'ok');
    const reason = failed.map(({ target, outcome }) => `${target}: ${reasonOf(outcome)}`).join('; ');
    const state = ok ? 'done' : 'dead';
    const end = { kind: 'advance', ref, holder: this.holder, to: state, at, steps } as const;
    const change: Advance = ok ? { ...end, ...claimed(claim, at) } : { ...end, reason };
    const recorded = this.persister.write(change).then((result) => this.recent.committed(change, result));
    // What was sent is a fact: the answer does not wait for a store that has become unavailable meanwhile, but the id
    // stays held until the success is recorded.
    if (ok) this.holdUntil(claim, recorded);
    const fields = { ...logFields(dispatch), targets: sent.map(({ target }) => target), ms: at - dispatch.accepted_at };
    if (ok) log.info(fields, 'delivered');
    else log.error({ ...fields, reason }, 'direct delivery failed');
    const settled = recorded.then(() => observer?.finished?.(dispatch, state, ok ? null : reason));
    await atMost(settled, this.context.record_patience_ms ?? PATIENCE_MS, clock);
  }

  private holdUntil(claim: Claim, recorded: Promise<unknown>): void {
    if (claim.generated) return;
    const name = nameOf(claim);
    const hold = Promise.resolve(true);
    this.held.set(name, hold);
    const drop = (): void => {
      if (this.held.get(name) === hold) this.held.delete(name);
    };
    recorded.then(drop, drop);
  }
}

function claimed(claim: Claim, now: number): { readonly claim?: StoredClaim } {
  const stored = storedClaim(claim, now);
  return stored === null ? {} : { claim: stored };
}

/** The longest that an answer waits for its record, in ms. */
const PATIENCE_MS = 2000;

/** Resolves when `work` has settled, or when `ms` have passed. */
function atMost(work: Promise<unknown>, ms: number, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    const timer = clock.after(ms, resolve);
    const settled = (): void => {
      timer.cancel();
      resolve();
    };
    work.then(settled, settled);
  });
}

const nameOf = ({ profile, route, delivery_id }: Claim): string => JSON.stringify([profile, route, delivery_id]);

const reasonOf = (outcome: DeliveryOutcome): string => (outcome.kind === 'ok' ? 'delivered' : outcome.reason);

function toStep(outcome: DeliveryOutcome, index: number, started_at: number, at: number): Step {
  const reason = outcome.kind === 'ok' ? null : outcome.reason;
  const message_id = outcome.kind === 'ok' ? outcome.message_id : null;
  const { kind, sent } = outcome;
  return { kind: 'delivery', index, outcome: kind, started_at, at, reason, next_at: null, sent, message_id };
}
