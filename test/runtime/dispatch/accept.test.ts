import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AgentRequest } from '../../../runtime/dispatch/agent-runner.ts';
import { AgentError, AgentNotStarted } from '../../../runtime/dispatch/agent-runner.ts';
import type { DispatchObserver } from '../../../runtime/dispatch/dispatcher.ts';
import type { TakenWork } from '../../../runtime/store/contract.ts';
import { StoreUnavailable } from '../../../runtime/store/contract.ts';
import {
  claimOf,
  count,
  deferred,
  dispatchBench,
  isDone,
  notSent,
  sentOk,
  stateOf,
  storedIn,
} from '../../helpers/dispatch-bench.ts';
import { deliveriesTo, makeAccept, makeDispatch } from '../../helpers/dispatches.ts';
import { settle } from '../../helpers/fake-clock.ts';
import { createMemoryStore } from '../../helpers/memory-store.ts';

/** An agent whose runs end on demand. */
function slowAgent() {
  const open = new Map<string, ReturnType<typeof deferred<string>>>();
  const run = (request: AgentRequest): Promise<string> => {
    const run = deferred<string>();
    open.set(request.delivery_id, run);
    request.signal.addEventListener('abort', () => run.reject(new Error('aborted')));
    return run.promise;
  };
  return { run, open, end: (id: string, text = 'ok') => open.get(`delivery-${id}`)?.resolve(text) };
}

