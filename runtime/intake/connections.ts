/**
 * Limits the open connections of the public server, in total and for each client, so that no client can exclude the others.
 *
 * A connection is idle while none of its requests is being answered, and also before its first headers are complete. At a
 * limit, the connection that has been idle longest is closed; when none is idle, the new one is. For a trusted proxy, whose
 * connections carry requests of many clients, requests are counted instead.
 */
import type { Socket } from 'node:net';
import type { NetworkPlan } from '../../schemas/generated/types.ts';
import type { IntakeRequest } from './body.ts';
import { clientOf, isLocal, plainAddress, TrustedProxies } from './client-address.ts';

export interface ConnectionLimits {
  readonly maxConnections: number;
  readonly maxPerAddress: number;
  readonly trustedProxies: readonly NetworkPlan[];
}

interface Connection {
  readonly socket: Socket;
  /** The client for which it is counted; null for a proxy, or this machine. */
  readonly client: string | null;
  readonly trusted: boolean;
  /** Requests that are not answered yet. */
  active: number;
}

export class Connections {
  private limits: ConnectionLimits = { maxConnections: 1, maxPerAddress: 1, trustedProxies: [] };
  private proxies = new TrustedProxies([]);
  private readonly onDrop: () => void;
  private readonly open = new Map<Socket, Connection>();
  /** In the order in which they became idle. */
  private readonly idle = new Set<Connection>();
  /** Number of connections of each client, or of requests behind a proxy. */
  private readonly counts = new Map<string, number>();

  /** @param onDrop called for each connection that is closed because there are too many */
  constructor(onDrop: () => void) {
    this.onDrop = onDrop;
  }

  /** Sets the limits; connections that are open keep their count. */
  configure(limits: ConnectionLimits): void {
    this.limits = limits;
    this.proxies = new TrustedProxies(limits.trustedProxies);
  }

  /** Number of open connections. */
  get size(): number {
    return this.open.size;
  }

  add(socket: Socket): void {
    const address = plainAddress(socket.remoteAddress ?? '');
    const trusted = this.proxies.has(address);
    const client = trusted || isLocal(address) ? null : clientOf(address);
    const connection: Connection = { socket, client, trusted, active: 0 };
    this.open.set(socket, connection);
    this.idle.add(connection);
    socket.once('close', () => this.remove(connection));
    if (client !== null && this.count(client, 1) > this.limits.maxPerAddress) this.closeIdle(client);
    if (this.open.size > this.limits.maxConnections) this.closeIdle(null);
  }

  /** Counts a request; false when its client has too many. Call `end` in both cases. */
  begin(request: IntakeRequest): boolean {
    const connection = this.open.get(request.socket);
    if (connection === undefined) return true;
    if (connection.active === 0) this.idle.delete(connection);
    connection.active++;
    if (!connection.trusted) return true;
    const client = this.proxies.clientIn(request.headers['x-forwarded-for']);
    if (client === null) return true;
    request.client = client;
    return this.count(client, 1) <= this.limits.maxPerAddress;
  }

  end(request: IntakeRequest): void {
    if (request.client !== null) this.count(request.client, -1);
    request.client = null;
    const connection = this.open.get(request.socket);
    if (connection === undefined) return;
    connection.active--;
    if (connection.active === 0) this.idle.add(connection);
  }

  /** Closes the connection that has been idle longest, of one client or of all; the newest only when there is no other. */
  private closeIdle(client: string | null): void {
    for (const connection of this.idle) {
      if (client !== null && connection.client !== client) continue;
      this.remove(connection);
      connection.socket.destroy();
      this.onDrop();
      return;
    }
  }

  /** Idempotent. */
  private remove(connection: Connection): void {
    if (!this.open.delete(connection.socket)) return;
    this.idle.delete(connection);
    if (connection.client !== null) this.count(connection.client, -1);
  }

  private count(client: string, by: 1 | -1): number {
    const now = (this.counts.get(client) ?? 0) + by;
    if (now <= 0) this.counts.delete(client);
    else this.counts.set(client, now);
    return now;
  }
}
