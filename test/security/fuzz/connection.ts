/** Connections of the fuzz harness: one that is reused for many requests, and one for bytes that need not be a request. */
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import type { RawAnswer } from './answers.ts';
import { readAnswer } from './answers.ts';

/** Address: a port of 127.0.0.1, or the path of a socket. */
export type Peer = number | string;

const open = (peer: Peer): Socket => (typeof peer === 'number' ? connect(peer, '127.0.0.1') : connect(peer));

/** After a response and this many ms without another, the client has everything. */
const QUIET_MS = 80;

/** Sends pieces, each in a separate turn, and reads until the other side closes or is silent. */
export function exchange(peer: Peer, pieces: readonly Buffer[], endAfter: boolean): Promise<Buffer> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const socket = open(peer);
    let quiet: NodeJS.Timeout | undefined;
    socket.on('data', (chunk) => {
      chunks.push(chunk);
      clearTimeout(quiet);
      quiet = setTimeout(() => socket.end(), QUIET_MS);
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      clearTimeout(quiet);
      resolve(Buffer.concat(chunks));
    });
    socket.on('connect', () => {
      socket.setNoDelay(true);
      const send = (index: number): void => {
        const piece = pieces[index];
        if (piece === undefined) {
          if (endAfter) socket.end();
        } else if (socket.writable) {
          socket.write(piece);
          setImmediate(send, index + 1);
        }
      };
      send(0);
    });
  });
}

/** One connection for many whole requests, reopened after the server has closed it. */
export class KeptConnection {
  private readonly peer: Peer;
  private socket: Socket | null = null;
  private received = Buffer.alloc(0);
  private wake: () => void = () => {};

  constructor(peer: Peer) {
    this.peer = peer;
  }

  /** The response to one whole request; null if the server closed without one. */
  async send(request: Buffer, toHead = false): Promise<RawAnswer | null> {
    const socket = this.connected();
    socket.write(request);
    for (;;) {
      const read = readAnswer(this.received, toHead);
      if (read !== null) {
        this.received = Buffer.from(read.rest);
        if (read.answer.status === 100) continue;
        if (read.answer.headers.get('connection') === 'close') this.close();
        return read.answer;
      }
      if (socket.destroyed || socket.readableEnded) {
        this.close();
        return null;
      }
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }

  close(): void {
    this.socket?.destroy();
    this.socket = null;
    this.received = Buffer.alloc(0);
  }

  private connected(): Socket {
    if (this.socket !== null && !this.socket.destroyed) return this.socket;
    this.received = Buffer.alloc(0);
    const socket = open(this.peer);
    socket.setNoDelay(true);
    socket.on('data', (chunk) => {
      if (socket !== this.socket) return;
      this.received = Buffer.concat([this.received, chunk]);
      this.wake();
    });
    for (const event of ['error', 'end', 'close']) socket.on(event, () => socket === this.socket && this.wake());
    this.socket = socket;
    return socket;
  }
}
