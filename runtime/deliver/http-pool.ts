/** The keep-alive connection pool that all HTTP deliveries share. */
import { Agent } from 'undici';

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