describe('accept', () => {
  it('runs the agent with the dispatch and delivers its answer', async () => {
    const { service, store, runs, deliveries } = dispatchBench();
    const dispatch = makeDispatch('a', { skills: ['triage'], mirror_to_session: true });
    assert.deepEqual(await service.accept(dispatch, claimOf('1'), null), { kind: 'accepted' });
    await settle();
    const [run] = runs;
    assert.deepEqual(
      [run?.prompt, run?.route, run?.profile, run?.session, run?.skills, run?.toolsets],
      [dispatch.prompt, 'alerts', 'default', dispatch.session, ['triage'], ['web_search']],
    );
    const [delivery] = deliveries;
    assert.deepEqual(
      [delivery?.key, delivery?.target, delivery?.text, delivery?.sent, delivery?.mirror_to_session],
      ['a:0', 'log', `answer to ${dispatch.prompt}`, 0, true],
    );
    assert.equal(stateOf(store, 'a'), 'done');
    assert.equal(storedIn(store, 'a')?.steps[0]?.message_id, 'm1');
  });

  it('returns duplicate for an accepted id, and only for that', async () => {
    const { service, runs } = dispatchBench();
    assert.equal(await isDone(service, claimOf('1')), false);
    assert.equal((await service.accept(makeDispatch('a'), claimOf('1'), null)).kind, 'accepted');
    assert.equal(await isDone(service, claimOf('1')), true);
    assert.equal((await service.accept(makeDispatch('b'), claimOf('1'), null)).kind, 'duplicate');
    assert.equal((await service.accept(makeDispatch('c'), claimOf('1', { route: 'other' }), null)).kind, 'accepted');
    await settle();
    assert.equal(runs.length, 2);
  });

  it('never treats an event with a generated id as a duplicate', async () => {
    const { service } = dispatchBench();
    const claim = claimOf('1', { generated: true });
    assert.equal((await service.accept(makeDispatch('a'), claim, null)).kind, 'accepted');
    assert.equal((await service.accept(makeDispatch('b'), claim, null)).kind, 'accepted');
    assert.equal(await isDone(service, claim), false);
  });

  it('remembers an id for its own time', async () => {
    const { service, clock } = dispatchBench();
    await service.accept(makeDispatch('a'), claimOf('1', { ttl_ms: 5000 }), null);
    clock.advance(4999);
    assert.equal((await service.accept(makeDispatch('b'), claimOf('1'), null)).kind, 'duplicate');
    clock.advance(1);
    assert.equal((await service.accept(makeDispatch('c'), claimOf('1'), null)).kind, 'accepted');
  });

  it('runs no more than the limits allow, in total and per route, and lets routes take turns', async () => {
    const agent = slowAgent();
    const limits = { max_concurrent_runs: 3, max_queued_runs: 100 };
    const { service } = dispatchBench({ agent: agent.run, context: { limits: () => limits } });
    const accepted = ['a', 'b', 'c', 'd'].map((id) => service.accept(makeDispatch(id), claimOf(id), 2));
    for (const id of ['e', 'f']) {
      accepted.push(service.accept(makeDispatch(id, { route: 'other' }), claimOf(id, { route: 'other' }), null));
    }
    await Promise.all(accepted);
    await settle();
    const running = (): string => [...agent.open.keys()].map((id) => id.slice(-1)).join('');
    assert.equal(running(), 'aeb');
    agent.end('e');
    await settle();
    assert.equal(running(), 'aebf');
    agent.end('a');
    await settle();
    assert.equal(running(), 'aebfc');
  });

  it('takes a long backlog in batches, so that a new event does not wait behind all of it', async () => {
    const { run, open } = slowAgent();
    const store = createMemoryStore();
    for (let n = 0; n < 300; n++) await store.write(makeAccept(`old ${n}`));
    const { write } = store;
    const portions: number[] = [];
    store.write = async (mutation) => {
      const result = await write(mutation);
      if (mutation.kind === 'take_work') portions.push((result as TakenWork).runs.length);
      return result;
    };
    const limits = () => ({ max_concurrent_runs: 250, max_queued_runs: 1000 });
    const { service } = dispatchBench({ store, agent: run, context: { limits } });
    await service.start();
    await settle(30);
    assert.deepEqual([open.size, Math.max(...portions)], [250, 64]);
  });

  it('counts the runs of routes of the same name in two profiles separately', async () => {
    const agent = slowAgent();
    const { service } = dispatchBench({ agent: agent.run });
    for (const id of ['a', 'b']) await service.accept(makeDispatch(id), claimOf(id), 1);
    await service.accept(makeDispatch('c', { profile: 'red' }), claimOf('c', { profile: 'red' }), 1);
    await settle();
    assert.deepEqual([...agent.open.keys()], ['delivery-a', 'delivery-c']);
  });

  it('is overloaded when the queue is full, and stores nothing then', async () => {
    const agent = slowAgent();
    const limits = { max_concurrent_runs: 1, max_queued_runs: 2 };
    const { service, store } = dispatchBench({ agent: agent.run, context: { limits: () => limits } });
    const results = await Promise.all(
      ['a', 'b', 'c', 'd', 'e'].map((id) => service.accept(makeDispatch(id), claimOf(id), null)),
    );
    assert.deepEqual(
      results.map(({ kind }) => kind),
      ['accepted', 'accepted', 'overloaded', 'overloaded', 'overloaded'],
    );
    assert.equal(count(store, 'accepted'), 2);
    assert.equal(await isDone(service, claimOf('c')), false);
    agent.end('a');
    await settle();
    assert.equal((await service.accept(makeDispatch('f'), claimOf('f'), null)).kind, 'accepted');
  });

  it('is overloaded while the store cannot write, and recovers with it', async () => {
    const store = createMemoryStore();
    let down = true;
    const write = store.write.bind(store);
    store.write = (mutation) => (down ? Promise.reject(new StoreUnavailable('disk full')) : write(mutation));
    const { service, runs } = dispatchBench({ store });
    const refusal = await service.accept(makeDispatch('a'), claimOf('1'), null);
    assert.deepEqual(refusal, { kind: 'overloaded', reason: 'store_unavailable', retry_after_seconds: 10 });
    down = false;
    assert.equal((await service.accept(makeDispatch('a'), claimOf('1'), null)).kind, 'accepted');
    await settle();
    assert.equal(runs.length, 1);
  });

  it('keeps an answer until the store accepts it', async () => {
    const store = createMemoryStore();
    let down = false;
    const write = store.write.bind(store);
    store.write = (mutation) => (down ? Promise.reject(new StoreUnavailable('disk full')) : write(mutation));
    const agent = slowAgent();
    const { service, clock, runs, deliveries } = dispatchBench({ store, agent: agent.run });
    await service.accept(makeDispatch('a'), claimOf('1'), null);
    await settle();
    await clock.run(100);
    down = true;
    agent.end('a', 'the answer');
    await clock.run(60_000);
    assert.deepEqual([stateOf(store, 'a'), deliveries.length], ['running', 0]);
    down = false;
    await clock.run(5000);
    assert.deepEqual([stateOf(store, 'a'), runs.length, deliveries[0]?.text], ['done', 1, 'the answer']);
  });

  it('shows a long run as running, and records the start of one that was interrupted', async () => {
    const agent = slowAgent();
    const { service, clock, store } = dispatchBench({ agent: agent.run });
    const startedAt = clock.now();
    for (const id of ['a', 'b']) await service.accept(makeDispatch(id), claimOf(id), null);
    await settle();
    await clock.run(10);
    agent.end('a', 'soon');
    await clock.run(100);
    const seen = ['a', 'b'].map((id) => [stateOf(store, id), storedIn(store, id)?.started_at]);
    assert.deepEqual(seen, [
      ['done', startedAt],
      ['running', startedAt],
    ]);
    agent.end('b', 'late');
    await clock.run(100);
    assert.deepEqual([stateOf(store, 'b'), storedIn(store, 'b')?.started_at], ['done', startedAt]);
  });

  for (const answer of [
    ...['', '  \n', '[SILENT]', ' [SILENT]\n'],
    ...['Nothing new since yesterday.\n\n[SILENT]', '[SILENT]\nNothing new.'],
    ...['[silent]', '**[SILENT]**', '`[Silent]`', '[SILENT].', '**[SILENT].**', '_[silent]_.', '"[SILENT]"', '“[silent]”.', "'[SILENT]'", '> [SILENT]', '- **[SILENT]**!', '«[SILENT]»', '```\n[SILENT]\n```'],
    ...['[SILENT] - nothing new.', 'Nothing new. [SILENT]', `[SILENT]\n${'x'.repeat(200)}`, '[SILENT]\n\n[SILENT]'],
  ]) {
    it(`records ${JSON.stringify(answer)} and delivers nothing`, async () => {
      const { service, store, deliveries } = dispatchBench({ agent: () => Promise.resolve(answer) });
      await service.accept(makeDispatch('a'), claimOf('1'), null);
      await settle();
      const stored = storedIn(store, 'a');
      assert.deepEqual([stored?.state, stored?.answer], ['skipped', answer]);
      assert.equal(stored?.reason?.includes('[SILENT]'), answer.trim() !== '', answer);
      assert.equal(deliveries.length, 0);
    });
  }

  it('delivers an answer that only mentions [SILENT]', async () => {
    const { service, deliveries } = dispatchBench({ agent: () => Promise.resolve('I do not answer [SILENT] today.') });
    await service.accept(makeDispatch('a'), claimOf('1'), null);
    await settle();
    assert.equal(deliveries.length, 1);
  });

  it('delivers a text too long for a remark, without the [SILENT] on its last line', async () => {
    const report = 'Seven checks failed. '.repeat(12).trim();
    const { service, deliveries } = dispatchBench({ agent: () => Promise.resolve(`${report}\n[SILENT]\n`) });
    await service.accept(makeDispatch('a'), claimOf('1'), null);
    await settle();
    assert.deepEqual(
      deliveries.map(({ text }) => text),
      [report],
    );
  });

  it('removes only the marker, or its line with a remark, from a longer answer', async () => {
    const report = 'Seven checks failed. '.repeat(12).trim();
    const answers: readonly (readonly [answer: string, delivered: string])[] = [
      [`[SILENT] ${report}`, report],
      [`${report} **[SILENT]**.`, report],
      [`${report}\n[SILENT] as asked`, report],
      [`[silent] none\n${report}`, report],
      [`short\n[SILENT] ${report}`, `short\n${report}`],
      [`[SILENT]\n${'x'.repeat(201)}`, 'x'.repeat(201)],
    ];
    for (const [answer, delivered] of answers) {
      const { service, deliveries } = dispatchBench({ agent: () => Promise.resolve(answer) });
      await service.accept(makeDispatch('a'), claimOf('1'), null);
      await settle();
      assert.deepEqual(
        deliveries.map(({ text }) => text),
        [delivered],
      );
    }
  });

  it('fails a run permanently at its first failure by default, with the reason', async () => {
    const { service, store, runs } = dispatchBench({ agent: () => Promise.reject(new AgentError('exit code 3')) });
    await service.accept(makeDispatch('a'), claimOf('1'), null);
    await settle();
    assert.equal(stateOf(store, 'a'), 'dead');
    assert.match(storedIn(store, 'a')?.reason ?? '', /exit code 3$/);
    assert.deepEqual([runs.length, storedIn(store, 'a')?.steps[0]?.outcome], [1, 'failed']);
    // It was acknowledged, so the sender's repeat is still a duplicate.
    assert.equal((await service.accept(makeDispatch('b'), claimOf('1'), null)).kind, 'duplicate');
  });

  it('retries a failed run up to max_attempts, with growing pauses', async () => {
    const at: number[] = [];
    const bench = dispatchBench({
      max_attempts: 3,
      agent() {
        at.push(bench.clock.monotonic());
        return Promise.reject(new AgentError('exit code 3'));
      },
    });
    await bench.service.accept(makeDispatch('a'), claimOf('1'), null);
    await bench.clock.run(60_000);
    assert.deepEqual(at, [0, 2000, 10_000]);
    assert.deepEqual(
      [stateOf(bench.store, 'a'), storedIn(bench.store, 'a')?.steps.map(({ next_at }) => next_at !== null)],
      ['dead', [true, true, false]],
    );
  });

  it('waits longer than the agent requires, for up to an hour and its jitter, before it retries a failed run', async () => {
    for (const [retryAfterMs, wait] of [
      [30_000, 33_000],
      [500, 2000],
      [null, 2000],
      [Number.NaN, 2000],
      [-5, 2000],
      [6e8, 3_960_000],
    ] as const) {
      const bench = dispatchBench({
        max_attempts: 2,
        agent: () => Promise.reject(new AgentError('too many requests', { retryAfterMs })),
      });
      await bench.service.accept(makeDispatch('a'), claimOf('1'), null);
      await bench.clock.run(1);
      const [step] = storedIn(bench.store, 'a')?.steps ?? [];
      assert.equal((step?.next_at ?? 0) - (step?.at ?? 0), wait, `${retryAfterMs}`);
    }
  });

  it('does not repeat a run that can never succeed', async () => {
    const bench = dispatchBench({
      max_attempts: 3,
      agent: () => Promise.reject(new AgentError('no such model', { permanent: true })),
    });
    await bench.service.accept(makeDispatch('a'), claimOf('1'), null);
    await bench.clock.run(60_000);
    assert.deepEqual([stateOf(bench.store, 'a'), bench.runs.length], ['dead', 1]);
  });

  it('begins a run later if the machine could not begin it, any number of times, and counts no attempt', async () => {
    let lacks = 20;
    const bench = dispatchBench({
      max_attempts: 1,
      agent: () => (lacks-- > 0 ? Promise.reject(new AgentNotStarted('the disk is full')) : Promise.resolve('done')),
    });
    await bench.service.accept(makeDispatch('a'), claimOf('1'), null);
    await bench.clock.run(15_000);
    const waiting = storedIn(bench.store, 'a');
    assert.deepEqual([waiting?.state, waiting?.reason, waiting?.steps], ['pending', 'the disk is full', []]);
    await bench.clock.run(300_000);
    assert.deepEqual([stateOf(bench.store, 'a'), bench.runs.length], ['done', 21]);
  });

  it('stores the usage of each run, failed or not, and reports it to the observer', async () => {
    const seen: unknown[] = [];
    const bench = dispatchBench({
      max_attempts: 2,
      context: { observer: { used: ({ route }, usage) => void seen.push([route, usage]) } },
      agent(_request, report) {
        const isFirst = bench.runs.length === 1;
        report?.used({ input_tokens: isFirst ? 10 : 20, output_tokens: 1, cost: isFirst ? null : 0.5 });
        return isFirst ? Promise.reject(new AgentError('exit code 3')) : Promise.resolve('the answer');
      },
    });
    await bench.service.accept(makeDispatch('a'), claimOf('1'), null);
    await bench.clock.run(60_000);
    assert.deepEqual(storedIn(bench.store, 'a')?.usage, { input_tokens: 30, output_tokens: 2, cost: 0.5 });
    assert.equal(seen.length, 2);
  });

  it('stores the end of the program of each run, failed or not', async () => {
    const ends = [
      { exit_code: 3, signal: null, stderr: 'first' },
      { exit_code: 0, signal: null, stderr: 'second' },
    ];
    const answers: (string | null)[] = [];
    const observer: DispatchObserver = { finished: (_owner, _state, _reason, answer) => void answers.push(answer) };
    const bench = dispatchBench({
      max_attempts: 2,
      context: { observer },
      agent(_request, report) {
        const end = ends[bench.runs.length - 1];
        if (end !== undefined) report?.ended(end);
        return end?.exit_code === 0 ? Promise.resolve('the answer') : Promise.reject(new AgentError('exit code 3'));
      },
    });
    await bench.service.accept(makeDispatch('a'), claimOf('1'), null);
    await bench.clock.run(60_000);
    const stored = storedIn(bench.store, 'a');
    assert.deepEqual([stored?.steps[0]?.program, stored?.program], ends);
    assert.deepEqual(answers, ['the answer']);
  });

  it('ends a run that takes too long', async () => {
    const agent = slowAgent();
    const { service, clock, store } = dispatchBench({ agent: agent.run, timeout_ms: 900_000 });
    await service.accept(makeDispatch('a'), claimOf('1'), null);
    await clock.run(899_999);
    assert.equal(stateOf(store, 'a'), 'running');
    await clock.run(1);
    assert.match(storedIn(store, 'a')?.reason ?? '', /\b900 s$/);
  });

  it('fails a dispatch permanently if its profile was removed', async () => {
    const { service, store } = dispatchBench({ context: { agents: () => null } });
    await service.accept(makeDispatch('a'), claimOf('1'), null);
    await settle();
    assert.match(storedIn(store, 'a')?.reason ?? '', /"default"/);
  });

  it('logs the outcome of each dispatch in one line', async () => {
    const outcomes = [sentOk(), notSent('permanent')];
    const { service, lines } = dispatchBench({ deliver: () => outcomes.shift() ?? sentOk() });
    await service.accept(makeDispatch('a'), claimOf('1'), null);
    await service.accept(makeDispatch('b'), claimOf('2'), null);
    await settle();
    assert.deepEqual(
      lines.map(({ level, fields }) => [level, fields.dispatch, fields.route, fields.event]),
      [
        ['info', 'a', 'alerts', 'push'],
        ['error', 'b', 'alerts', 'push'],
      ],
    );
  });

  it('fires no job without a scheduler', async () => {
    const { service } = dispatchBench();
    assert.deepEqual(await service.fire(makeDispatch('a', { mode: 'job' }), claimOf('1')), { kind: 'unknown_job' });
  });
});

