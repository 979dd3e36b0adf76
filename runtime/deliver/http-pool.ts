/** The connections of this process to targets and agents. */
import type { lookup } from 'node:dns';
import type { buildConnector, Dispatcher } from 'undici';

/** Connections per host: enough to keep a busy target busy, few enough not to look like an attack. */
const CONNECTIONS = 64;

const CONNECT = { timeout: 10_000 };

/** Opened at its first use. */
export interface HttpConnections {
  open(): Promise<Dispatcher>;
  /** Those to public addresses; others fail with the code NOT_PUBLIC. */
  publicOnly(): HttpConnections;
}

/** Keeps connections alive; never follows redirects. Made at its first use: undici alone takes as long to load as the rest of a gateway. */
export class HttpPool implements HttpConnections {
  private readonly lookup: typeof lookup | undefined;
  private opened: Promise<Dispatcher> | null = null;
  private openedPublic: Promise<Dispatcher> | null = null;

  /** @param resolve finds the addresses of hosts that have to be public; default: the system does */
  constructor(resolve?: typeof lookup) {
    this.lookup = resolve;
  }

  open(): Promise<Dispatcher> {
    this.opened ??= openAgent(CONNECT);
    return this.opened;
  }

  publicOnly(): HttpConnections {
    const opening = async (): Promise<Dispatcher> => {
      const { publicConnector } = await import('./public-connector.ts');
      return openAgent(publicConnector(CONNECT, this.lookup));
    };
    const connections: HttpConnections = {
      open: () => (this.openedPublic ??= opening()),
      publicOnly: () => connections,
    };
    return connections;
  }

  /** Closes all connections. */
  async destroy(): Promise<void> {
    await Promise.all([this.opened, this.openedPublic].map(async (agent) => (await agent)?.destroy()));
  }
}

async function openAgent(connect: buildConnector.BuildOptions | buildConnector.connector): Promise<Dispatcher> {
  const { Agent } = await import('undici');
  return new Agent({
    connections: CONNECTIONS,
    // No pipelining: after a failure it would be unknown which requests were received.
    pipelining: 1,
    connect,
    keepAliveTimeout: 4_000,
  });
}
