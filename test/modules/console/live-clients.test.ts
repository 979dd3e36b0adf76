/** Clients of the live stream: fast ones, slow ones, and the end of their time. */
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { Writable } from 'node:stream';
import { describe, it } from 'node:test';
import { LiveEvents } from '../../../modules/console/runtime/live.ts';
import { silentLog } from '../../../runtime/platform/log.ts';
import { FakeClock, settle } from '../../helpers/fake-clock.ts';

const SECOND = 1000;
const HEARTBEAT = 15 * SECOND;
const LONGEST = 900 * SECOND;

interface Live {
  readonly came: number;
  readonly missed: number;
}

/** The response of a client, as a stream whose writes can be blocked. */
class Listener extends Writable {
  text = '';
  /** Continues the blocked write. */
  private go: (() => void) | null = null;
  private isHeld = false;

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString('utf8');
    if (this.isHeld) this.go = done;
    else done();
  }

  hold(): void {
    this.isHeld = true;
  }

  read(): void {
    this.isHeld = false;
    this.go?.();
  }

  get events(): readonly Live[] {
    return [...this.text.matchAll(/^data: (.*)\n\n/gm)].map(([, data = '']) => JSON.parse(data) as Live);
  }

  get heartbeats(): number {
    return this.text.split(': still here\n\n').length - 1;
  }
}

function bench() {
  const clock = new FakeClock();
  const seen = { total: 0, reads: 0, isOut: false, isKnown: true };
  const live = new LiveEvents({
    ...{
      clock,
      log: silentLog,
      readiness: () => ({ ready: true, problems: [] }),
      schemeLabel: String,
      isOpen: () => true,
    },
    plan: { host: '127.0.0.1', port: 0, token: null },
    kept: () => ({ kept: 0, dropped: { rate: 0, queue: 0, failed: 0 } }),
    requestCount: () => seen.total,
    operations: {
      requests_list: () => {
        seen.reads++;
        if (seen.isOut) throw new Error('the store cannot be read');
        return [{ id: String(seen.total).padStart(10, '0'), event: 'x'.repeat(1000) }] as never;
      },
      store_read: () => [] as never,
    },
  });
  const join = async (role: 'operator' | 'viewer' = 'operator'): Promise<Listener> => {
    const listener = new Listener();
    live.answer(role, async () => seen.isKnown).stream?.(listener as unknown as ServerResponse);
    await settle();
    return listener;
  };
  /** A second with this many requests. */
  const pass = async (came: number): Promise<void> => {
    seen.total += came;
    clock.advance(SECOND);
    await settle();
  };
  return { clock, live, seen, join, pass };
}

describe('a client of the live stream', () => {
  it('receives one event a second on changes, and only a heartbeat otherwise', async () => {
    const { clock, join, pass } = bench();
    const one = await join();
    await pass(3);
    await pass(2);
    assert.deepEqual(
      one.events.map(({ came }) => came),
      [0, 3, 2],
    );
    await clock.run(HEARTBEAT - SECOND);
    assert.deepEqual([one.events.length, one.heartbeats], [3, 0]);
    await clock.run(2 * HEARTBEAT);
    assert.deepEqual([one.events.length, one.heartbeats], [3, 2]);
  });

  it('receives a heartbeat while the store is unavailable, and the missed changes afterwards', async () => {
    const { clock, join, pass, seen } = bench();
    const one = await join();
    seen.isOut = true;
    seen.total += 4;
    await clock.run(HEARTBEAT);
    assert.deepEqual([one.events.length, one.heartbeats], [1, 1]);
    seen.isOut = false;
    await pass(0);
    assert.equal(one.events.at(-1)?.came, 4);
  });

  it('misses events while it does not read, receives their number, and delays no other client', async () => {
    const { clock, join, pass } = bench();
    const [slow, other] = [await join(), await join()];
    slow.hold();
    let written = 0;
    while (slow.writableLength <= 65_536) {
      await pass(1);
      written++;
    }
    const most = slow.writableLength;
    for (let count = 0; count < 5; count++) await pass(1);
    await clock.run(HEARTBEAT);
    assert.equal(slow.writableLength, most, 'nothing more is queued for it');
    assert.equal(other.events.length, written + 5);
    slow.read();
    await settle();
    await pass(1);
    await pass(1);
    assert.deepEqual(
      slow.events.slice(-3).map(({ missed }) => missed),
      [0, 5, 0],
    );
  });

  it('is disconnected when its login ends', async () => {
    const { seen, join, pass } = bench();
    const client = await join();
    await pass(1);
    assert.equal(client.writableEnded, false);
    seen.isKnown = false;
    await pass(1);
    assert.equal(client.writableEnded, true);
  });

  it('is disconnected when its time is over, whether it reads or not, which frees its slot', async () => {
    const { clock, live, join, pass } = bench();
    const all = [await join()];
    while (all.length < 16) all.push(await join());
    assert.throws(() => live.answer('operator', async () => true), { status: 503, code: 'too_many' });
    const [reads, slow] = all;
    slow?.hold();
    await pass(1);
    await clock.run(LONGEST);
    assert.deepEqual([reads?.writableFinished, reads?.destroyed], [true, true]);
    assert.deepEqual([slow?.writableFinished, slow?.destroyed], [false, true]);
    const next = await join();
    assert.equal(next.events.length, 1);
  });

  it('gives way to an operator if a viewer, and never to a viewer', async () => {
    const { live, join } = bench();
    const operator = await join();
    const viewers = [await join('viewer')];
    while (viewers.length < 15) viewers.push(await join('viewer'));
    assert.throws(() => live.answer('viewer', async () => true), { status: 503, code: 'too_many' });
    for (const viewer of viewers) {
      await join();
      assert.equal(viewer.destroyed, true);
    }
    assert.equal(operator.destroyed, false);
    for (const role of ['viewer', 'operator'] as const)
      assert.throws(() => live.answer(role, async () => true), { status: 503, code: 'too_many' });
  });

  it('stops polling when the last client disconnects', async () => {
    const { clock, join, seen } = bench();
    (await join()).destroy();
    await settle();
    await clock.run(2 * SECOND);
    assert.equal(clock.pending, 0);
    const { reads } = seen;
    await clock.run(60 * SECOND);
    assert.equal(seen.reads, reads);
  });
});
