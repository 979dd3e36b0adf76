/** An HTTP/1.1 server that limits the resources of slow or hostile clients: the public one, the console, the control socket. */
import { once } from 'node:events';
import type { Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo, Server as NetServer, Socket } from 'node:net';
import { listenUrl } from '../../base/listen-address.ts';
import type { IntakeRequest as Request } from './body.ts';
import { IntakeRequest } from './body.ts';
import type { Connections } from './connections.ts';
import type { Reply } from './reply.ts';
import { HEADERS_TOO_LARGE, MALFORMED_REQUEST, REQUEST_TIMEOUT, replyText } from './reply.ts';

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

/** For clients on this machine or next to it, whose requests are small: a request is complete after a second, or never. */
export const LOCAL_LIMITS: ServerLimits = {
  headersTimeoutMs: 1000,
  requestTimeoutMs: 1000,
  keepAliveMs: 5000,
  checkEveryMs: 200,
  maxHeaderBytes: 16_384,
};

/** Connections that the kernel completes before the server accepts them: a flood must not delay others by a retransmission. */
const BACKLOG = 4096;

/**
 * Bytes that a stream may buffer: the size of one read. Otherwise a body that arrives with its headers would pause and
 * resume the reading of its connection.
 */
const READ_BYTES = 65_536;

/**
 * `Service.listen` cannot bind the address: it is in use, not allowed, or not of this machine. The message says what to do.
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
  private readonly server: Server<typeof IntakeRequest>;

  constructor(handle: HandleRequest, limits: ServerLimits, connections: Connections) {
    const server = createServer({
      IncomingMessage: IntakeRequest,
      connectionsCheckingInterval: limits.checkEveryMs,
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      keepAliveTimeout: limits.keepAliveMs,
      maxHeaderSize: limits.maxHeaderBytes,
      noDelay: true,
      highWaterMark: READ_BYTES,
      // The handler refuses it, with JSON like all other refusals.
      requireHostHeader: false,
    });
    // By default headers after the 2000th are silently dropped. The limit in bytes suffices.
    server.maxHeadersCount = 0;
    server.on('connection', (socket) => connections.add(socket));
    // After a close, the parser still brings the other requests of the same read.
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

  /** Stops listening. Idle connections are closed at once, the others after their answer. */
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
      return `${place} may not be used by this user: choose a port above 1023`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `${place}: "${host}" is no address of this machine`;
    default:
      return `${place}: ${error.message}`;
  }
}

/** Answers to input that is not a valid request; the connection is closed. */
const CLIENT_ERRORS: Readonly<Record<string, Reply>> = {
  HPE_HEADER_OVERFLOW: HEADERS_TOO_LARGE,
  ERR_HTTP_REQUEST_TIMEOUT: REQUEST_TIMEOUT,
};

function onClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  // After a reset nobody can read an answer; during a response it would be read as part of that one.
  if (error.code === 'ECONNRESET' || !socket.writable || socket.bytesWritten > 0) {
    socket.destroy();
    return;
  }
  socket.end(replyText(CLIENT_ERRORS[error.code ?? ''] ?? MALFORMED_REQUEST), () => socket.destroy());
}
