/** The runs of a session and the reasons why they wait. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { describe, it } from 'node:test';
import { openOfflineStore } from '../../../runtime/store/sqlite/open-store.ts';
import { storePath } from '../../../runtime/store/store-path.ts';
import { runInProcess } from '../../helpers/cli.ts';
import { makeAccept, makeAdvance, makeDispatch, makeTake } from '../../helpers/dispatches.ts';
import { FakeClock } from '../../helpers/fake-clock.ts';
import { expectGolden, screensOf } from '../../helpers/golden.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const NOW = Date.UTC(2026, 0, 10, 12);
const SESSION = 'webhook:review:shop%2342';

/** Three events of one pull request: one answered, one running, and one that has waited for a minute. */
async function setUp(t: TestContext) {
  const home = tempDir(t);
  const store = await openOfflineStore(storePath(home));
  const accept = async (id: string, at: number) => {
    const of = { session: SESSION, session_key: 'shop#42', agent: 'reviewer', accepted_at: at };
    const stored = await store.write(makeAccept(id, { dispatch: makeDispatch(id, of), claim: null, now: at }));
    return stored.kind === 'stored' ? stored.ref : 0;
  };
  const first = await accept('first', NOW - 300_000);
  await store.write(makeTake(NOW - 300_000));
  const usage = { agent: 'reviewer', input_tokens: 10, output_tokens: 5, cost: null };
  await store.write(makeAdvance(first, 'done', NOW - 200_000, { answer: 'looks good\u001b[2J', usage }));
  await accept('second', NOW - 120_000);
  await store.write(makeTake(NOW - 120_000));
  await accept('third', NOW - 60_000);
  await store.close();
  const run = (...argv: string[]) => runInProcess(argv, { home, context: { clock: new FakeClock(NOW) } });
  const json = async (...argv: string[]) => JSON.parse((await run(...argv, '--json')).stdout) as unknown;
  return { run, json };
}

const pick = (value: unknown, ...names: readonly string[]) =>
  names.map((name) => (value as Readonly<Record<string, unknown>>)[name]);

describe('the runs of a session', () => {
  it('are shown without text that controls the terminal', async (t) => {
    const { run } = await setUp(t);
    const screens = await screensOf(
      run,
      ['deliveries', 'list'],
      ['deliveries', 'show', 'third'],
      ['session', 'list'],
      ['session', 'show', SESSION],
      ['session', 'reset', SESSION, '--by', 'ann'],
      ['session', 'show', SESSION],
      ['session', 'show', 'nosuch'],
    );
    assert.ok(!screens.includes('\u001b'));
    expectGolden('cli/deliveries/sessions.txt', screens);
  });

  it('are listed with agent, session, turn, usage and reason to wait', async (t) => {
    const { json } = await setUp(t);
    const rows = (await json('deliveries', 'list')) as readonly unknown[];
    assert.deepEqual(
      rows.map((row) => pick(row, 'id', 'agent', 'session', 'turn', 'waits_for', 'waits_since')),
      [
        ['third', 'reviewer', SESSION, 2, 'session', NOW - 60_000],
        ['second', 'reviewer', SESSION, 1, null, null],
        ['first', 'reviewer', SESSION, null, null, null],
      ],
    );
    assert.deepEqual(pick(rows[2], 'usage'), [{ input_tokens: 10, output_tokens: 5, cost: null }]);
    assert.deepEqual(pick(await json('deliveries', 'show', 'third'), 'waits_for', 'turn'), ['session', 2]);
  });

  it('make a session busy, and its turns are shown until a reset', async (t) => {
    const { run, json } = await setUp(t);
    const [listed] = (await json('session', 'list')) as readonly unknown[];
    assert.deepEqual(pick(listed, 'kind', 'id', 'profile', 'waiting'), ['agent', SESSION, 'default', 1]);
    assert.deepEqual(pick(pick(listed, 'run')[0], 'id', 'state'), ['second', 'running']);
    const [said] = pick(await json('session', 'show', SESSION), 'said');
    assert.deepEqual(
      (said as readonly unknown[]).map((turn) => pick(turn, 'id', 'prompt', 'answer')),
      [['first', 'prompt of first', 'looks good\u001b[2J']],
    );
    assert.equal((await run('session', 'reset', SESSION, '--by', 'ann')).code, 0);
    const action = { did: 'reset', by: 'cli:ann', at: NOW };
    assert.deepEqual(pick(await json('session', 'show', SESSION), 'waiting', 'said', 'last_action'), [1, [], action]);
    assert.equal((await run('session', 'reset', SESSION)).code, 0);
  });

  it('of an unknown session are rejected', async (t) => {
    const { run } = await setUp(t);
    for (const verb of ['show', 'reset']) {
      const { code, stderr } = await run('session', verb, 'nosuch');
      assert.equal(code, 1);
      assert.match(stderr, /"nosuch"/);
    }
  });
});
