/**
 * An HTTP/1.1 server that limits the resources of slow or hostile clients. Used for the public server, the console and the
 * control socket.
 */
import { once } from 'node:events';
import type { Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo, Server as NetServer, Socket } from 'node:net';
import { listenUrl } from '../../base/net.ts';
import type { NetworkPlan } from '../../schemas/generated/types.ts';
import { clientOf, isLocal, plainAddress, TrustedProxies } from './client.ts';
import type { Reply } from './reply.ts';
import { HEADERS_TOO_LARGE, MALFORMED_REQUEST, REQUEST_TIMEOUT, replyText, retryLater } from './reply.ts';
import { IntakeRequest as Request } from './unverified-bodies.ts';

/**
 * An address of the HTTP server.
 *
 * @example
 * ```ts
 * import type { ListenAddress } from 'hookwright/runtime';
 *
 * const anyPort: ListenAddress = { host: '127.0.0.1', port: 0 };
 * ```
 */
export interface ListenAddress {
  /** Name or IP address; empty: all addresses of the machine. */
  readonly host: string;
  /** TCP port, 0 to 65535; 0: a free one. */
  readonly port: number;
}

/** Times in ms. */
export interface ServerLimits {
  /** From the first byte to the last header. */
  readonly headersTimeoutMs: number;
  /** From the first byte to the last of the body. */
  readonly requestTimeoutMs: number;
  /** Between two requests of a connection; longer than the usual 60 s of proxies, so that they close it first. */
  readonly keepAliveMs: number;
  /** How often the first two are checked. */
  readonly checkEveryMs: number;
  readonly maxHeaderBytes: number;
}

export const SERVER_LIMITS: ServerLimits = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 60_000,
  keepAliveMs: 65_000,
  checkEveryMs: 2000,
  maxHeaderBytes: 16_384,
};

/** For clients on this machine or next to it. Their requests are small: complete after a second, or never. */
export const LOCAL_LIMITS: ServerLimits = {
  headersTimeoutMs: 1000,
  requestTimeoutMs: 1000,
  keepAliveMs: 5000,
  checkEveryMs: 200,
  maxHeaderBytes: 16_384,
};

/**
 * Connections that the kernel completes before the server accepts them. A flood must not delay other clients by a
 * retransmission.
 */
const BACKLOG = 4096;

/**
 * Buffer size of a stream: the size of one read. With a smaller one, a body that arrives with its headers would pause and
 * resume the reading of its connection.
 */
const READ_BYTES = 65_536;

/**
 * `Service.listen` cannot bind the address: it is in use, not allowed, or not on this machine. The message says what to do.
 *
 * @example
 * ```ts
 * import type { Service } from 'hookwright/runtime';
 * import { ListenError } from 'hookwright/runtime';
 *
 * async function listen(service: Service): Promise<string> {
 *   try {
 *     return (await service.listen({ port: 8644 })).url;
 *   } catch (error) {
 *     if (error instanceof ListenError) return (await service.listen({ port: 0 })).url;
 *     throw error;
 *   }
 * }
 * ```
 */
export class ListenError extends Error {
  override readonly name = 'ListenError';
}

export type HandleRequest = (request: Request, response: ServerResponse) => void;

export class BoundedServer {
  private readonly server: Server<typeof Request>;

  constructor(handle: HandleRequest, limits: ServerLimits, connections: Connections) {
    const server = createServer({
      IncomingMessage: Request,
      connectionsCheckingInterval: limits.checkEveryMs,
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      keepAliveTimeout: limits.keepAliveMs,
      maxHeaderSize: limits.maxHeaderBytes,
      noDelay: true,
      highWaterMark: READ_BYTES,
      // The handler rejects it, with JSON like all other errors.
      requireHostHeader: false,
    });
    // By default, headers after the 2000th are silently dropped. The limit in bytes suffices.
    server.maxHeadersCount = 0;
    server.on('connection', (socket) => connections.add(socket));
    // After a close, the parser still emits the other requests of the same read.
    const serve: HandleRequest = (request, response) => {
      if (!request.socket.destroyed) handle(request, response);
    };
    server.on('request', serve);
    server.on('checkContinue', (request: Request, response: ServerResponse) => {
      request.awaitsContinue = true;
      serve(request, response);
    });
    // An unknown expectation is ignored.
    server.on('checkExpectation', serve);
    server.on('clientError', onClientError);
    this.server = server;
  }

