/**
 * Connections of this process to targets and agents, and tokens exchanged for credentials, which are cached until shortly
 * before they expire.
 */
import type { lookup } from 'node:dns';
import type { buildConnector, Dispatcher } from 'undici';
import type { Clock } from '../platform/clock.ts';

/** Connections per host: enough for a busy target, few enough not to look like an attack. */
const CONNECTIONS = 64;

const CONNECT = { timeout: 10_000 };

export interface HttpConnections {
  open(): Promise<Dispatcher>;
  /** Connections to public addresses only; others fail with the code NOT_PUBLIC. */
  publicOnly(): HttpConnections;
}

/**
 * Keeps connections alive and never follows redirects. undici is loaded at the first use: it takes as long to load as the rest
 * of a gateway.
 */
export class HttpPool implements HttpConnections {
  private readonly lookup: typeof lookup | undefined;
  private opened: Promise<Dispatcher> | null = null;
  private openedPublic: Promise<Dispatcher> | null = null;

  /** @param resolve resolves hosts that must be public; default: the system's resolver */
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

  async destroy(): Promise<void> {
    await Promise.all([this.opened, this.openedPublic].map(async (agent) => (await agent)?.destroy()));
  }
}

async function openAgent(connect: buildConnector.BuildOptions | buildConnector.connector): Promise<Dispatcher> {
  const { Agent } = await import('undici');
  return new Agent({
    connections: CONNECTIONS,
    // No pipelining: after a failure it would be unknown which requests the server received.
    pipelining: 1,
    connect,
    keepAliveTimeout: 4_000,
  });
}

/** A token, or why there is none. Without a token, nothing was sent to the target. */
export type TokenResult =
  | {
      readonly kind: 'token';
      readonly token: string /** How long it can be used, in ms. */;
      readonly usable_ms: number;
    }
  | {
      readonly kind: 'permanent' | 'retry';
      readonly reason: string;
      readonly retry_after_ms: number | null;
      /** The installation that the token is for no longer exists. */
      readonly gone?: true;
    };

const MAX_TOKENS = 5000;

export class TokenCache {
  private readonly clock: Clock;
  private readonly kept = new Map<string, { readonly token: string; readonly until: number }>();
  private readonly underWay = new Map<string, Promise<TokenResult>>();

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** The cached token, or a new one. @param key identifies the credentials and their server */
  get(key: string, exchange: () => Promise<TokenResult>): Promise<TokenResult> {
    const pooled = this.kept.get(key);
    const left = pooled === undefined ? 0 : pooled.until - this.clock.monotonic();
    if (pooled !== undefined && left > 0) {
      return Promise.resolve({ kind: 'token', token: pooled.token, usable_ms: left });
    }
    return this.underWay.get(key) ?? this.exchange(key, exchange);
  }

  /** Drops a rejected token, but not a newer one that another delivery has fetched. */
  drop(token: string): void {
    for (const [key, pooled] of this.kept) if (pooled.token === token) this.kept.delete(key);
  }

  private exchange(key: string, exchange: () => Promise<TokenResult>): Promise<TokenResult> {
    const running = exchange()
      .then((result) => {
        if (result.kind === 'token') {
          const [oldest] = this.kept.keys();
          if (oldest !== undefined && this.kept.size >= MAX_TOKENS) this.kept.delete(oldest);
          this.kept.set(key, { token: result.token, until: this.clock.monotonic() + result.usable_ms });
        }
        return result;
      })
      .finally(() => this.underWay.delete(key));
    this.underWay.set(key, running);
    return running;
  }
}
