/** The load generator of `npm run bench -- open-loop` leaves nothing out that a sender would have waited for. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { describe, it } from 'node:test';
import type { OpenLoopPlan } from '../../bench/harness/open-loop.ts';
import { dueTimes, openLoop } from '../../bench/harness/open-loop.ts';
import { figuresOf, normalAfter } from '../../bench/harness/open-loop-figures.ts';

async function planFor(t: TestContext, answer: (n: number) => { status: number; afterMs: number }) {
  let count = 0;
  const server = createServer((request, response) => {
    request.resume();
    const { status, afterMs } = answer(count++);
    const timer = setTimeout(
      () => (status === 0 ? request.socket.destroy() : response.writeHead(status, { 'content-length': 2 }).end('{}')),
      afterMs,
    );
    // No request waits for the end of the longest.
    timer.unref();
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  t.after(() => server.close().closeAllConnections());
  const plan: OpenLoopPlan = {
    ...{ port: (server.address() as AddressInfo).port, path: '/', headers: { 'x-id': '{id}' }, body: '{}' },
    ...{ phases: [{ rate: 200, seconds: 0.5 }], first_id: 1, most_connections: 1000, patience_ms: 2000 },
  };
  return plan;
}

describe('open loop', () => {
  it('has requests due evenly, phase after phase', () => {
    const phases = [
      { rate: 2, seconds: 1 },
      { rate: 4, seconds: 0.5 },
    ];
    assert.deepEqual(dueTimes(phases), [0, 500, 1000, 1250]);
  });

  it('charges a stall to all requests that arrive during it', async (t) => {
    let first = 0;
    // Nothing is answered before 300 ms have passed since the first request.
    const stalled = () => {
      first ||= performance.now();
      return { status: 202, afterMs: Math.max(0, first + 300 - performance.now()) };
    };
    const { latency, due } = await openLoop({ ...(await planFor(t, stalled)), patience_ms: 30_000 });
    assert.equal(due.length, 100);
    const early = latency.filter((_, index) => (due[index] ?? 0) < 150);
    assert.equal(early.length, 30);
    assert.ok(Math.min(...early) > 100, `${Math.min(...early)} ms`);
  });

  it('charges the wait for a connection, too', async (t) => {
    const plan = await planFor(t, () => ({ status: 202, afterMs: 20 }));
    const { latency } = await openLoop({ ...plan, most_connections: 1, patience_ms: 30_000 });
    // One connection takes fifty a second of the two hundred.
    assert.ok((latency.at(-1) ?? 0) > 1000, `${latency.at(-1)} ms`);
  });

  it('counts refused, broken and unanswered requests by what became of them', async (t) => {
    const answers = [
      { status: 202, afterMs: 0 },
      { status: 503, afterMs: 0 },
      { status: 0, afterMs: 0 },
      { status: 202, afterMs: 60_000 },
    ];
    const plan = await planFor(t, (n) => answers[n % 4] ?? { status: 500, afterMs: 0 });
    const result = await openLoop(plan);
    const { statuses } = figuresOf(result);
    const counts = Object.fromEntries([...statuses].map(([name, { count }]) => [name, count]));
    assert.deepEqual(counts, { 202: 25, 503: 25, broken: 25, unanswered: 25 });
  });

  it('says when all is normal again', () => {
    const due = Array.from({ length: 100 }, (_, n) => n * 10);
    const late = due.map(() => 0);
    const all = (slowUntil: number) => ({
      due,
      late,
      status: due.map(() => 202),
      latency: due.map((at) => (at < slowUntil ? 90 : 5)),
    });
    assert.equal(normalAfter(all(0), 0, 50), 0);
    assert.equal(normalAfter(all(450), 0, 50), 600);
    assert.equal(normalAfter({ ...all(0), status: due.map((at) => (at === 300 ? 503 : 202)) }, 100, 50), 400);
  });
});
