/** What strangers use up is not the owner's: budgets per author, and loop limits of people. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { describe, it } from 'node:test';
import { compileText } from '../../../main/compiler.ts';
import { fullBudgets } from '../../../modules/guard/runtime/budgets.ts';
import { startGateway } from '../../helpers/gateway.ts';
import { sendAgain } from '../../helpers/send-again.ts';
import { signed } from '../../helpers/serve.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const SECRET = 'the-secret-of-a-route-1';
const config = (keys: string): string => `
platforms:
  webhook:
    enabled: true
    secret: ${SECRET}
    rate_limit: 1000
    routes:
      talk: { source: github, prompt: "{comment.body}", session_key: "{issue.number}", ${keys} }
`;

async function serve(t: TestContext, keys: string) {
  const { url, cli } = await startGateway(t, { home: tempDir(t), config: config(keys) });
  let sent = 0;
  const say = async (sender: object, issue = 1): Promise<string> => {
    const body = JSON.stringify({ sender, issue: { number: issue }, comment: { body: 'Hello' } });
    const id = { 'x-github-event': 'issue_comment', 'x-github-delivery': `d${++sent}` };
    const init = {
      method: 'POST',
      body,
      headers: { ...signed(body, SECRET), ...id, 'content-type': 'application/json' },
    };
    const { status, reason } = (await (await sendAgain(`${url}/webhooks/talk`, init)).json()) as Record<string, string>;
    return reason ?? status ?? '';
  };
  const times = async (count: number, sender: object, issue?: number): Promise<readonly string[]> => {
    const said: string[] = [];
    for (let n = 0; n < count; n++) said.push(await say(sender, issue));
    return said;
  };
  const held = async (): Promise<readonly number[]> =>
    JSON.parse((await cli('gateway', 'loops', 'list', '--json')).stdout).map((key: { held: number }) => key.held);
  return { times, held };
}

const person = (login: string) => ({ login, type: 'User' });
const bot = { login: 'relay[bot]', type: 'Bot' };
const all = (count: number, text: string): readonly string[] => Array.from({ length: count }, () => text);

describe('a budget per author', () => {
  const KEYS = 'loop_limit: 1000, budget: { runs: 8, per_author: 3, per: day }';
  it('keeps one author from using up the budget of all, and does not count what it refuses', async (t) => {
    const { times } = await serve(t, KEYS);
    assert.deepEqual(await times(10, person('mallory'), 1), [...all(3, 'accepted'), ...all(7, 'budget')]);
    // Another issue or another case of the type is the same author.
    assert.deepEqual(await times(1, { login: 'mallory', type: 'Bot' }, 2), ['budget']);
    assert.deepEqual(await times(4, person('alice'), 3), [...all(3, 'accepted'), 'budget']);
    assert.deepEqual(await times(3, person('bob'), 3), ['accepted', 'accepted', 'budget']);
  });

  it('is reported for an author with any name, such as that of a profile or of a member of objects', async () => {
    const { table } = await compileText('gateway: {}', { home: '/nowhere', env: {} });
    assert.ok(table !== null);
    for (const name of ['constructor', '__proto__', 'default', 'alice']) {
      const key = JSON.stringify(['author', name, 'route', 'default', 'ci', 'day']);
      const body = JSON.stringify({ since: 0, until: 2000, runs: 1, tokens: 0, cost: 0, refused: true });
      const store = { read: async () => [{ kind: 'budget', key, body }] } as never;
      assert.equal((await fullBudgets(store, table, 1000)).length, 1, name);
    }
  });

  it('does not apply where the author is unknown', async (t) => {
    const { times } = await serve(t, KEYS);
    for (const sender of [{}, { login: null }, { login: '' }, { login: { a: 1 } }])
      assert.deepEqual(await times(2, sender), all(2, 'accepted'));
    assert.deepEqual(await times(1, {}), ['budget']);
  });
});

describe('a loop limit', () => {
  it('lets people cause three times as many runs, and holds what comes after', async (t) => {
    const { times, held } = await serve(t, 'loop_limit: 4');
    assert.deepEqual(await times(12, person('alice')), all(12, 'accepted'));
    assert.deepEqual(await held(), []);
    assert.deepEqual(await times(5, person('mallory')), all(5, 'accepted'));
    assert.deepEqual(await held(), [5]);
  });

  it('counts whatever does not say that it is a person as a program', async (t) => {
    const { times, held } = await serve(t, 'loop_limit: 2');
    for (const [at, type] of ['Bot', 'user', '', null, ['User'], 'Organization'].entries()) {
      await times(3, { login: 'x', type }, at);
      assert.deepEqual(await held(), all(at + 1, '1').map(Number), String(type));
    }
  });

  it('is not reached by one event of a program after those of people', async (t) => {
    const { times, held } = await serve(t, 'loop_limit: 4');
    await times(8, person('alice'));
    await times(1, bot);
    assert.deepEqual(await held(), []);
    await times(1, bot);
    assert.deepEqual(await held(), [1]);
  });

  it('holds at most fifty events of one author for a key, and other keys are not affected', async (t) => {
    const { times, held } = await serve(t, 'loop_limit: 1');
    const said = await times(104, bot);
    assert.deepEqual([said.filter((one) => one === 'accepted').length, said.slice(-3)], [51, all(3, 'loop')]);
    assert.deepEqual(await held(), [50]);
    assert.deepEqual(await times(1, bot, 2), ['accepted']);
  });
});
