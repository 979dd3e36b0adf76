/** Latencies of several requests to a server, sent in turns, so that other load on the machine affects all equally. */
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { performance } from 'node:perf_hooks';
import type { LoadTarget } from './load.ts';
import { parseAnswer, requestBytes } from './load.ts';
import { percentile } from './stats.ts';

export interface Latency {
  readonly status: number;
  /** In µs. */
  readonly median: number;
  readonly p99: number;
}

/**
 * Sends every request once a turn, each on its own keep-alive connection. The order changes from turn to turn, so that
 * no request always follows the same one.
 */
export async function interleave(targets: readonly LoadTarget[], turns: number, warmUp: number): Promise<Latency[]> {
  const lines = await Promise.all(targets.map(openLine));
  const taken = targets.map(() => new Float64Array(turns));
  for (let turn = -warmUp; turn < turns; turn++) {
    for (let place = 0; place < lines.length; place++) {
      const at = (place * (turn % 2 === 0 ? 1 : lines.length - 1) + Math.abs(turn)) % lines.length;
      const us = (await lines[at]?.ask()) ?? Number.NaN;
      const latencies = taken[at];
      if (turn >= 0 && latencies !== undefined) latencies[turn] = us;
    }
  }
  for (const line of lines) line.close();
  return taken.map((latencies, at) => {
    const sorted = latencies.sort();
    return { status: lines[at]?.status() ?? 0, median: percentile(sorted, 0.5), p99: percentile(sorted, 0.99) };
  });
}

interface Line {
  /** Sends the request and returns the time until its response, in µs. */
  ask(): Promise<number>;
  /** Status of the last response. */
  status(): number;
  close(): void;
}

function openLine(target: LoadTarget): Promise<Line> {
  const bytes = requestBytes(target);
  return new Promise((resolve, reject) => {
    let data: Buffer = Buffer.alloc(0);
    let status = 0;
    let answered: (us: number) => void = () => {};
    let sent = 0;
    const socket: Socket = connect({ port: target.port, host: '127.0.0.1', noDelay: true });
    const ask = (): Promise<number> =>
      new Promise((done) => {
        answered = done;
        sent = performance.now();
        socket.write(bytes);
      });
    socket.on('data', (chunk) => {
      const now = performance.now();
      data = data.length === 0 ? chunk : Buffer.concat([data, chunk]);
      const answer = parseAnswer(data);
      if (answer === null) return;
      data = data.subarray(answer.length);
      status = answer.status;
      answered((now - sent) * 1000);
    });
    socket.once('error', reject);
    socket.once('connect', () => resolve({ ask, status: () => status, close: () => socket.end() }));
  });
}
