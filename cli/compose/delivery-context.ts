/** What deliveries need from the world, made for this process. */
import type { Clock } from '../../runtime/clock.ts';
import type { DeliveryContext } from '../../runtime/deliver/driver.ts';
import { TokenCache } from '../../runtime/deliver/http/token-cache.ts';
import { createHttpPool } from '../../runtime/deliver/http-pool.ts';
import { createPace } from '../../runtime/deliver/pace.ts';
import type { Logger } from '../../runtime/log.ts';
import type { RunProcess } from '../../runtime/process/run-process.ts';
import { profileHome } from '../profiles/profile-home.ts';

/** A message is held back at most so long for a target's pace, in ms; then its run makes room. */
const LONGEST_HOLD_MS = 5000;

export interface DeliveryParts {
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly run: RunProcess;
}

/** `close` cuts the connections of the pool. */
export function createDeliveryContext({ home, env, clock, log, run }: DeliveryParts): {
  readonly context: DeliveryContext;
  readonly close: () => Promise<void>;
} {
  const dispatcher = createHttpPool();
  const context: DeliveryContext = {
    ...{ env, clock, log, dispatcher, runProcess: run },
    pace: createPace({ clock, longestHoldMs: LONGEST_HOLD_MS }),
    tokens: new TokenCache(clock),
    homeOf: (profile) => profileHome(home, profile),
  };
  return { context, close: () => dispatcher.destroy() };
}
