/** Resources that deliveries of this process share: connections to targets and agents, and exchanged tokens. */
import { profileHome } from '../../base/names.ts';
import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/log.ts';
import type { RunProcess } from '../platform/process/run-process.ts';
import type { DeliveryContext } from './deliverer.ts';
import { HttpPool, TokenCache } from './http-pool.ts';
import { createPace } from './pace.ts';

/** Maximum time a message is delayed for a target's pace, in ms; after a longer wait it returns to the queue. */
const LONGEST_HOLD_MS = 5000;

export interface DeliveryParts extends Pick<DeliveryContext, 'modules'> {
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly run: RunProcess;
}

export function createDeliveryContext({ modules, home, env, clock, log, run }: DeliveryParts): {
  readonly context: DeliveryContext;
  /** Used for every request of targets and agents. */
  readonly http: HttpPool;
  readonly close: () => Promise<void>;
} {
  const http = new HttpPool();
  const context: DeliveryContext = {
    modules,
    env,
    clock,
    log,
    http,
    runProcess: run,
    pace: createPace({ clock, longestHoldMs: LONGEST_HOLD_MS }),
    tokens: new TokenCache(clock),
    homeOf: (profile) => profileHome(home, profile),
  };
  return { context, http, close: () => http.destroy() };
}