  /** Rejects with ListenError when the address cannot be bound. */
  listen(host: string, port: number): Promise<AddressInfo> {
    return listenOn(this.server, host, port);
  }

  /** Listens on a Unix socket. */
  async listenLocally(path: string): Promise<void> {
    this.server.listen({ path, backlog: BACKLOG });
    await once(this.server, 'listening');
  }

  /** Stops listening. Idle connections are closed immediately, the others after their response. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      this.server.close(() => resolve());
      this.server.closeIdleConnections();
    });
  }

  /** Closes all connections. */
  abort(): void {
    this.server.closeAllConnections();
  }
}

/** Listens; resolves to the bound address. Rejects with ListenError when the address cannot be bound. */
async function listenOn(server: NetServer, host: string, port: number): Promise<AddressInfo> {
  server.listen({ port, backlog: BACKLOG, ...(host === '' ? {} : { host }) });
  try {
    await once(server, 'listening');
  } catch (error) {
    throw new ListenError(explain(error as NodeJS.ErrnoException, host, port));
  }
  return server.address() as AddressInfo;
}

export const urlOf = ({ address, port }: AddressInfo): string => listenUrl(address, port);

function explain(error: NodeJS.ErrnoException, host: string, port: number): string {
  const place = `${host === '' ? '*' : host}:${port}`;
  switch (error.code) {
    case 'EADDRINUSE':
      return `${place} is in use: stop the program that listens there, or choose another port`;
    case 'EACCES':
      return `this user may not use ${place}: choose a port above 1023`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `${place}: "${host}" is not an address of this machine`;
    default:
      return `${place}: ${error.message}`;
  }
}

/** Replies to input that is not a valid request; the connection is closed. */
const CLIENT_ERRORS: Readonly<Record<string, Reply>> = {
  HPE_HEADER_OVERFLOW: HEADERS_TOO_LARGE,
  ERR_HTTP_REQUEST_TIMEOUT: REQUEST_TIMEOUT,
};

function onClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  // After a reset no one can read a reply; during a response it would be read as part of that response.
  if (error.code === 'ECONNRESET' || !socket.writable || socket.bytesWritten > 0) {
    socket.destroy();
    return;
  }
  socket.end(replyText(CLIENT_ERRORS[error.code ?? ''] ?? MALFORMED_REQUEST), () => socket.destroy());
}

/*
 * Limits the open connections of a server, in total and for each client, so that no client can exclude the others.
 *
 *     opened ──> waiting ── verify ──> at work ── end of all requests ──> waiting
 *                  └─ begin, of another request: waiting from now
 *
 * A connection waits while it is idle, while its headers are incomplete, and while the body of its request is not verified.
 * At a limit, the connection that has waited longest is closed; the new one only if no other waits. A trusted proxy carries
 * requests of many clients over its connections, so its requests are counted instead.
 *
 * A connection with too many unanswered requests is closed: one read can contain more than a thousand, which would be
 * handled before the next connection is read.
 */

interface ConnectionLimits {
  readonly maxConnections: number;
  readonly maxPerAddress: number;
  readonly trustedProxies: readonly NetworkPlan[];
}

interface ConnectionEvents {
  /** Called when a connection was closed because there are too many. */
  readonly onDrop?: () => void;
  /** Called when a request from this machine has `X-Forwarded-For`, but no proxy is trusted. */
  readonly onUnknownProxy?: () => void;
}

/** Maximum number of unanswered requests of a connection; senders of webhooks, and proxies, have one. */
const MAX_UNANSWERED = 16;

const GIVES_WAY = replyText(retryLater('overloaded', 5));

interface Connection {
  readonly socket: Socket;
  /** The client that it counts for; null for a proxy, or this machine. */
  readonly client: string | null;
  readonly trusted: boolean;
  /** The request that waits for its response, the latest of several. */
  request: Request | null;
  /** Unanswered requests, and the verified ones among them. */
  active: number;
  verified: number;
}

export class Connections {
  /** Number of connections since the start. */
  accepted = 0;
  private limits: ConnectionLimits = { maxConnections: 1, maxPerAddress: 1, trustedProxies: [] };
  private proxies = new TrustedProxies([]);
  private readonly events: ConnectionEvents;
  private readonly open = new Map<Socket, Connection>();
  /** In the order in which they started to wait. */
  private readonly waiting = new Set<Connection>();
  /** Number of connections of each client, or of requests behind a proxy. */
  private readonly counts = new Map<string, number>();

