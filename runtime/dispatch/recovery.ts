/**
 * Takes up, after a start, what the last process left behind, and what other processes put into the store meanwhile.
 * Works in slices, so that a hundred thousand waiting dispatches do not keep the server from answering.
 */
import type { Ref } from '../store/mutations.ts';
import type { OpenDispatch, Store } from '../store/store.ts';
import { untilReady } from './backoff.ts';
import type { DispatchContext } from './context.ts';
import type { DeliveryLoop } from './delivery-loop.ts';
import type { GroupTimers } from './group-timers.ts';
import type { Persister } from './persist.ts';
import type { RunLoop } from './run-loop.ts';

export interface RecoveryParts {
  readonly context: DispatchContext;
  readonly persister: Persister;
  readonly runs: RunLoop;
  readonly deliveries: DeliveryLoop;
  readonly groups: GroupTimers;
  /** Dispatches that this process works on already. */
  readonly known: Set<Ref>;
}

const SLICE = 200;

/** Takes up everything unfinished up to `last` that this process does not work on already; answers how many. */
export async function recover(parts: RecoveryParts, last: Ref, stopped: () => boolean): Promise<number> {
  let found = watchGroups(parts, last);
  for (let after = 0; !stopped(); ) {
    const slice = parts.context.store.open(after, SLICE).filter(({ ref }) => ref <= last);
    for (const open of slice) if (await takeUp(parts, open)) found++;
    after = slice.at(-1)?.ref ?? after;
    if (slice.length < SLICE) break;
    await new Promise((resolve) => setImmediate(resolve));
  }
  return found;
}

/** Takes up what another process has put into the store beside us. */
export async function emptyInbox(parts: RecoveryParts): Promise<void> {
  const { store } = parts.context;
  for (let refs = store.inbox(SLICE); refs.length > 0; refs = store.inbox(SLICE)) {
    for (const ref of refs) {
      const open = store.openOne(ref);
      if (open !== null) await takeUp(parts, open);
    }
    await parts.persister.write({ kind: 'take_inbox', refs });
  }
}

/** Puts one stored dispatch where it was: into the queue of runs, or on its way. False: it is there already. */
export async function takeUp(parts: RecoveryParts, open: OpenDispatch): Promise<boolean> {
  const { context, persister, runs, deliveries, known } = parts;
  const { ref, state } = open;
  if (known.has(ref)) return false;
  known.add(ref);
  if (state === 'delivering') {
    if (await isUnanswered(context.store, open)) await giveUp(parts, ref);
    else deliveries.resume(ref);
    return true;
  }
  if (state === 'running') await interrupted(context, persister, ref);
  runs.submit({ ...open, dispatch: null }, untilReady(open.ready_at, context.clock.now()));
  return true;
}

function watchGroups({ context, groups, known }: RecoveryParts, last: Ref): number {
  const unknown = context.store.groups().filter(({ ref }) => ref <= last && !known.has(ref));
  for (const group of unknown) {
    known.add(group.ref);
    const { ref, profile, route, key, due_at, max_wait_ms, max_concurrent } = group;
    groups.watch({ key, due_at, max_wait_ms, work: { ref, profile, route, max_concurrent, dispatch: null } });
  }
  return unknown.length;
}

/** The run was cut off by the end of its process, which is nothing against it. */
async function interrupted({ store, clock }: DispatchContext, persister: Persister, ref: Ref): Promise<void> {
  const at = clock.now();
  const started_at = store.load(ref)?.started_at ?? at;
  const reason = 'the gateway ended while it was running';
  const rest = { next_at: null, sent: 0, message_id: null };
  const steps = [{ kind: 'run', index: null, outcome: 'interrupted', started_at, at, reason, ...rest }] as const;
  await persister.write({ kind: 'advance', ref, to: 'pending', at, steps });
}

/** A direct delivery whose sender never got an answer. A replay of one has no sender that waits. */
async function isUnanswered(store: Store, { ref, mode }: OpenDispatch): Promise<boolean> {
  return mode === 'direct' && store.load(ref)?.replay_of === null;
}

/** Its sender was told nothing and may come again, with an id that is still free. */
async function giveUp({ context, persister, known }: RecoveryParts, ref: Ref): Promise<void> {
  const stored = context.store.load(ref);
  if (stored === null) return;
  const reason = 'the gateway ended before the delivery was answered: it may have arrived';
  await persister.write({ kind: 'advance', ref, to: 'dead', at: context.clock.now(), reason });
  context.observer?.finished?.(stored, 'dead', reason);
  known.delete(ref);
}
