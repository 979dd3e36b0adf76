/** Dispatches for tests: every field filled, only what matters named. */
import type { Accept, Coalesce, StoredClaim } from '../../runtime/store/mutations.ts';
import type { Dispatch } from '../../schemas/generated/types.ts';

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
    session: `webhook:alerts:delivery-${id}`,
    deliveries: [{ target: 'log', extra: {}, unresolved: [] }],
    mirror_to_session: false,
    superseded: 0,
    replay_of: null,
    ...overrides,
  };
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
    kind: 'accept',
    dispatch,
    max_concurrent: null,
    claim,
    claiming: 'now',
    state: 'pending',
    now: 1000,
    inbox: false,
    ...overrides,
  };
}

export function makeCoalesce(id: string, key: string, now: number, overrides: Partial<Coalesce> = {}): Coalesce {
  const dispatch = makeDispatch(id, { accepted_at: now });
  return {
    kind: 'coalesce',
    dispatch,
    max_concurrent: null,
    claim: makeClaim(dispatch.delivery_id),
    key,
    limits: { window_ms: 30_000, max_wait_ms: 300_000 },
    now,
    ...overrides,
  };
}
