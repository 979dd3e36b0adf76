/** A store that forgets with its process: the model the durable one is tested against, and the benchmark's yardstick. */
import type { Group } from '../coalesce/group.ts';
import { joinGroup } from '../coalesce/group.ts';
import { MemoryJobs } from './memory-jobs.ts';
import type {
  Accept,
  Advance,
  ClaimKey,
  Cleanup,
  Coalesce,
  ExpireClaims,
  Mutation,
  MutationHandlers,
  MutationResults,
  Ref,
  Release,
  StoredClaim,
  TakeInbox,
} from './mutations.ts';
import { applyMutation, isFailure } from './mutations.ts';
import type { DispatchState } from './states.ts';
import { canAdvance, isFinal } from './states.ts';
import type {
  DispatchSummary,
  LastError,
  ListQuery,
  OpenDispatch,
  Store,
  StoredDispatch,
  StoredGroup,
  Tally,
} from './store.ts';
import type { TallyColumn } from './tally.ts';
import { auditTally, NO_COUNTS } from './tally.ts';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type Kept = Mutable<StoredDispatch> & { state: DispatchState; ready_at: number | null };
type KeptGroup = Group & { readonly profile: string; readonly route: string; readonly key: string; readonly ref: Ref };

export class MemoryStore implements Store {
  private lastRef: Ref = 0;
  private readonly kept = new Map<Ref, Kept>();
  private readonly byId = new Map<string, Ref>();
  private readonly claims = new Map<string, number>();
  private readonly waiting = new Map<string, KeptGroup>();
  private readonly inboxed = new Set<Ref>();
  private readonly counts = new Map<string, Mutable<Tally>>();
  private failure: LastError | null = null;
  readonly jobs = new MemoryJobs({
    insert: (dispatch, now) => this.insert({ dispatch, max_concurrent: null }, 'pending', now),
    toInbox: (ref) => void this.inboxed.add(ref),
    claim: (claim, now) => this.claim(claim, now),
    isClaimed: (claim, now) => claim !== null && this.isClaimed(claim, now),
    stateOf: (ref) => this.kept.get(ref)?.state ?? null,
  });
  private readonly handlers: MutationHandlers = {
    accept: (m) => this.accept(m),
    coalesce: (m) => this.coalesce(m),
    release: (m) => this.release(m),
    advance: (m) => this.advance(m),
    take_inbox: (m) => this.takeInbox(m),
    expire_claims: (m) => this.expireClaims(m),
    cleanup: (m) => this.cleanup(m),
    ...this.jobs.handlers,
  };

