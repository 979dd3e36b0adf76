/** Dispatches and their changes for tests: every field is filled, and tests name only those that matter. */
import { sessionId } from '../../runtime/platform/ids.ts';
import type {
  Accept,
  Advance,
  JoinGroup,
  OpenDelivery,
  RecordAttempt,
  TakeWork,
} from '../../runtime/store/contract.ts';
import type { Ref, StoredClaim } from '../../runtime/store/records.ts';
import type { Step } from '../../runtime/store/states.ts';
import type { Dispatch } from '../../schemas/generated/types.ts';

/** The default holder in tests. */
export const HOLDER = 'this process';

export function makeDispatch(id: string, overrides: Partial<Dispatch> = {}): Dispatch {
  return {
    id,
    mode: 'agent',
    profile: 'default',
    route: 'alerts',
    job: null,
    event: 'push',
    delivery_id: `delivery-${id}`,
    accepted_at: 1000,
    due_at: null,
    prompt: `prompt of ${id}`,
    skills: [],
    toolsets: ['web_search'],
    session: sessionId('webhook', 'alerts', `delivery-${id}`),
    deliveries: [{ target: 'log', extra: {}, unresolved: [] }],
    mirror_to_session: false,
    superseded: 0,
    replay_of: null,
    ...overrides,
  };
}

/** Deliveries to targets, without addresses. */
export function deliveriesTo(...targets: readonly string[]): Dispatch['deliveries'] {
  return targets.map((target) => ({ target, extra: {}, unresolved: [] }));
}

export function makeClaim(
  delivery_id: string,
  expires_at = 100_000,
  overrides: Partial<StoredClaim> = {},
): StoredClaim {
  return { profile: 'default', route: 'alerts', delivery_id, expires_at, ...overrides };
}

export function makeAccept(id: string, overrides: Partial<Accept> = {}): Accept {
  const dispatch = makeDispatch(id);
  const claim = makeClaim(dispatch.delivery_id);
  return {
    ...{ kind: 'accept', dispatch, max_concurrent: null, claim, claiming: 'now', work: { kind: 'run' }, now: 1000 },
    ...overrides,
  };
}

export function makeJoin(id: string, key: string, now: number, overrides: Partial<JoinGroup> = {}): JoinGroup {
  const dispatch = makeDispatch(id, { accepted_at: now });
  return {
    kind: 'join_group',
    dispatch,
    max_concurrent: null,
    claim: makeClaim(dispatch.delivery_id),
    key,
    limits: { window_ms: 30_000, max_wait_ms: 300_000 },
    now,
    ...overrides,
  };
}

/** Takes all due work by default. */
export function makeTake(now: number, overrides: Partial<TakeWork> = {}): TakeWork {
  return {
    ...{ kind: 'take_work', holder: HOLDER, now, runs: 1000, attempts: 1000, attempts_per_target: 1000 },
    ...overrides,
  };
}

export function makeAdvance(ref: Ref, to: Advance['to'], at: number, overrides: Partial<Advance> = {}): Advance {
  return { kind: 'advance', ref, holder: HOLDER, to, at, ...overrides };
}

export function openDeliveries({ deliveries }: Pick<Dispatch, 'deliveries'>, due_at: number): readonly OpenDelivery[] {
  return deliveries.map(({ target }, index) => ({ index, target, due_at }));
}

/** The end of a delivery attempt; default: `ok`. */
export function makeAttempt(ref: Ref, index: number, at: number, step: Partial<Step> | null = {}): RecordAttempt {
  const made = step === null ? null : makeStep({ kind: 'delivery', index, at, started_at: at - 10, ...step });
  return {
    kind: 'record_attempt',
    ref,
    index,
    holder: HOLDER,
    at,
    step: made,
    due_at: made === null ? at : made.next_at,
  };
}

/** A successful step. */
export function makeStep(overrides: Partial<Step> = {}): Step {
  return {
    ...{ kind: 'run', index: null, outcome: 'ok', started_at: 1500, at: 2000 },
    ...{ reason: null, next_at: null, sent: 0, message_id: null },
    ...overrides,
  };
}
