/**
 * Connections of this process to targets and agents, and tokens exchanged for credentials, which are cached until shortly
 * before they expire.
 */
import type { lookup } from 'node:dns';
import type { Socket } from 'node:net';
import type { buildConnector, Dispatcher } from 'undici';
import type { Clock } from '../platform/clock.ts';

/** Connections per host: enough for a busy target, few enough not to look like an attack. */
const CONNECTIONS = 64;

const CONNECT = { timeout: 10_000 };

/** Maximum bytes that are parsed at once. */
const PIECE = 1024;

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
    this.opened ??= openAgent(async () => (await import('undici')).buildConnector(CONNECT));
    return this.opened;
  }

  publicOnly(): HttpConnections {
    const connector = async () => (await import('./public-connector.ts')).publicConnector(CONNECT, this.lookup);
    const connections: HttpConnections = {
      open: () => (this.openedPublic ??= openAgent(connector)),
      publicOnly: () => connections,
    };
    return connections;
  }

  async destroy(): Promise<void> {
    await Promise.all([this.opened, this.openedPublic].map(async (agent) => (await agent)?.destroy()));
  }
}

async function openAgent(connector: () => Promise<buildConnector.connector>): Promise<Dispatcher> {
  const { Agent } = await import('undici');
  const connect = await connector();
  return new Agent({
    connections: CONNECTIONS,
    // No pipelining: after a failure it would be unknown which requests the server received.
    pipelining: 1,
    connect: (target, callback) =>
      connect(target, (...[error, socket]) =>
        error === null ? callback(null, readInPieces(socket)) : callback(error, null),
      ),
    keepAliveTimeout: 4_000,
    // Bytes of all names and values of a response.
    maxHeaderSize: 16_384,
  });
}

/**
 * undici parses all that has arrived, even after it has closed the connection, and creates an error for each header beyond the
 * limit: thousands in 64 KiB, during which nothing else is done. In small pieces it stops at the first.
 */
function readInPieces(socket: Socket): Socket {
  const read = socket.read.bind(socket);
  socket.read = (size) => (socket.destroyed ? null : read(size ?? (socket.readableLength > PIECE ? PIECE : undefined)));
  return socket;
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
