/**
 * Keep-alive HTTP/1.1 load over raw sockets: one request at a time on each connection, nothing allocated per request.
 * The client costs less than any server under test, so that the server is measured.
 */
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { performance } from 'node:perf_hooks';
import { percentile } from './stats.ts';

/** One request shape; `{id}` in a header value is replaced by a unique id for each request. */
export interface LoadTarget {
  readonly port: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface LoadPlan extends LoadTarget {
  readonly connections: number;
  readonly requests: number;
  /** The round ends after this time even when requests are left, in ms. */
  readonly max_ms: number;
  /** First id: ids of one run do not repeat. */
  readonly first_id: number;
}

export interface LoadResult {
  readonly requests: number;
  readonly seconds: number;
  /** Requests per second. */
  readonly rate: number;
  /** Latency in ms. */
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  readonly statuses: Readonly<Record<string, number>>;
  /** Connections that broke during a request. */
  readonly broken: number;
}

const ID_DIGITS = 12;
const PLACEHOLDER = '0'.repeat(ID_DIGITS);
const HEADER_END = Buffer.from('\r\n\r\n');

/** A whole request, as it goes over the wire. */
export function requestBytes(target: LoadTarget): Buffer {
  const body = Buffer.from(target.body);
  const lines = [
    `POST ${target.path} HTTP/1.1`,
    `host: 127.0.0.1:${target.port}`,
    ...Object.entries(target.headers).map(([name, value]) => `${name}: ${value.replace('{id}', PLACEHOLDER)}`),
    `content-length: ${body.length}`,
  ];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), body]);
}

/** The offset of the id in the bytes, or -1 when every request is the same. */
export function idOffset(target: LoadTarget, bytes: Buffer): number {
  const carries = Object.values(target.headers).some((value) => value.includes('{id}'));
  return carries ? bytes.indexOf(PLACEHOLDER) : -1;
}

/** Gives a request its id. @param offset from `idOffset` */
export function writeId(bytes: Buffer, offset: number, id: number): void {
  if (offset >= 0) bytes.write(String(id).padStart(ID_DIGITS, '0'), offset, 'latin1');
}

/** The shared state of the connections of one run. */
class Run {
  readonly latencies: Float64Array;
  readonly statuses = new Map<number, number>();
  readonly deadline: number;
  done = 0;
  broken = 0;
  #started = 0;
  readonly #plan: LoadPlan;

  constructor(plan: LoadPlan) {
    this.#plan = plan;
    this.latencies = new Float64Array(plan.requests);
    this.deadline = performance.now() + plan.max_ms;
  }

  /** The id of the next request, or -1 when there is none. */
  next(now: number): number {
    if (this.#started >= this.#plan.requests || now > this.deadline) return -1;
    return this.#plan.first_id + this.#started++;
  }

  answered(status: number, ms: number): void {
    this.latencies[this.done++] = ms;
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
  }
}

/** The status and the length in bytes of the response at the start of `data`; null while it is incomplete. */
export function parseAnswer(data: Buffer): { readonly status: number; readonly length: number } | null {
  const end = data.indexOf(HEADER_END);
  if (end < 0) return null;
  const head = data.toString('latin1', 0, end);
  const length = /\r\ncontent-length: *(\d+)/i.exec(head);
  const total = end + HEADER_END.length + Number(length?.[1] ?? 0);
  return data.length < total ? null : { status: Number(head.slice(9, 12)), length: total };
}

/** Sends requests on one connection until there are no more. */
function drive(run: Run, target: LoadTarget): Promise<void> {
  return new Promise((resolve, reject) => {
    const bytes = requestBytes(target);
    const offset = idOffset(target, bytes);
    let sent = 0;
    let waiting = false;
    let data: Buffer = Buffer.alloc(0);
    const socket: Socket = connect({ port: target.port, host: '127.0.0.1', noDelay: true });
    const send = (): void => {
      const now = performance.now();
      const id = run.next(now);
      waiting = id >= 0;
      if (!waiting) {
        socket.end();
        return;
      }
      // The buffer is free again: the response to its last use has arrived.
      writeId(bytes, offset, id);
      sent = now;
      socket.write(bytes);
    };
    socket.on('connect', send);
    socket.on('data', (chunk) => {
      data = data.length === 0 ? chunk : Buffer.concat([data, chunk]);
      const answer = parseAnswer(data);
      if (answer === null) return;
      data = data.subarray(answer.length);
      run.answered(answer.status, performance.now() - sent);
      send();
    });
    socket.on('error', (error) => (waiting || sent > 0 ? undefined : reject(error)));
    socket.on('close', () => {
      if (waiting) run.broken++;
      resolve();
    });
  });
}

export async function load(plan: LoadPlan): Promise<LoadResult> {
  const run = new Run(plan);
  const started = performance.now();
  await Promise.all(Array.from({ length: plan.connections }, () => drive(run, plan)));
  const seconds = (performance.now() - started) / 1000;
  const sorted = run.latencies.subarray(0, run.done).sort();
  return {
    requests: run.done,
    seconds,
    rate: run.done / seconds,
    p50: percentile(sorted, 0.5),
    p99: percentile(sorted, 0.99),
    max: percentile(sorted, 1),
    statuses: Object.fromEntries(run.statuses),
    broken: run.broken,
  };
}
