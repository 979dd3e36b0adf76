/** Outputs of a run: stored with its answer, delivered like other messages, and from one run only. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openHandover } from '../../../modules/outputs/runtime/open-handover.ts';
import type { AgentRequest, AgentRunner } from '../../../runtime/dispatch/agent-runner.ts';
import { AgentError } from '../../../runtime/dispatch/agent-runner.ts';
import { replay } from '../../../runtime/store/timeline.ts';
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

function bench(agent: AgentRunner['run'], options: Partial<BenchOptions> = {}) {
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

  it('of a failed run are dropped, and named at its attempt; only the successful run counts', async () => {
    let runs = 0;
    const made = bench(
      (request) => {
        request.outputs?.take([
          note(`of run ${++runs}`),
          note('more'),
          ...(runs === 1 ? ['{"output":"other"}', '{'] : []),
        ]);
        return runs === 1 ? Promise.reject(new Error('no')) : Promise.resolve('yes');
      },
      { max_attempts: 2 },
    );
    await run(made);
    await made.clock.run(600_000);
    assert.deepEqual(
      made.deliveries.map(({ text }) => text),
      ['yes', 'of run 2', 'more'],
    );
    const stored = storedIn(made.store, 'a');
    const failures = stored?.steps.flatMap(({ kind, reason }) => (kind === 'run' ? [reason] : []));
    assert.match(failures?.join('|') ?? '', /^[^|]*\bother\b[^|]*\bnote$/);
    assert.equal(stored?.dispatch.dropped, undefined);
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

describe('a required output', () => {
  const NEEDED: DispatchOutput = { ...NOTE, required: true };
  const OTHER: DispatchOutput = { ...NOTE, name: 'other' };
  const noop = JSON.stringify({ output: 'noop', reason: 'nothing changed, k3y' });
  const outcome = async (
    ...[answer, lines = [], outputs = [NEEDED, OTHER]]: [string, string[]?, DispatchOutput[]?]
  ) => {
    const made = bench(handing(answer, ...lines));
    await run(made, { outputs });
    const stored = storedIn(made.store, 'a');
    return { state: stored?.state, reason: stored?.reason ?? '', sent: sentBy(made), stored };
  };

  it('that the run hands over, or a noop, lets it succeed', async () => {
    const { state, sent } = await outcome('done', [note('one')]);
    assert.deepEqual([state, sent.length], ['done', 2]);
    const idle = await outcome('all is well', [noop]);
    assert.deepEqual([idle.state, idle.sent], ['done', [['log', 'all is well', undefined]]]);
    assert.equal(idle.stored?.dispatch.noop, 'nothing changed, ***');
    const silent = await outcome('', [noop]);
    assert.deepEqual([silent.state, silent.reason, silent.sent], ['skipped', 'noop: nothing changed, ***', []]);
  });

  it('fails a run without it, whatever else the run says or hands over', async () => {
    const other = JSON.stringify({ output: 'other', text: 'x' });
    const runs: readonly [answer: string, lines: string[], named: readonly string[]][] = [
      ['done', [], ['note']],
      ['', [], ['note']],
      ['[SILENT]', [], ['note']],
      ['done', [other], ['note']],
      ['done', ['{"output":"note"}'], ['note', 'is missing']],
      ['done', ['{"output":"close_issue"}'], ['note', 'close_issue']],
      ['done', ['{"output":"noop"}'], ['note', 'noop']],
    ];
    for (const [answer, lines, named] of runs) {
      const { state, reason, sent } = await outcome(answer, lines);
      assert.deepEqual([state, sent, reason.startsWith('run failed: no_output: ')], ['dead', [], true], reason);
      for (const name of named) assert.ok(reason.includes(name), reason);
    }
  });

  it('of a failed run are listed as dropped, and no replay of it lists them', async () => {
    const other = JSON.stringify({ output: 'other', text: 'x' });
    const { stored } = await outcome('done', [other, '{"output":"note"}']);
    const reasons = (dispatch?: Dispatch) => dispatch?.dropped?.map(({ output, reason }) => [output, reason]);
    const all = [
      ['note', 'malformed'],
      ['other', 'run_failed'],
    ];
    assert.deepEqual(reasons(stored?.dispatch), all);
    assert.deepEqual(stored?.dispatch.deliveries.length, 1);
    const made = bench(async (request) => {
      request.outputs?.take([other, '{"output":"note"}']);
      throw new AgentError('exit code 1');
    });
    await run(made, { outputs: [NEEDED, OTHER] });
    const failed = storedIn(made.store, 'a');
    assert.deepEqual([failed?.state, sentBy(made), reasons(failed?.dispatch)], ['dead', [], all]);
    assert.ok(failed !== undefined && failed !== null);
    const again = replay(failed, { id: 'b', now: 0, rerun: false, again: false });
    assert.ok(again.kind === 'accept' && again.dispatch.dropped === undefined);
  });

  it('names each that is missing, and keeps the answer beside the failed run', async () => {
    const { reason, stored } = await outcome('could not find it, k3y', [], [NEEDED, { ...NEEDED, name: 'label' }]);
    assert.match(reason, /note, label/);
    assert.deepEqual([stored?.answer, stored?.steps[0]?.program?.stdout], [null, 'could not find it, ***']);
  });

  it('fails the run as any failure: it is repeated, and reported', async () => {
    const seen: string[] = [];
    let runs = 0;
    const agent = (request: AgentRequest) => handing('done', ...(++runs < 2 ? [] : [note('one')]))(request);
    const observer = { runEnded: (_: unknown, kind: string) => void seen.push(kind) };
    const made = bench(agent, { max_attempts: 2, context: { observer } });
    await run(made, { outputs: [NEEDED] });
    await made.clock.run(10_000);
    assert.deepEqual([stateOf(made.store, 'a'), seen], ['done', ['failed', 'ok']]);
    const failing = bench(handing('done'), {
      context: { observer: { runFailed: (_, reason) => void seen.push(reason) } },
    });
    await run(failing, { outputs: [NEEDED] });
    assert.match(seen.at(-1) ?? '', /^no_output/);
  });

  it('names what the sandbox denied in the reason of a run without a result', async () => {
    const end = { exit_code: 0, signal: null, stderr: '', denied: ['api.example.com:443'] };
    const agents: readonly [AgentRunner['run'], state: string][] = [
      [async () => 'could not reach it', 'dead'],
      [async () => Promise.reject(new AgentError('exit code 1')), 'dead'],
    ];
    for (const [answer, state] of agents) {
      const made = bench((request, report) => {
        report?.ended(end);
        return answer(request);
      });
      await run(made, { outputs: [NEEDED] });
      const stored = storedIn(made.store, 'a');
      assert.deepEqual(
        [stored?.state, stored?.reason?.endsWith('; the sandbox denied api.example.com:443')],
        [state, true],
      );
    }
  });
});
