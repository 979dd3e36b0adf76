/** Log lines of the gateway about things that recur with many requests: each is limited in number. */
import type { Services } from './intake/intake.ts';
import type { Clock } from './platform/clock.ts';
import type { Logger } from './platform/log.ts';

/** Warns once for each route and scheme that the scheme is deprecated (§9.1). */
export function createDeprecationWarner(log: Logger): Services['warnDeprecated'] {
  const warned = new Set<string>();
  return ({ plan, deprecated }, scheme) => {
    const reason = deprecated.get(scheme);
    const key = `${plan.profile}/${plan.name}/${scheme}`;
    if (reason === undefined || warned.has(key)) return;
    warned.add(key);
    log.warn({ route: plan.name, scheme, reason }, 'deprecated signature scheme');
  };
}

/** Least time between two warnings about connections, in ms. */
const DROP_QUIET_MS = 60_000;

/** Warns at most once a minute that connections are closed because there are too many. */
export function createDropWarner({ log, clock }: { readonly log: Logger; readonly clock: Clock }): () => void {
  let quietUntil = Number.NEGATIVE_INFINITY;
  return () => {
    const now = clock.monotonic();
    if (now < quietUntil) return;
    quietUntil = now + DROP_QUIET_MS;
    log.warn(
      {},
      'too many connections: the oldest idle ones are closed (max_connections, max_connections_per_address)',
    );
  };
}
