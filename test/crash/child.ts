/** The process that is killed: a dispatcher over a real store, with an agent and targets that record their effects. */
import { randomBytes } from 'node:crypto';
import { appendFileSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { DeliveryOutcome, DeliveryRequest } from '../../runtime/deliver/deliverer.ts';
import { createDispatcher } from '../../runtime/dispatch/create-dispatcher.ts';
import type { Checkpoint, Claim, DispatchService } from '../../runtime/dispatch/dispatcher.ts';
import { createIds } from '../../runtime/platform/ids.ts';
import type { Store } from '../../runtime/store/contract.ts';
import type { CommitPoint } from '../../runtime/store/sqlite/writer.ts';
import { makeDispatch } from '../helpers/dispatches.ts';
import { FastClock } from '../helpers/fast-clock.ts';
import { silentLog } from '../helpers/log.ts';
import { seededRandom } from '../helpers/seeded-random.ts';
import { openCrashStore } from './open-store.ts';
import type { ChildOptions, CrashEvent, Effect, FromChild, ToChild } from './protocol.ts';
import { SENT } from './protocol.ts';

/**
 * The clock runs this much faster since the first process of the home started, because only the order of events is
 * tested.
 */
const HURRY = 100;
/** A direct delivery waits for its record: an earlier response, on a busy machine, would promise nothing. */
const PATIENCE_MS = 300_000 * HURRY;
/** Longer than any test, so that a repeat is always recognised. */
const REMEMBERED_MS = 1e7 * HURRY;

const options = JSON.parse(process.argv[2] ?? '') as ChildOptions;
const clock = new FastClock(options.startedAt + (Date.now() - options.startedAt) * HURRY);
clock.rush(HURRY);
const random = seededRandom(options.seed);

/** Written synchronously: a kill right after it changes nothing. */
function say(message: FromChild): void {
  let rest = Buffer.from(`${JSON.stringify(message)}\n`);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(1, rest));
    } catch (error) {
      // The pipe is full: its reader is busy.
      if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) throw error;
    }
  }
}
const leave = (effect: Effect): void =>
  appendFileSync(join(options.home, 'effects.log'), `${JSON.stringify(effect)}\n`);

let reached = 0;
function reach(point: Checkpoint | `commit.${CommitPoint}`): void {
  if (point === options.kill?.point && ++reached === options.kill.nth) process.kill(process.pid, 'SIGKILL');
}

/** Never delivers the same target twice for one key, as a server with idempotency keys does. */
function deliver({ target, key, route, delivery_id: own, text }: DeliveryRequest): DeliveryOutcome {
  const delivery_id = route === 'run_failed' ? (/, (\S+)(?:: |\n```\n)hookwright/.exec(text)?.[1] ?? own) : own;
  const fault = random() < options.faults;
  const failed = { reason: 'fault', retry_after_ms: null, attempted: true, sent: 0 };
  if (target === 'plain' || target === 'immediate' || target === 'direct') {
    if (fault && target === 'plain') return { kind: 'retry', idempotent: false, ...failed };
    leave({ kind: target, id: delivery_id });
    return { kind: 'ok', message_id: null, sent: 1 };
  }
  // The mark is the message, made in one step, so that no kill can separate the message from its mark.
  writeFileSync(join(options.home, `${SENT}${key}=${delivery_id}`), '');
  return fault ? { kind: 'ambiguous', idempotent: true, ...failed } : { kind: 'ok', message_id: null, sent: 1 };
}

let last = 0;
function dispatchOf({ id, mode }: CrashEvent) {
  const targets = { direct: ['direct', 'idempotent'], immediate: ['immediate'] }[mode as string] ?? [
    'idempotent',
    'plain',
  ];
  const deliveries = targets.map((target) => ({ target, extra: {}, unresolved: [] }));
  return makeDispatch(`${clock.now()}-${process.pid}-${String(last++).padStart(6, '0')}`, {
    ...{ mode: mode === 'direct' || mode === 'message' ? mode : 'agent', delivery_id: id, accepted_at: clock.now() },
    ...(mode === 'failing' ? { deliveries: [], on_failure: deliveries.slice(0, 1) } : { deliveries }),
  });
}

async function take(service: DispatchService, event: CrashEvent): Promise<void> {
  const dispatch = dispatchOf(event);
  const { profile, delivery_id } = dispatch;
  const claim: Claim = { profile, route: 'alerts', delivery_id, generated: false, ttl_ms: REMEMBERED_MS };
  const group = { key: event.key, window_ms: 3000, max_wait_ms: 20_000 };
  const answer = {
    agent: () => service.accept(dispatch, claim, null),
    failing: () => service.accept(dispatch, claim, null),
    immediate: () => service.accept(dispatch, claim, null),
    message: () => service.accept(dispatch, claim, null),
    coalesce: () => service.coalesce(dispatch, claim, group, null),
    direct: () => service.deliver(dispatch, claim, 1_000_000),
  }[event.mode]();
  say({ kind: 'answer', id: event.id, status: (await answer).kind });
}

async function isDone(store: Store): Promise<boolean> {
  const { tallies } = await store.read({ kind: 'overview', now: clock.now() });
  return tallies.every(({ pending, running, delivering }) => pending + running + delivering === 0);
}

const store = await openCrashStore(options, reach);
const service = createDispatcher({
  ...{ store, clock, log: silentLog, random, ids: createIds(randomBytes), observer: { reached: reach } },
  agents: () => ({
    timeout_ms: 1e7,
    max_attempts: 1,
    async run({ delivery_id }) {
      leave({ kind: 'run', id: delivery_id });
      if (delivery_id.startsWith('failing')) throw new Error('no');
      return `answer to ${delivery_id}`;
    },
  }),
  deliverer: {
    deliver: async (request) => deliver(request),
    isImmediate: (_, target) => target === 'immediate',
    isEnabled: () => true,
    refusal: () => null,
  },
  policy: () => ({ max_attempts: 50, at_most_once: false }),
  limits: () => ({ max_concurrent_runs: 8, max_queued_runs: 100_000 }),
  record_patience_ms: PATIENCE_MS,
});

async function finish(): Promise<void> {
  while (!(await isDone(store))) await new Promise((resolve) => setTimeout(resolve, 10));
  await service.stop(0);
  await store.close();
  say({ kind: 'finished' });
  process.exit(0);
}

void service.start();
say({ kind: 'ready' });

createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line) as ToChild;
  if (message.kind === 'event') {
    void take(service, message.event);
    return;
  }
  void finish();
});
