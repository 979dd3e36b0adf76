/**
 * Limits the open connections of a server, in total and for each client, so that no client can exclude the others.
 *
 *     opened ──> waiting ── verify ──> at work ── end of all requests ──> waiting
 *                  └─ begin, of another request: waiting from now
 *
 * A connection waits while it is idle, while its headers are incomplete, and while the body of its request is not verified.
 * At a limit, the connection that has waited longest gives way; the new one only when there is no other. For a trusted proxy,
 * whose connections carry requests of many clients, requests are counted instead.
 *
 * A connection with too many requests that are not answered yet is closed: one read can bring more than a thousand, which
 * would be handled before the next connection is read.
 */
import type { Socket } from 'node:net';
import type { NetworkPlan } from '../../schemas/generated/types.ts';
import type { IntakeRequest } from './body.ts';
import { clientOf, isLocal, plainAddress, TrustedProxies } from './client-address.ts';
import { replyText, retryLater } from './reply.ts';

export interface ConnectionLimits {
  readonly maxConnections: number;
  readonly maxPerAddress: number;
  readonly trustedProxies: readonly NetworkPlan[];
}

export interface ConnectionEvents {
  /** A connection was closed because there are too many. */
  readonly onDrop?: () => void;
  /** A request came from this machine with `X-Forwarded-For`, and no proxy is trusted. */
  readonly onUnknownProxy?: () => void;
}

/** Most requests of a connection that are not answered yet; senders of webhooks, and proxies, have one. */
const MAX_UNANSWERED = 16;

const GIVES_WAY = replyText(retryLater('overloaded', 5));

interface Connection {
  readonly socket: Socket;
  /** The client for which it is counted; null for a proxy, or this machine. */
  readonly client: string | null;
  readonly trusted: boolean;
  /** The request that is waiting for its answer, the latest of several. */
  request: IntakeRequest | null;
  /** Requests that are not answered yet, and those of them that are verified. */
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
  /** In the order in which they began to wait. */
  private readonly waiting = new Set<Connection>();
  /** Number of connections of each client, or of requests behind a proxy. */
  private readonly counts = new Map<string, number>();

  constructor(events: ConnectionEvents = {}) {
    this.events = events;
  }

  /** Sets the limits; connections that are open keep their count. */
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

  /** Counts a request; false when its client has too many, all of them verified. Call `end` in both cases. */
  begin(request: IntakeRequest): boolean {
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

  /** Whether it came through a proxy of `trusted_proxies`, so that its forwarding headers count. */
  trusts(request: IntakeRequest): boolean {
    return this.open.get(request.socket)?.trusted ?? false;
  }

  /** From now on the connection does not give way, until the request is answered. Call it once for a request. */
  verify(request: IntakeRequest): void {
    const connection = this.open.get(request.socket);
    if (connection === undefined) return;
    request.verified = true;
    connection.verified++;
    this.waiting.delete(connection);
  }

  end(request: IntakeRequest): void {
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

  /** Closes the connection that has waited longest, of one client or of all; false when there is none but `own`. */
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

  /** Closes at once, with an answer to a sender whose body is being read: a proxy counts a bare close as a failure. */
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