  constructor(events: ConnectionEvents = {}) {
    this.events = events;
  }

  /** Sets the limits; open connections keep their count. */
  configure(limits: ConnectionLimits): void {
    this.limits = limits;
    this.proxies = new TrustedProxies(limits.trustedProxies);
  }

  /** Share of the connections that are open, 0 to 1. */
  get fullness(): number {
    return Math.min(1, this.open.size / this.limits.maxConnections);
  }

  add(socket: Socket): void {
    this.accepted++;
    const address = plainAddress(socket.remoteAddress ?? '');
    const trusted = this.proxies.has(address);
    // A Unix socket has no address.
    const client = trusted || address === '' || isLocal(address) ? null : clientOf(address);
    const connection: Connection = { socket, client, trusted, request: null, active: 0, verified: 0 };
    this.open.set(socket, connection);
    this.waiting.add(connection);
    socket.once('close', () => this.remove(connection));
    if (client !== null && this.count(client, 1) > this.limits.maxPerAddress) this.closeOldest(client, null);
    if (this.open.size > this.limits.maxConnections) this.closeOldest(null, null);
  }

  /** Counts a request; false if its client has too many, all of them verified. Call `end` in both cases. */
  begin(request: Request): boolean {
    const connection = this.open.get(request.socket);
    if (connection === undefined) return true;
    connection.active++;
    if (connection.active > MAX_UNANSWERED) {
      this.remove(connection);
      connection.socket.destroy();
      return true;
    }
    connection.request = request;
    if (this.waiting.delete(connection)) this.waiting.add(connection);
    const forwarded = request.headers['x-forwarded-for'];
    if (!connection.trusted) {
      const isUnknownProxy = forwarded !== undefined && connection.client === null;
      if (isUnknownProxy && this.limits.trustedProxies.length === 0) this.events.onUnknownProxy?.();
      return true;
    }
    request.client = this.proxies.clientIn(forwarded);
    if (request.client === null || this.count(request.client, 1) <= this.limits.maxPerAddress) return true;
    return this.closeOldest(request.client, connection);
  }

  /** True if the request came through a proxy of `trusted_proxies`, so that its forwarding headers count. */
  trusts(request: Request): boolean {
    return this.open.get(request.socket)?.trusted ?? false;
  }

  /** From now on the connection is not closed for others until the request is answered. Call it once for a request. */
  verify(request: Request): void {
    const connection = this.open.get(request.socket);
    if (connection === undefined) return;
    request.verified = true;
    connection.verified++;
    this.waiting.delete(connection);
  }

  end(request: Request): void {
    if (request.client !== null) this.count(request.client, -1);
    request.client = null;
    const connection = this.open.get(request.socket);
    if (connection === undefined) return;
    connection.active--;
    if (request.verified) connection.verified--;
    if (connection.request === request) connection.request = null;
    if (connection.verified > 0) return;
    this.waiting.delete(connection);
    this.waiting.add(connection);
  }

  /** Closes the connection that has waited longest, of one client or of all; false if there is none but `own`. */
  private closeOldest(client: string | null, own: Connection | null): boolean {
    for (const connection of this.waiting) {
      if (connection === own) return false;
      if (client !== null && connection.client !== client && connection.request?.client !== client) continue;
      this.remove(connection);
      this.cutOff(connection);
      this.events.onDrop?.();
      return true;
    }
    return false;
  }

  /** Closes immediately, with a response to a sender whose body is being read: a proxy counts a bare close as a failure. */
  private cutOff({ socket, request, active }: Connection): void {
    if (request !== null && request.reader !== null) {
      if (active === 1 && socket.writableLength === 0) socket.write(GIVES_WAY);
      request.bodies?.fail(request, 'overloaded');
    }
    socket.destroy();
  }

  /** Idempotent. */
  private remove(connection: Connection): void {
    if (!this.open.delete(connection.socket)) return;
    this.waiting.delete(connection);
    if (connection.client !== null) this.count(connection.client, -1);
  }

  private count(client: string, by: 1 | -1): number {
    const now = (this.counts.get(client) ?? 0) + by;
    if (now <= 0) this.counts.delete(client);
    else this.counts.set(client, now);
    return now;
  }
}
