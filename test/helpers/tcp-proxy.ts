/** A TCP proxy that makes the network fail: cuts one direction or both silently, delays, rejects, resets. */
import type { Server, Socket } from 'node:net';
import { connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Ending } from './at-end.ts';
import { atEnd } from './at-end.ts';

/** `up`: from client to server. */
export type Direction = 'up' | 'down';

interface Link {
  readonly client: Socket;
  readonly server: Socket;
}

export class TcpProxy {
  private readonly links = new Set<Link>();
  private readonly silenced = new Set<Direction>();
  private readonly listener: Server;
  private delayMs = 0;
  private refuses = false;

  constructor(target: { readonly host: string; readonly port: number }) {
    this.listener = createServer((client) => {
      if (this.refuses) client.resetAndDestroy();
      else this.link(client, connect(target.port, target.host));
    });
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve, reject) =>
      this.listener.once('error', reject).listen(0, '127.0.0.1', () => resolve()),
    );
  }

  get port(): number {
    const address = this.listener.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  /** The same URL through this proxy. */
  via(url: string): string {
    const other = new URL(url);
    other.hostname = '127.0.0.1';
    other.port = String(this.port);
    return other.href;
  }

  get connections(): number {
    return this.links.size;
  }

  /**
   * Nothing more arrives in these directions, and neither side is notified, as with an unplugged cable; also for new
   * connections.
   */
  cut(...directions: readonly Direction[]): void {
    for (const direction of directions.length > 0 ? directions : (['up', 'down'] as const))
      this.silenced.add(direction);
    for (const link of this.links) this.apply(link);
  }

  /** The cut bytes arrive, as TCP retransmits them. New connections are accepted. */
  heal(): void {
    this.silenced.clear();
    this.refuses = false;
    for (const link of this.links) this.apply(link);
  }

  /** Resets every connection, and each new one. */
  refuse(): void {
    this.refuses = true;
    this.reset();
  }

  /** Resets every connection; new ones are accepted. */
  reset(): void {
    for (const { client, server } of this.links) {
      client.resetAndDestroy();
      server.resetAndDestroy();
    }
  }

  /** Each piece arrives this many ms later, in both directions. */
  delay(ms: number): void {
    this.delayMs = ms;
  }

  async close(): Promise<void> {
    this.reset();
    await new Promise<void>((resolve) => this.listener.close(() => resolve()));
  }

  private link(client: Socket, server: Socket): void {
    const link: Link = { client, server };
    this.links.add(link);
    this.forward(client, server);
    this.forward(server, client);
    for (const socket of [client, server]) {
      socket.setNoDelay(true).on('error', () => {});
      // A cut direction keeps its socket open until it is healed.
      socket.once('close', () => client.destroyed && server.destroyed && this.links.delete(link));
    }
    this.apply(link);
  }

  /** Pieces stay in order, even behind those that were delayed before the delay was changed. */
  private forward(from: Socket, to: Socket): void {
    let waiting = 0;
    let last: Promise<unknown> = Promise.resolve();
    const soon = (send: () => void): void => {
      if (this.delayMs === 0 && waiting === 0) {
        send();
        return;
      }
      waiting++;
      last = Promise.all([last, sleep(this.delayMs)]).then(() => {
        waiting--;
        send();
      });
    };
    from.on('data', (piece) => soon(() => to.writable && to.write(piece)));
    from.once('end', () => soon(() => to.end()));
    from.once('close', (failed) => failed && to.resetAndDestroy());
  }

  private apply({ client, server }: Link): void {
    for (const [direction, from] of [['up', client] as const, ['down', server] as const]) {
      if (this.silenced.has(direction)) from.pause();
      else from.resume();
    }
  }
}

/** @param url of the server behind it */
export async function startTcpProxy(t: Ending, url: string): Promise<TcpProxy> {
  const { hostname, port } = new URL(url);
  const proxy = new TcpProxy({ host: hostname, port: Number(port) });
  await proxy.listen();
  atEnd(t, () => proxy.close());
  return proxy;
}
