/** A dispatcher whose dependencies a test controls. */

import type { DeliveryOutcome, DeliveryRequest } from '../../runtime/deliver/deliverer.ts';
import type { AgentRequest, AgentRunner, RunReport } from '../../runtime/dispatch/agent-runner.ts';
import type { DispatchContext } from '../../runtime/dispatch/context.ts';
import { createDispatcher } from '../../runtime/dispatch/create-dispatcher.ts';
import type { Claim, DispatchService } from '../../runtime/dispatch/dispatcher.ts';
import { createIds } from '../../runtime/platform/ids.ts';
import type { StoredDispatch } from '../../runtime/store/queries.ts';
import type { ShownState } from '../../runtime/store/states.ts';
import { FakeClock } from './fake-clock.ts';
import type { LogLine } from './log.ts';
import { recordLog } from './log.ts';
import type { MemoryStore } from './memory-store.ts';
import { createMemoryStore } from './memory-store.ts';

export interface DispatchBench {
  readonly service: DispatchService;
  readonly clock: FakeClock;
  readonly store: MemoryStore;
  readonly lines: readonly LogLine[];
  /** The prompts of the agent, in order. */
  readonly runs: AgentRequest[];
  readonly deliveries: DeliveryRequest[];
}

export interface BenchOptions {
  readonly store?: MemoryStore;
  readonly clock?: FakeClock;
  readonly agent?: AgentRunner['run'];
  readonly deliver?: (request: DeliveryRequest) => DeliveryOutcome | Promise<DeliveryOutcome>;
  readonly max_attempts?: number;
  readonly timeout_ms?: number;
  readonly context?: Partial<DispatchContext>;
}

export const sentOk = (sent = 1): DeliveryOutcome => ({ kind: 'ok', message_id: 'm1', sent });

export const notSent = (
  kind: 'permanent' | 'retry' | 'ambiguous' | 'superseded',
  overrides: Partial<Exclude<DeliveryOutcome, { kind: 'ok' }>> = {},
): DeliveryOutcome => ({
  ...{ kind, reason: `${kind} reason`, retry_after_ms: null, idempotent: false, attempted: true, sent: 0 },
  ...overrides,
});

export function dispatchBench(options: BenchOptions = {}): DispatchBench {
  const clock = options.clock ?? new FakeClock();
  const store = options.store ?? createMemoryStore();
  const { lines, ...log } = recordLog();
  const runs: AgentRequest[] = [];
  const deliveries: DeliveryRequest[] = [];
  const agent = {
    timeout_ms: options.timeout_ms ?? 900_000,
    max_attempts: options.max_attempts ?? 1,
    run(request: AgentRequest, report?: RunReport): Promise<string> {
      runs.push(request);
      return options.agent?.(request, report) ?? Promise.resolve(`answer to ${request.prompt}`);
    },
  };
  const service = createDispatcher({
    store,
    clock,
    log,
    agents: () => agent,
    deliverer: {
      isImmediate: () => false,
      isEnabled: () => true,
      refusal: () => null,
      deliver(request) {
        deliveries.push(request);
        return Promise.resolve(options.deliver?.(request) ?? sentOk());
      },
    },
    policy: () => ({ max_attempts: 8, at_most_once: false }),
    limits: () => ({ max_concurrent_runs: 4, max_queued_runs: 100 }),
    random: () => 0.5,
    ids: createIds((size) => Buffer.alloc(size, 7)),
    ...options.context,
  });
  return { service, clock, store, lines, runs, deliveries };
}

export function claimOf(delivery_id: string, overrides: Partial<Claim> = {}): Claim {
  return { profile: 'default', route: 'alerts', delivery_id, generated: false, ttl_ms: 3_600_000, ...overrides };
}

/** A promise and the ways to settle it. */
export function deferred<T>(): { promise: Promise<T>; resolve: (value: T) => void; reject: (error: unknown) => void } {
  let resolve: (value: T) => void = () => {};
  let reject: (error: unknown) => void = () => {};
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}

/** All stored data of a dispatch. */
export function storedIn(store: MemoryStore, id: string): StoredDispatch | null {
  const found = store.look({ kind: 'find', id });
  return found.kind === 'found' ? found.dispatch : null;
}

export const stateOf = (store: MemoryStore, id: string): ShownState | undefined => storedIn(store, id)?.state;

/** Dispatches of all routes in a state. */
export function count(store: MemoryStore, state: ShownState | 'accepted' | 'removed'): number {
  return store.look({ kind: 'overview', now: 0 }).tallies.reduce((sum, tally) => sum + tally[state], 0);
}

/** True if a repeat of the event would be rejected before its script runs. */
export async function isDone(service: DispatchService, claim: Claim): Promise<boolean> {
  return (await service.refuseRepeat(claim))?.kind === 'duplicate';
}
