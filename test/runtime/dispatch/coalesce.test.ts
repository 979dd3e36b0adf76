import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DispatchBench } from '../../helpers/dispatch-bench.ts';
import { claimOf, dispatchBench, stateOf } from '../../helpers/dispatch-bench.ts';
import { makeDispatch } from '../../helpers/dispatches.ts';
import { settle } from '../../helpers/fake-clock.ts';

const group = (key: string) => ({ key, window_ms: 30_000, max_wait_ms: 300_000 });

const send = ({ service }: DispatchBench, id: string, key = 'pr-1', delivery = id) =>
  service.coalesce(makeDispatch(id), claimOf(delivery), group(key), null);

describe('coalesce', () => {
  it('runs once, with the latest event and a note, when the window has passed quietly', async () => {
    const bench = dispatchBench();
    const seen = [];
    for (const id of ['a', 'b', 'c']) {
      seen.push(await send(bench, id));
      await bench.clock.run(20_000);
    }
    assert.deepEqual(
      seen,
      [0, 1, 2].map((superseded) => ({ kind: 'coalesced', superseded })),
    );
    await bench.clock.run(9999);
    assert.equal(bench.runs.length, 0);
    await bench.clock.run(1);
    assert.deepEqual(
      bench.runs.map(({ prompt }) => prompt),
      ['[2 earlier events for this entity were superseded by this one.]\n\nprompt of c'],
    );
    assert.deepEqual(
      ['a', 'b', 'c'].map((id) => stateOf(bench.store, id)),
      ['skipped', 'skipped', 'done'],
    );
  });

  it('runs with all events of a burst that keeps them, even after a restart, and without the note', async () => {
    const bench = dispatchBench();
    for (const id of ['a', 'b']) {
      const burst = { line: `- ${id}`, at: [7], max_events: 50 };
      await bench.service.coalesce(makeDispatch(id, { burst, prompt: 'Events:' }), claimOf(id), group('k'), null);
    }
    const next = dispatchBench({ store: bench.store, clock: bench.clock });
    await next.service.start();
    await bench.clock.run(30_000);
    assert.deepEqual(
      [...bench.runs, ...next.runs].map(({ prompt }) => prompt),
      ['Events:- a\n- b'],
    );
  });

  it('runs after max_wait however often events arrive', async () => {
    const bench = dispatchBench();
    for (let n = 0; n < 15; n++) {
      await send(bench, `e${n}`);
      await bench.clock.run(20_000);
    }
    assert.equal(bench.runs.length, 1);
    assert.match(bench.runs[0]?.prompt ?? '', /^\[14 /);
    assert.deepEqual(await send(bench, 'late'), { kind: 'coalesced', superseded: 0 });
  });

  it('adds no note for a single event', async () => {
    const bench = dispatchBench();
    await send(bench, 'a');
    await bench.clock.run(30_000);
    assert.equal(bench.runs[0]?.prompt, 'prompt of a');
  });

  it('keeps entities apart', async () => {
    const bench = dispatchBench();
    await send(bench, 'a', 'pr-1');
    await send(bench, 'b', 'pr-2');
    await bench.clock.run(30_000);
    assert.equal(bench.runs.length, 2);
  });

  it('keeps profiles apart, even across a restart', async () => {
    const bench = dispatchBench();
    for (const [id, profile] of [
      ['a', 'default'],
      ['b', 'red'],
    ] as const) {
      const sent = await bench.service.coalesce(
        makeDispatch(id, { profile }),
        claimOf('1', { profile }),
        group('pr-1'),
        null,
      );
      assert.deepEqual(sent, { kind: 'coalesced', superseded: 0 });
    }
    const next = dispatchBench({ store: bench.store });
    await next.service.start();
    await next.clock.run(30_000);
    assert.deepEqual(
      next.runs.map(({ profile, prompt }) => [profile, prompt]),
      [
        ['default', 'prompt of a'],
        ['red', 'prompt of b'],
      ],
    );
  });

  it('leaves the group unchanged for a repeated delivery id', async () => {
    const bench = dispatchBench();
    await send(bench, 'a', 'pr-1', 'same');
    await bench.clock.run(20_000);
    assert.deepEqual(await send(bench, 'b', 'pr-1', 'same'), { kind: 'duplicate' });
    await bench.clock.run(10_000);
    assert.equal(bench.runs[0]?.prompt, 'prompt of a');
  });

  it('accepts events of one turn in order', async () => {
    const bench = dispatchBench();
    const seen = await Promise.all(['a', 'b', 'c'].map((id) => send(bench, id)));
    assert.deepEqual(
      seen.map((result) => result.kind === 'coalesced' && result.superseded),
      [0, 1, 2],
    );
    await bench.clock.run(30_000);
    assert.match(bench.runs[0]?.prompt ?? '', /prompt of c$/);
  });

  it('is not confused by a clock that jumps', async () => {
    const bench = dispatchBench();
    await send(bench, 'a');
    bench.clock.jump(-86_400_000);
    await send(bench, 'b');
    bench.clock.jump(2 * 86_400_000);
    await bench.clock.run(30_000);
    assert.equal(bench.runs.length, 1);
    assert.match(bench.runs[0]?.prompt ?? '', /prompt of b$/);
  });

  it('flushes every group on stop, and waits for the runs', async () => {
    const bench = dispatchBench();
    await send(bench, 'a', 'pr-1');
    await send(bench, 'b', 'pr-2');
    assert.deepEqual(await bench.service.stop(30_000), { drained: true, abandoned: 0 });
    assert.equal((await bench.service.counts()).groups, 0);
    assert.deepEqual(
      ['a', 'b'].map((id) => stateOf(bench.store, id)),
      ['done', 'done'],
    );
    await settle();
    assert.equal(bench.clock.pending, 0);
    assert.equal((await send(bench, 'c')).kind, 'shutting_down');
  });
});
