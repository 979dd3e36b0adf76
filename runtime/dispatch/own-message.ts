/** Messages of the gateway itself to operators, and the random values that an installation creates once. */
import { inert } from '../../base/text.ts';
import type {
  DeliveryPlan,
  Dispatch,
  DispatchDelivery,
  DroppedOutput,
  RouteTable,
} from '../../schemas/generated/types.ts';
import type { Ids } from '../platform/ids.ts';
import type { TraceFields } from '../platform/log.ts';
import { traceFieldsOf } from '../platform/log.ts';
import type { Store } from '../store/contract.ts';
import { decodeOr } from '../store/decode.ts';
import { linkDelivery, renderDeliveries } from '../table/link-delivery.ts';
import { createInstallation, isInstallation } from '../table/link-loop.ts';

/** Parts of the request for a message that is sent once, and not stored. */
export const FIRST_ATTEMPT = { sent: 0, first_attempt_at: null, mirror_to_session: false } as const;

/** A message without a route or job, so that its own failure does not raise an alert. */
export function alertMessage(
  ids: Pick<Ids, 'dispatch'>,
  now: number,
  of: Pick<Dispatch, 'profile' | 'event' | 'prompt' | 'deliveries'> & TraceFields,
): Dispatch {
  const id = ids.dispatch(now);
  return {
    ...of,
    id,
    mode: 'message',
    route: null,
    job: null,
    delivery_id: `${of.event}:${id}`,
    accepted_at: now,
    due_at: null,
    agent: null,
    skills: [],
    toolsets: [],
    session: `${of.event}:${id}`,
    mirror_to_session: false,
    superseded: 0,
    replay_of: null,
  };
}

/** The message to `on_failure` about a run that has failed permanently; none if its route or job does not have one. */
export function failureMessage(
  failed: Dispatch,
  reason: string,
  ids: Pick<Ids, 'dispatch'>,
  now: number,
): { readonly message?: Dispatch } {
  const { on_failure: deliveries = [], profile, route, job, event, delivery_id, id } = failed;
  if (deliveries.length === 0) return {};
  const owner = `${job === null ? `route ${route ?? ''}` : `job ${job}`}${profile === 'default' ? '' : ` (profile ${profile})`}`;
  const what = inert(`${event}, ${delivery_id}`);
  const next = `${what.includes('\n') ? `${what}\n` : `${what}: `}hookwright deliveries show ${id}`;
  const prompt = `hookwright: a run of ${owner} failed\n${inert(reason)}\n${next}`;
  const messageParts = { profile, event: 'run_failed', prompt, deliveries, ...traceFieldsOf(failed) };
  return { message: alertMessage(ids, now, messageParts) };
}

/** The receivers of such messages; there is no payload. */
export function renderReceivers(
  plans: readonly DeliveryPlan[],
  { targets }: Pick<RouteTable, 'targets'>,
): DispatchDelivery[] {
  const linked = plans.map((plan) => linkDelivery(plan, { targets, profile: 'default' }));
  return renderDeliveries(linked, null, { event_type: '', route: '', delivery_id: '' });
}

/*
 * Random values that an installation creates once and stores, the same for all its gateways: its id, which the markers
 * of posted texts contain, and the keys of modules.
 */

export type FindInstallation = () => Promise<string>;

type RandomBytes = (size: number) => Buffer;

/**
 * Returns a function that reads the id, or creates it, once. It rejects with StoreUnavailable; the next call retries.
 */
export const findInstallation = (store: Pick<Store, 'read' | 'write'>, randomBytes: RandomBytes): FindInstallation =>
  findStored(store, '', isInstallation, () => createInstallation(randomBytes));

/** The same for another value, by its key. */
export function findStored(
  store: Pick<Store, 'read' | 'write'>,
  key: string,
  isValid: (value: unknown) => value is string,
  create: () => string,
): FindInstallation {
  const row = { kind: 'installation', key } as const;
  let found: Promise<string> | null = null;
  const read = async (): Promise<string> => {
    for (;;) {
      const body = (await store.read({ kind: 'guard_rows', of: row.kind })).find((kept) => kept.key === key)?.body;
      const id = body === undefined ? null : decodeOr<string | null>(body, isValid, null);
      if (id !== null) return id;
      const next = create();
      const change = { expect: body ?? null, body: JSON.stringify(next), expires_at: null, dispatch: null, now: 0 };
      if (await store.write({ kind: 'put_guard', row, ...change })) return next;
    }
  };
  return () => {
    found ??= read().catch((error: unknown) => {
      found = null;
      throw error;
    });
    return found;
  };
}

interface RunOutputs {
  readonly deliveries: readonly DispatchDelivery[];
  readonly dropped: readonly DroppedOutput[];
}

/** The outputs of a run that has failed: valid ones are dropped too. */
export const unsentOutputs = (outputs: RunOutputs | null): readonly DroppedOutput[] => [
  ...(outputs?.dropped ?? []),
  ...(outputs?.deliveries ?? []).map(({ output }) => ({ output: output?.name ?? null, ...UNSENT })),
];

const UNSENT = { line: 0, reason: 'run_failed', detail: 'valid, but its run has failed' } as const;

/** Why an attempt failed, and the names of the outputs that were dropped with it. */
export function withUnsentNames(reason: string, outputs: RunOutputs | null): string {
  const names = new Set(unsentOutputs(outputs).map(({ output }) => output ?? 'a line'));
  return names.size === 0 ? reason : `${reason}; outputs dropped: ${[...names].join(', ')}`;
}
