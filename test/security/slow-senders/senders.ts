/**
 * A process of slow senders: many connections with complete headers, whose bodies arrive very slowly. Closed connections are
 * reopened. Argument: JSON of `SlowSenders`. Ends with its parent.
 */
import type { Socket } from 'node:net';
import { connect } from 'node:net';

export interface SlowSenders {
  readonly port: number;
  readonly path: string;
  readonly count: number;
  /** Number of addresses they come from: 127.0.0.2 and on. */
  readonly addresses: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Of each body. */
  readonly bytesPerSecond: number;
  /** Between the end of a connection and the next, in ms. */
  readonly pauseMs: number;
}

const PIECES_PER_SECOND = 2;

function send(plan: SlowSenders, index: number): void {
  const localAddress = `127.0.0.${2 + (index % plan.addresses)}`;
  const socket: Socket = connect({ port: plan.port, host: '127.0.0.1', localAddress });
  const lines = Object.entries({ host: 'x', 'content-length': '1000000', ...plan.headers });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  socket.write(`POST ${plan.path} HTTP/1.1\r\n${head}\r\n`);
  const piece = 'x'.repeat(plan.bytesPerSecond / PIECES_PER_SECOND);
  const timer = setInterval(() => socket.write(piece), 1000 / PIECES_PER_SECOND);
  socket.on('error', () => {});
  socket.resume();
  socket.once('close', () => {
    clearInterval(timer);
    setTimeout(() => send(plan, index), plan.pauseMs);
  });
}

const plan: SlowSenders = JSON.parse(process.argv[2] ?? '');
process.on('disconnect', () => process.exit());
for (let index = 0; index < plan.count; index++) setTimeout(() => send(plan, index), index);
