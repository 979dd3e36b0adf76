/** Outputs of a run: stored with its answer, delivered like other messages, and from one run only. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openHandover } from '../../../modules/outputs/runtime/open-handover.ts';
import type { AgentRequest } from '../../../runtime/dispatch/agent-runner.ts';
import type { Dispatch, DispatchOutput } from '../../../schemas/generated/types.ts';
import type { BenchOptions } from '../../helpers/dispatch-bench.ts';
import { claimOf, dispatchBench, notSent, sentOk, stateOf, storedIn } from '../../helpers/dispatch-bench.ts';
import { makeDispatch } from '../../helpers/dispatches.ts';
import { settle } from '../../helpers/fake-clock.ts';

const NOTE: DispatchOutput = {
  name: 'note',
  fields: [{ name: 'text', kind: 'text', required: true }],
  allow: {},
  max: 2,
  delivery: { target: 'chat', extra: { chat_id: '7' }, unresolved: [] },
};

/** An agent that submits these output lines and answers. */
const handing =
  (answer: string, ...lines: readonly string[]) =>
  (request: AgentRequest): Promise<string> => {
    request.outputs?.take(lines);
    return Promise.resolve(answer);
  };

const note = (text: string): string => JSON.stringify({ output: 'note', text });

function bench(agent: (request: AgentRequest) => Promise<string>, options: Partial<BenchOptions> = {}) {
  const context = { outputs: async () => openHandover, redact: (text: string) => text.replaceAll('k3y', '***') };
  return dispatchBench({ ...options, agent, context: { ...context, ...options.context } });
}

async function run(made: ReturnType<typeof bench>, dispatch: Partial<Dispatch> = {}) {
  await made.service.start();
  await made.service.accept(makeDispatch('a', { outputs: [NOTE], ...dispatch }), claimOf('1'), null);
  await settle();
}

const sentBy = ({ deliveries }: ReturnType<typeof bench>) =>
  deliveries.map(({ target, text, extra }) => [target, text, extra.chat_id]);

describe('outputs', () => {
  it('are delivered beside the answer, each to the address rendered from the event', async () => {
    const made = bench(handing('done', note('one'), note('two'), note('three')));
    await run(made);
    assert.deepEqual(sentBy(made), [
      ['log', 'done', undefined],
      ['chat', 'one', '7'],
      ['chat', 'two', '7'],
    ]);
    const stored = storedIn(made.store, 'a');
    assert.deepEqual([stored?.state, stored?.answer], ['done', 'done']);
    assert.deepEqual(stored?.dispatch.dropped, [
      { output: 'note', line: 3, reason: 'over_max', detail: 'at most 2 in one run' },
    ]);
  });

  it('count as several if their text needs several messages', async () => {
    const outputs = [{ ...NOTE, message: { limit: 10, unit: 'utf16' as const } }];
    const made = bench(handing('done', note('x'.repeat(21)), note('x'.repeat(11)), note('x')));
    await run(made, { outputs });
    assert.deepEqual(sentBy(made).slice(1), [['chat', 'x'.repeat(11), '7']]);
    assert.deepEqual(
      storedIn(made.store, 'a')?.dispatch.dropped?.map(({ line, detail }) => [line, detail]),
      [
        [1, 'the text needs 3 messages, at most 2 in one run'],
        [3, 'at most 2 in one run'],
      ],
    );
  });

  it('have no line break in single-line fields', async () => {
    const outputs = [{ ...NOTE, fields: [{ name: 'text', kind: 'line' as const, required: true }] }];
    const made = bench(handing('done', note('a\nb'), note('a\u2028b'), note('a b')));
    await run(made, { outputs });
    assert.deepEqual(sentBy(made).slice(1), [['chat', 'a b', '7']]);
  });

  it('are delivered even if the answer is not', async () => {
    const made = bench(handing('[SILENT]', note('one')));
    await run(made);
    assert.deepEqual(sentBy(made), [['chat', 'one', '7']]);
    assert.equal(stateOf(made.store, 'a'), 'done');
  });

  it('are dropped if their text is [SILENT], like an answer', async () => {
    const long = 'x'.repeat(300);
    const made = bench(handing('done', note(' [SILENT]\n'), note('[SILENT]\nall is well'), note(`${long}\n[SILENT]`)));
    await run(made);
    assert.deepEqual(sentBy(made).slice(1), [['chat', long, '7']]);
    assert.deepEqual(
      storedIn(made.store, 'a')?.dispatch.dropped?.map(({ line, reason, detail }) => [line, reason, detail]),
      [
        [1, 'malformed', '`text` is silent: the agent answered [SILENT]'],
        [2, 'malformed', '`text` is silent: the agent answered [SILENT] and a remark'],
      ],
    );
  });

  it('that are all dropped leave a silent run skipped, and are stored', async () => {
    const made = bench(handing('', '{"output":"delete"}'));
    await run(made);
    const stored = storedIn(made.store, 'a');
    assert.deepEqual([stored?.state, stored?.dispatch.dropped?.[0]?.reason], ['skipped', 'not_named']);
    assert.deepEqual(made.deliveries, []);
  });

  it('of a failed run are dropped; only the successful run counts', async () => {
    let runs = 0;
    const made = bench(
      (request) => {
        request.outputs?.take([note(`of run ${++runs}`)]);
        return runs === 1 ? Promise.reject(new Error('no')) : Promise.resolve('yes');
      },
      { max_attempts: 2 },
    );
    await run(made);
    await made.clock.run(600_000);
    assert.deepEqual(
      made.deliveries.map(({ text }) => text),
      ['yes', 'of run 2'],
    );
  });

  it('are retried separately, and not sent again to a target that has received its message', async () => {
    let failures = 2;
    const made = bench(handing('done', note('one')), {
      deliver: ({ target }) => (target === 'chat' && failures-- > 0 ? notSent('retry') : sentOk()),
    });
    await run(made);
    await made.clock.run(600_000);
    assert.deepEqual(
      made.deliveries.map(({ target }) => target),
      ['log', 'chat', 'chat', 'chat'],
    );
    assert.equal(stateOf(made.store, 'a'), 'done');
  });

  it('contain no known secret, nor does the answer', async () => {
    const made = bench(handing('the k3y', note('it is k3y')));
    await run(made);
    assert.deepEqual(
      made.deliveries.map(({ text }) => text),
      ['the ***', 'it is ***'],
    );
    assert.doesNotMatch(JSON.stringify(storedIn(made.store, 'a')), /k3y/);
  });

  it('are not offered to the agent of a route without outputs', async () => {
    let offered: unknown;
    const made = bench((request) => {
      offered = request.outputs;
      return Promise.resolve('done');
    });
    await run(made, { outputs: undefined as never });
    assert.equal(offered, undefined);
  });
});
