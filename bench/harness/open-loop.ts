/**
 * Open-loop HTTP/1.1 load: requests fall due by the clock, independently of earlier responses. A latency is measured
 * from the instant at which its request was due. So a stall of the server counts for all requests that fell due during
 * it.
 */
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { performance } from 'node:perf_hooks';
import type { LoadTarget } from './load.ts';
import { idOffset, parseAnswer, requestBytes, writeId } from './load.ts';

export interface Phase {
  /** Requests per second. */
  readonly rate: number;
  readonly seconds: number;
}

export interface OpenLoopPlan extends LoadTarget {
  /** Phases run one after the other, without a pause. */
  readonly phases: readonly Phase[];
  readonly first_id: number;
  /** Connections at once; a request that is due beyond them waits for one, and its latency grows. */
  readonly most_connections: number;
  /** How long to wait for responses after the last request was due, in ms. */
  readonly patience_ms: number;
}

/** One entry for each request, in the order in which they were due; times in ms. */
export interface OpenLoopResult {
  /** Since the start. */
  readonly due: readonly number[];
  /** From due to response. */
  readonly latency: readonly number[];
  /** HTTP status, or `BROKEN` or `UNANSWERED`. */
  readonly status: readonly number[];
  /** From due to sent: the delay of the load generator itself. */
  readonly late: readonly number[];
}

/** The connection ended before the response. */
export const BROKEN = 0;
export const UNANSWERED = -1;

/** When each request is due, in ms since the start: evenly over each phase. */
export function dueTimes(phases: readonly Phase[]): number[] {
  const due: number[] = [];
  let start = 0;
  for (const { rate, seconds } of phases) {
    for (let n = 0; n < Math.round(rate * seconds); n++) due.push(start + (n * 1000) / rate);
    start += seconds * 1000;
  }
  return due;
}

/** A connection that stays open for the next request. */
interface Line {
  send(index: number): void;
}

class OpenLoop {
  readonly #plan: OpenLoopPlan;
  readonly #due: readonly number[];
  readonly #latency: number[];
  readonly #status: number[];
  readonly #late: number[];
  readonly #sockets = new Set<Socket>();
  readonly #idle: Line[] = [];
  /** Requests that are due and have no free connection. */
  readonly #waiting: number[] = [];
  readonly #started = performance.now();
  #next = 0;
  #open = 0;
  #done: () => void = () => {};

  constructor(plan: OpenLoopPlan) {
    this.#plan = plan;
    this.#due = dueTimes(plan.phases);
    this.#latency = this.#due.map(() => 0);
    this.#status = this.#due.map(() => UNANSWERED);
    this.#late = this.#due.map(() => 0);
  }

  async run(): Promise<OpenLoopResult> {
    const ended = new Promise<void>((resolve) => {
      this.#done = resolve;
    });
    this.#tick();
    await ended;
    for (const [index, status] of this.#status.entries()) {
      if (status === UNANSWERED) this.#latency[index] = this.#now() - (this.#due[index] ?? 0);
    }
    for (const socket of this.#sockets) socket.destroy();
    return { due: this.#due, latency: this.#latency, status: this.#status, late: this.#late };
  }

  #now(): number {
    return performance.now() - this.#started;
  }

  #tick(): void {
    const now = this.#now();
    while ((this.#due[this.#next] ?? Number.POSITIVE_INFINITY) <= now) this.#start(this.#next++);
    const next = this.#due[this.#next];
    if (next !== undefined) setTimeout(() => this.#tick(), Math.max(0, next - this.#now()));
    else if (this.#open === 0) this.#done();
    else setTimeout(() => this.#done(), this.#plan.patience_ms).unref();
  }

  #start(index: number): void {
    this.#open++;
    const line = this.#idle.pop();
    if (line !== undefined) line.send(index);
    else if (this.#sockets.size < this.#plan.most_connections) this.#connect(index);
    else this.#waiting.push(index);
  }

  #answered(index: number, status: number): void {
    this.#status[index] = status;
    this.#latency[index] = this.#now() - (this.#due[index] ?? 0);
    if (--this.#open === 0 && this.#next === this.#due.length) this.#done();
  }

  #connect(first: number): void {
    const bytes = requestBytes(this.#plan);
    const offset = idOffset(this.#plan, bytes);
    const socket = connect({ port: this.#plan.port, host: '127.0.0.1', noDelay: true });
    this.#sockets.add(socket);
    let current = -1;
    let data: Buffer = Buffer.alloc(0);
    const line: Line = {
      send: (index) => {
        current = index;
        // The buffer is free again: the response to its last use has arrived.
        writeId(bytes, offset, this.#plan.first_id + index);
        this.#late[index] = this.#now() - (this.#due[index] ?? 0);
        socket.write(bytes);
      },
    };
    const free = (): void => {
      const waiting = this.#waiting.shift();
      if (waiting !== undefined) line.send(waiting);
      else this.#idle.push(line);
    };
    line.send(first);
    socket.on('data', (chunk) => {
      data = data.length === 0 ? chunk : Buffer.concat([data, chunk]);
      const answer = parseAnswer(data);
      if (answer === null) return;
      data = data.subarray(answer.length);
      const index = current;
      current = -1;
      this.#answered(index, answer.status);
      if (socket.writable) free();
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      this.#sockets.delete(socket);
      const at = this.#idle.indexOf(line);
      if (at >= 0) this.#idle.splice(at, 1);
      if (current >= 0) this.#answered(current, BROKEN);
      const waiting = this.#waiting.shift();
      if (waiting !== undefined) this.#connect(waiting);
    });
  }
}

export const openLoop = (plan: OpenLoopPlan): Promise<OpenLoopResult> => new OpenLoop(plan).run();