describe('a dispatch whose deliveries cannot succeed', () => {
  const refusing = (...targets: readonly string[]) => ({
    isImmediate: () => false,
    isEnabled: () => true,
    refusal: (_: string, { target }: { readonly target: string }) =>
      targets.includes(target) ? `${target} has no address` : null,
    deliver: () => Promise.resolve(sentOk()),
  });
  const dispatch = makeDispatch('a', { deliveries: deliveriesTo('email', 'sms') });

  it('is dead before the agent runs, with the reason of each', async () => {
    const finished: string[] = [];
    const observer: DispatchObserver = { finished: ({ id }, state) => void finished.push(`${id} ${state}`) };
    const { service, store, runs, lines } = dispatchBench({
      context: { deliverer: refusing('email', 'sms'), observer },
    });
    assert.equal((await service.accept(dispatch, claimOf('1'), null)).kind, 'accepted');
    await settle();
    const dead = storedIn(store, 'a');
    assert.deepEqual([dead?.state, runs.length, finished], ['dead', 0, ['a dead']]);
    assert.equal(dead?.reason, 'email: email has no address; sms: sms has no address');
    assert.deepEqual(
      dead?.steps.map(({ kind, index, outcome }) => [kind, index, outcome]),
      [
        ['delivery', 0, 'permanent'],
        ['delivery', 1, 'permanent'],
      ],
    );
    assert.ok(lines.some(({ level, fields }) => level === 'error' && fields.outcome === 'dead'));
  });

  it('is run when one target is left', async () => {
    const { service, store, runs } = dispatchBench({ context: { deliverer: refusing('email') } });
    await service.accept(dispatch, claimOf('1'), null);
    await settle();
    assert.deepEqual([stateOf(store, 'a'), runs.length], ['done', 1]);
  });
});

