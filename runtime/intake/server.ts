/** The public HTTP/1.1 server: listens, bounds what a slow or lying client can hold, and hands requests over. */
import type { Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo, Server as NetServer, Socket } from 'node:net';
import type { IntakeRequest as Request } from './body.ts';
import { IntakeRequest } from './body.ts';
import type { Connections } from './connections.ts';
import type { Reply } from './reply.ts';
import { HEADERS_TOO_LARGE, MALFORMED_REQUEST, REQUEST_TIMEOUT } from './reply.ts';

/** Times in ms. */
export interface ServerLimits {
  /** From the first byte to the last header. */
  readonly headersTimeoutMs: number;
  /** From the first byte to the last of the body. */
  readonly requestTimeoutMs: number;
  /** Between two requests of one connection; longer than the usual 60 s of a proxy, which must not find it closed. */
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

/**
 * What may wait in a stream, in bytes: as much as one read brings. A body that came with its headers would otherwise stop
 * the reading of its connection, and start it again.
 */
const READ_BYTES = 65_536;

/** The server cannot listen, and what to do about it. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
}

export type HandleRequest = (request: Request, response: ServerResponse) => void;

export class IntakeServer {
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
      // Answered by the handler, in JSON like everything else.
      requireHostHeader: false,
    });
    // By default the 2001st header and those behind it are dropped without a word: bytes are limited, and that is enough.
    server.maxHeadersCount = 0;
    server.on('connection', (socket) => connections.add(socket));
    server.on('request', handle);
    server.on('checkContinue', (request: Request, response: ServerResponse) => {
      request.awaitsContinue = true;
      handle(request, response);
    });
    // An unknown expectation is ignored: the request is one like any other.
    server.on('checkExpectation', handle);
    server.on('clientError', onClientError);
    this.server = server;
  }

  /** @throws ListenError when the address cannot be bound. */
  listen(host: string, port: number): Promise<AddressInfo> {
    return listenOn(this.server, host, port);
  }

  /** Stops listening; connections without a request are closed at once, the others after their answer. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      this.server.close(() => resolve());
      this.server.closeIdleConnections();
    });
  }

  /** Cuts what is still open. */
  abort(): void {
    this.server.closeAllConnections();
  }
}

/** @throws (as a rejection) ListenError when the address cannot be bound. */
export function listenOn(server: NetServer, host: string, port: number): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException): void => reject(new ListenError(explain(error, host, port)));
    server.once('error', onError);
    server.listen(port, host === '' ? undefined : host, () => {
      server.off('error', onError);
      resolve(server.address() as AddressInfo);
    });
  });
}

export const urlOf = ({ address, port, family }: AddressInfo): string =>
  `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;

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

/** Input that is not a valid request: the response says what is wrong, and the connection ends. */
const CLIENT_ERRORS: Readonly<Record<string, Reply>> = {
  HPE_HEADER_OVERFLOW: HEADERS_TOO_LARGE,
  ERR_HTTP_REQUEST_TIMEOUT: REQUEST_TIMEOUT,
};

const REASONS: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
};

function onClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  // After a reset there is no reader; in the middle of a response a second one would be read as part of it.
  if (error.code === 'ECONNRESET' || !socket.writable || socket.bytesWritten > 0) {
    socket.destroy();
    return;
  }
  const { status, headers, body } = CLIENT_ERRORS[error.code ?? ''] ?? MALFORMED_REQUEST;
  const lines = [`HTTP/1.1 ${status} ${REASONS[status]}`, 'Connection: close'];
  for (let index = 0; index < headers.length; index += 2) lines.push(`${headers[index]}: ${headers[index + 1]}`);
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}