  write<M extends Mutation>(mutation: M): Promise<MutationResults[M['kind']]> {
    return Promise.resolve(applyMutation(this.handlers, mutation));
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  private accept(m: Accept): MutationResults['accept'] {
    const { claim, claiming, now } = m;
    const isNew = claiming === 'now' ? this.claim(claim, now) : claim === null || !this.isClaimed(claim, now);
    if (!isNew) return { kind: 'duplicate' };
    const ref = this.insert(m, m.state, m.now);
    const kept = this.kept.get(ref);
    if (kept !== undefined && m.answer !== undefined) Object.assign(kept, { answer: m.answer, answered_at: m.now });
    if (m.inbox) this.inboxed.add(ref);
    return { kind: 'stored', ref };
  }

  private coalesce(m: Coalesce): MutationResults['coalesce'] {
    if (!this.claim(m.claim, m.now)) return { kind: 'duplicate' };
    const { profile } = m.dispatch;
    const route = m.dispatch.route ?? '';
    const at = key(profile, route, m.key);
    const before = this.waiting.get(at) ?? null;
    const group = joinGroup(before, m.now, m.limits);
    const { superseded, due_at, max_wait_ms } = group;
    const ref = this.insert({ ...m, dispatch: { ...m.dispatch, superseded } }, 'pending', null);
    this.waiting.set(at, { ...group, profile, route, key: m.key, ref });
    if (before !== null) {
      this.advance({
        kind: 'advance',
        ref: before.ref,
        to: 'skipped',
        at: m.now,
        reason: `superseded by ${m.dispatch.id}`,
      });
    }
    return { kind: 'stored', ref, superseded, due_at, max_wait_ms };
  }

  private release(m: Release): boolean {
    const at = key(m.profile, m.route, m.key);
    if (this.waiting.get(at)?.ref !== m.ref) return false;
    this.waiting.delete(at);
    const kept = this.kept.get(m.ref);
    if (kept !== undefined) kept.ready_at = m.now;
    return true;
  }

  private advance(m: Advance): boolean {
    const kept = this.kept.get(m.ref);
    if (kept === undefined || !canAdvance(kept.state, m.to)) return false;
    this.count(kept, kept.state, -1);
    this.count(kept, m.to, 1);
    kept.state = m.to;
    kept.reason = m.reason ?? null;
    kept.steps = [...kept.steps, ...(m.steps ?? [])];
    if (m.ready_at !== undefined) kept.ready_at = m.ready_at;
    if (m.to === 'running') kept.started_at = m.at;
    if (m.answer !== undefined) Object.assign(kept, { answer: m.answer, answered_at: m.at });
    if (isFinal(m.to)) kept.finished_at = m.at;
    if (m.claim !== undefined) this.claims.set(claimKey(m.claim), m.claim.expires_at);
    if (isFailure(m)) this.failure = { id: kept.id, route: kept.route, at: m.at, reason: m.reason };
    return true;
  }

  private takeInbox(m: TakeInbox): null {
    for (const ref of m.refs) this.inboxed.delete(ref);
    return null;
  }

  private expireClaims(m: ExpireClaims): number {
    const expired = [...this.claims].filter(([, expires]) => expires <= m.now).slice(0, m.limit);
    for (const [at] of expired) this.claims.delete(at);
    return expired.length;
  }

  private cleanup(m: Cleanup): MutationResults['cleanup'] {
    const slice = [...this.kept.values()].filter(({ ref }) => ref > m.after).slice(0, m.limit);
    const old = slice.filter(({ state, finished_at }) => isFinal(state) && (finished_at ?? m.before) < m.before);
    for (const kept of old) {
      this.kept.delete(kept.ref);
      this.byId.delete(kept.id);
      this.count(kept, 'removed', 1);
    }
    return { removed: old.length, next: slice.length < m.limit ? null : (slice.at(-1)?.ref ?? null) };
  }

  private claim(claim: StoredClaim | null, now: number): boolean {
    if (claim === null) return true;
    if (this.isClaimed(claim, now)) return false;
    this.claims.set(claimKey(claim), claim.expires_at);
    return true;
  }

  private insert(m: Pick<Accept, 'dispatch' | 'max_concurrent'>, state: DispatchState, ready_at: number | null): Ref {
    const { dispatch, max_concurrent } = m;
    const { id, profile, route, job, mode, event, delivery_id, accepted_at, replay_of } = dispatch;
    const kept: Kept = {
      ref: ++this.lastRef,
      id,
      profile,
      route,
      job,
      mode,
      event,
      delivery_id,
      accepted_at,
      replay_of,
      state,
      ready_at,
      started_at: null,
      answered_at: null,
      finished_at: null,
      reason: null,
      dispatch,
      max_concurrent,
      answer: null,
      steps: [],
    };
    this.kept.set(kept.ref, kept);
    this.byId.set(id, kept.ref);
    this.count(kept, 'accepted', 1);
    this.count(kept, state, 1);
    return kept.ref;
  }

  private count({ profile, route }: Pick<Kept, 'profile' | 'route'>, column: TallyColumn, by: number): void {
    const at = key(profile, route ?? '');
    const tally = this.counts.get(at) ?? { profile, route, ...NO_COUNTS };
    tally[column] += by;
    this.counts.set(at, tally);
  }

  isClaimed(claim: ClaimKey, now: number): boolean {
    return (this.claims.get(claimKey(claim)) ?? now) > now;
  }

  load(ref: Ref): StoredDispatch | null {
    const kept = this.kept.get(ref);
    if (kept === undefined) return null;
    const { ready_at, ...stored } = kept;
    return stored;
  }

  find(id: string): StoredDispatch | null {
    return this.load(this.byId.get(id) ?? 0);
  }

  open(after: Ref, limit: number): readonly OpenDispatch[] {
    return this.openAmong(this.kept.keys(), after, limit);
  }

  openOne(ref: Ref): OpenDispatch | null {
    return this.openAmong([ref], 0, 1)[0] ?? null;
  }

  last(): Ref {
    return this.lastRef;
  }

  inbox(limit: number): readonly Ref[] {
    return [...this.inboxed].slice(0, limit);
  }

  private openAmong(refs: Iterable<Ref>, after: Ref, limit: number): readonly OpenDispatch[] {
    const found: OpenDispatch[] = [];
    for (const ref of refs) {
      const kept = this.kept.get(ref);
      if (kept === undefined || ref <= after || kept.ready_at === null) continue;
      const { id, profile, route, mode, state, max_concurrent, ready_at } = kept;
      if (isFinal(state)) continue;
      found.push({ ref, id, profile, route, mode, state, max_concurrent, ready_at });
      if (found.length === limit) break;
    }
    return found;
  }

  groups(): readonly StoredGroup[] {
    return [...this.waiting.values()].map((group) => ({
      ...group,
      max_concurrent: this.kept.get(group.ref)?.max_concurrent ?? null,
    }));
  }

  list(query: ListQuery): readonly DispatchSummary[] {
    return [...this.kept.values()]
      .filter((kept) => query.state === undefined || kept.state === query.state)
      .filter((kept) => query.route === undefined || kept.route === query.route)
      .filter((kept) => query.job === undefined || kept.job === query.job)
      .filter((kept) => kept.accepted_at >= (query.since ?? 0) && kept.ref < (query.before ?? Infinity))
      .reverse()
      .slice(0, query.limit)
      .map(({ dispatch, max_concurrent, answer, steps, ready_at, ...summary }) => summary);
  }

  tallies(): readonly Tally[] {
    return [...this.counts.values()].map((tally) => ({ ...tally }));
  }

  oldestOpen(): number | null {
    for (const kept of this.kept.values()) if (!isFinal(kept.state)) return kept.accepted_at;
    return null;
  }

  lastError(): LastError | null {
    return this.failure;
  }

  audit(): readonly string[] {
    return this.tallies().flatMap((tally) => {
      const stored: Partial<Record<DispatchState, number>> = {};
      for (const { profile, route, state } of this.kept.values()) {
        if (profile === tally.profile && route === tally.route) stored[state] = (stored[state] ?? 0) + 1;
      }
      return auditTally(tally, stored);
    });
  }
}

const key = (...parts: readonly string[]): string => JSON.stringify(parts);
const claimKey = ({ profile, route, delivery_id }: ClaimKey): string => key(profile, route, delivery_id);
