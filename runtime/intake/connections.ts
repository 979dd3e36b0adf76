/**
 * Bounds the open connections of the public server, in all and for each client, so that no client shuts the others out.
 *
 * A connection is idle while no request of it is being answered, also while its first headers are still coming. At a bound,
 * the one that has been idle longest gives way to the new one; when none is idle, the new one is closed. Of a trusted proxy,
 * whose connections carry the requests of many clients, the requests are counted instead.
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
  /** The client it counts against; null: a proxy, or this machine. */
  readonly client: string | null;
  readonly trusted: boolean;
  /** Requests on their way. */
  active: number;
}

export class Connections {
  private limits: ConnectionLimits = { maxConnections: 1, maxPerAddress: 1, trustedProxies: [] };
  private proxies = new TrustedProxies([]);
  private readonly onDrop: () => void;
  private readonly open = new Map<Socket, Connection>();
  /** In the order in which they became idle. */
  private readonly idle = new Set<Connection>();
  /** Connections, and behind a proxy requests, by client. */
  private readonly counts = new Map<string, number>();

  /** @param onDrop called for each connection that is closed because there are too many */
  constructor(onDrop: () => void) {
    this.onDrop = onDrop;
  }

  /** Counts from now on; what is open already stays as it was counted. */
  configure(limits: ConnectionLimits): void {
    this.limits = limits;
    this.proxies = new TrustedProxies(limits.trustedProxies);
  }

  /** Open ones. */
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

  /** A request begins; false when its client has too many on their way. Ended by `end` either way. */
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

  /** Closes the oldest idle connection of one client, or of all; the newest only when there is no other. */
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
