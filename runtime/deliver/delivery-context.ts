/** Creates the context of deliveries for this process. */
import type { Dispatcher } from 'undici';
import { Agent } from 'undici';
import { profileHome } from '../../base/profiles.ts';
import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/log.ts';
import type { RunProcess } from '../platform/process/run-process.ts';
import type { DeliveryContext } from './driver.ts';
import { createPace } from './pace.ts';
import { TokenCache } from './token-cache.ts';

/** Longest time that a message is held back for a target's pace, in ms; a longer wait goes back to the queue. */
const LONGEST_HOLD_MS = 5000;

export interface DeliveryParts {
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly run: RunProcess;
}

/** `close` closes all connections of the pool. */
export function createDeliveryContext({ home, env, clock, log, run }: DeliveryParts): {
  readonly context: DeliveryContext;
  /** Used for every request of targets and agents. */
  readonly dispatcher: Dispatcher;
  readonly close: () => Promise<void>;
} {
  const dispatcher = createHttpPool();
  const context: DeliveryContext = {
    ...{ env, clock, log, dispatcher, runProcess: run },
    pace: createPace({ clock, longestHoldMs: LONGEST_HOLD_MS }),
    tokens: new TokenCache(clock),
    homeOf: (profile) => profileHome(home, profile),
  };
  return { context, dispatcher, close: () => dispatcher.destroy() };
}

/** Connections per host: enough to keep a busy target busy, few enough not to look like an attack. */
const CONNECTIONS = 64;

export function createHttpPool(): Agent {
  return new Agent({
    connections: CONNECTIONS,
    // No pipelining: after a failure it would be unknown which requests were received.
    pipelining: 1,
    connect: { timeout: 10_000 },
    keepAliveTimeout: 4_000,
  });
}
