/** A Dispatcher that records its calls, for tests of the intake: it remembers ids and returns configured results. */
import type { Claim, CoalesceKey, Dispatcher, Refusal, TargetResult } from '../../runtime/dispatch/dispatcher.ts';
import type { Dispatch } from '../../schemas/generated/types.ts';

export interface Handed {
  readonly kind: 'accept' | 'coalesce' | 'deliver' | 'fire';
  readonly dispatch: Dispatch;
  readonly claim: Claim;
  readonly group: CoalesceKey | null;
  readonly maxConcurrent: number | null;
  readonly timeoutMs: number | null;
}

export class FakeDispatcher implements Dispatcher {
  readonly handed: Handed[] = [];
  /** The result of every call, when set. */
  refusal: Refusal | null = null;
  /** Targets that fail. */
  readonly failing = new Set<string>();
  fired: 'accepted' | 'already_running' | 'paused' | 'unknown_job' = 'accepted';
  /** Awaited before each answer. */
  gate: Promise<void> = Promise.resolve();
  /** Number of calls, including those that wait at the gate. */
  arrived = 0;
  private readonly done = new Set<string>();

  isKnownDone(claim: Claim): boolean {
    return this.done.has(keyOf(claim));
  }

  async refuseRepeat(claim: Claim): Promise<Refusal | null> {
    return this.refusal ?? (this.isKnownDone(claim) ? { kind: 'duplicate' } : null);
  }

  async accept(
    dispatch: Dispatch,
    claim: Claim,
    maxConcurrent: number | null,
  ): Promise<Refusal | { readonly kind: 'accepted' }> {
    const refused = await this.take({ ...NOTHING, kind: 'accept', dispatch, claim, maxConcurrent });
    return refused ?? { kind: 'accepted' };
  }

  async coalesce(
    dispatch: Dispatch,
    claim: Claim,
    group: CoalesceKey,
    maxConcurrent: number | null,
  ): Promise<Refusal | { readonly kind: 'coalesced'; readonly superseded: number }> {
    const superseded = this.handed.filter((earlier) => earlier.group?.key === group.key).length;
    const refused = await this.take({ ...NOTHING, kind: 'coalesce', dispatch, claim, group, maxConcurrent });
    return refused ?? { kind: 'coalesced', superseded };
  }

  async deliver(
    dispatch: Dispatch,
    claim: Claim,
    timeoutMs: number,
  ): Promise<Refusal | { readonly kind: 'delivered' | 'failed'; readonly results: readonly TargetResult[] }> {
    const refused = await this.take({ ...NOTHING, kind: 'deliver', dispatch, claim, timeoutMs });
    if (refused !== null) return refused;
    const results = dispatch.deliveries.map(({ target }) => ({ target, ok: !this.failing.has(target) }));
    if (results.every(({ ok }) => ok)) return { kind: 'delivered', results };
    this.done.delete(keyOf(claim));
    return { kind: 'failed', results };
  }

  async fire(
    dispatch: Dispatch,
    claim: Claim,
  ): Promise<Refusal | { readonly kind: 'accepted' | 'already_running' | 'paused' | 'unknown_job' }> {
    const refused = await this.take({ ...NOTHING, kind: 'fire', dispatch, claim });
    return refused ?? { kind: this.fired };
  }

  /** Every id is new again. */
  forget(): void {
    this.done.clear();
  }

  private async take(handed: Handed): Promise<Refusal | null> {
    this.arrived++;
    await this.gate;
    if (this.refusal !== null) return this.refusal;
    if (!handed.claim.generated && this.isKnownDone(handed.claim)) return { kind: 'duplicate' };
    this.handed.push(handed);
    this.done.add(keyOf(handed.claim));
    return null;
  }
}

const NOTHING = { group: null, maxConcurrent: null, timeoutMs: null };

function keyOf({ profile, route, delivery_id }: Claim): string {
  return `${profile}/${route}/${delivery_id}`;
}
