/** The connections of this process to targets and agents. */
import type { Dispatcher } from 'undici';

/** Connections per host: enough to keep a busy target busy, few enough not to look like an attack. */
const CONNECTIONS = 64;

/** Keeps connections alive; never follows redirects. Made at its first use: undici alone takes as long to load as the rest of a gateway. */
export class HttpPool {
  private opened: Promise<Dispatcher> | null = null;

  open(): Promise<Dispatcher> {
    this.opened ??= openAgent();
    return this.opened;
  }

  /** Closes all connections. */
  async destroy(): Promise<void> {
    await (await this.opened)?.destroy();
  }
}

async function openAgent(): Promise<Dispatcher> {
  const { Agent } = await import('undici');
  return new Agent({
    connections: CONNECTIONS,
    // No pipelining: after a failure it would be unknown which requests were received.
    pipelining: 1,
    connect: { timeout: 10_000 },
    keepAliveTimeout: 4_000,
  });
}