describe('the queue', () => {
  it('is not filled by repeats', async () => {
    const agent = slowAgent();
    const limits = { max_concurrent_runs: 1, max_queued_runs: 2 };
    const { service } = dispatchBench({ agent: agent.run, context: { limits: () => limits } });
    await service.accept(makeDispatch('a'), claimOf('a'), null);
    await settle();
    for (let n = 0; n < 5; n++) {
      assert.equal((await service.accept(makeDispatch(`again${n}`), claimOf('a'), null)).kind, 'duplicate');
    }
    for (const id of ['b', 'c']) {
      assert.equal((await service.accept(makeDispatch(id), claimOf(id), null)).kind, 'accepted');
    }
    assert.equal((await service.accept(makeDispatch('d'), claimOf('d'), null)).kind, 'overloaded');
  });

  it('reads from the store what does not fit into memory', async () => {
    const agent = slowAgent();
    const store = createMemoryStore();
    let loaded = 0;
    const { read } = store;
    store.read = (query) => {
      if (query.kind === 'load') loaded++;
      return read(query);
    };
    const limits = { max_concurrent_runs: 1, max_queued_runs: 10 };
    const { service, runs } = dispatchBench({ store, agent: agent.run, context: { limits: () => limits } });
    const prompts = ['first', 'x'.repeat(9_000_000), 'y'.repeat(9_000_000)];
    for (const [n, prompt] of prompts.entries()) {
      await service.accept(makeDispatch(`${n}`, { prompt }), claimOf(`${n}`), null);
      await settle();
    }
    for (const id of ['0', '1', '2']) {
      agent.end(id, '');
      await settle();
    }
    assert.deepEqual(
      [runs.map(({ prompt }) => prompt === prompts[runs.findIndex((r) => r.prompt === prompt)]), loaded],
      [[true, true, true], 1],
    );
  });
});
