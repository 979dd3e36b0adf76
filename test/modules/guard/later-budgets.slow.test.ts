/** Budgets of subscriptions and of jobs that are created at run time, on a gateway whose table has none. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { describe, it } from 'node:test';
import { runInProcess } from '../../helpers/cli.ts';
import { startGateway, until } from '../../helpers/gateway.ts';
import { sendAgain } from '../../helpers/send-again.ts';
import { signed } from '../../helpers/serve.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const SECRET = 'a-secret-of-limited-routes-1';
const CONFIG = `
platforms: { webhook: { enabled: true, port: 0, secret: ${SECRET}, routes: { other: { prompt: "{n}" } } } }
`;

async function serve(t: TestContext) {
  const gateway = await startGateway(t, { home: tempDir(t), config: CONFIG });
  const cli = async (...argv: string[]): Promise<string> => {
    const { code, stdout, stderr } = await gateway.cli(...argv);
    assert.equal(code, 0, stderr);
    return stdout;
  };
  let sent = 0;
  const send = async (route: string): Promise<string> => {
    const body = JSON.stringify({ n: ++sent });
    const headers = signed(body, SECRET);
    const answer = await sendAgain(`${gateway.url}/webhooks/${route}`, { method: 'POST', body, headers });
    const { status, reason, code } = (await answer.json()) as Readonly<Record<string, string | undefined>>;
    return reason ?? code ?? status ?? '';
  };
  return { ...gateway, cli, send };
}

describe('a budget that is not in the table', () => {
  it('of a subscription applies until it is removed', async (t) => {
    const { cli, send } = await serve(t);
    await cli('webhook', 'subscribe', 'late', '--prompt', '{n}', '--secret', SECRET, '--budget', '{runs: 2, per: day}');
    assert.deepEqual([await send('late'), await send('late'), await send('late')], ['accepted', 'accepted', 'budget']);
    assert.equal(await send('other'), 'accepted');
    await cli('webhook', 'subscribe', 'late', '--budget', '{runs: 3, per: day}');
    assert.deepEqual([await send('late'), await send('late')], ['accepted', 'budget']);
    await cli('webhook', 'subscribe', 'late', '--budget', '');
    assert.equal(await send('late'), 'accepted');
  });

  it('of a job applies to the events that run it', async (t) => {
    const { cli, send } = await serve(t);
    const budget = '{runs: 1, per: day}';
    await cli('job', 'create', 'digest', '--schedule', '0 8 1 1 *', '--prompt', 'Digest', '--budget', budget);
    await cli('webhook', 'subscribe', 'fires', '--secret', SECRET, '--cron-job', 'digest');
    assert.deepEqual(JSON.parse(await cli('job', 'show', 'digest', '--json')).budget, {
      ...{ runs: 1, tokens: null, cost: null, per: 'day' },
    });
    assert.equal(await send('fires'), 'accepted');
    // While the job runs, another event is accepted and starts no run.
    await until(async () => (await send('fires')) === 'budget');
    const runs = JSON.parse(await cli('deliveries', 'list', '--json')) as { readonly job: string | null }[];
    assert.equal(runs.filter(({ job }) => job !== null).length, 1);
    await cli('job', 'edit', 'digest', '--name', 'summary');
    // The subscription names the job, and is not served after a reload if there is none.
    await cli('webhook', 'subscribe', 'fires', '--cron-job', 'summary');
    assert.match(await cli('job', 'show', 'summary'), /^ {2}budget +1\b.*\bday$/m);
    await cli('job', 'edit', 'summary', '--budget', '');
    assert.equal(await send('fires'), 'accepted');
  });

  it('is rejected if it is invalid', async (t) => {
    const home = tempDir(t);
    const create = ['job', 'create', 'digest', '--schedule', '0 8 1 1 *', '--prompt', 'Digest', '--budget'];
    assert.equal((await runInProcess([...create, '20'], { home })).code, 2);
    for (const [budget, why] of [
      ['{runs: 20}', /\bbudget: .*`per`/],
      ['{runs: 0, per: day}', /budget\.runs: .*`runs`.*\b1\b.*\b0\b/],
      ['{runs: many, per: day}', /budget\.runs: .*`runs`/],
      ['{days: 1, per: day}', /budget\.days: .*`days`/],
    ] as const) {
      const { code, stderr } = await runInProcess([...create, budget], { home });
      assert.equal(code, 1, budget);
      assert.match(stderr, why);
    }
    const nothing = await runInProcess([...create, '{per: day}'], { home });
    assert.equal(nothing.code, 0);
    assert.match(nothing.stderr, /\bbudget\b/);
  });
});

describe('explain', () => {
  it('shows the usage of a budget and its effect on the event, with and without a gateway', async (t) => {
    const { cli, send, stop, home } = await serve(t);
    await cli('webhook', 'subscribe', 'late', '--prompt', '{n}', '--secret', SECRET, '--budget', '{runs: 2, per: day}');
    const explain = (...more: readonly string[]) =>
      runInProcess(['explain', 'late', '--payload', '{"n": 1}', ...more], { home });
    assert.match((await explain()).stdout, /budget +route late per day: .*\b2\b.*\b20/);
    await send('late');
    const some = await explain('--json');
    assert.equal(some.code, 0);
    const [{ budget, limits, spent }] = JSON.parse(some.stdout).budgets;
    assert.deepEqual([budget, limits.runs, spent.runs], ['route late per day', 2, 1]);
    await send('late');
    for (const step of [async () => {}, stop]) {
      await step();
      const { code, stdout } = await explain();
      assert.equal(code, 1);
      assert.match(stdout, /^late: 200 ignored: budget\n/);
      assert.match(stdout, /dispatch +budget: route late per day: .*\b20/);
    }
    assert.ok(!(await runInProcess(['explain', 'other', '--payload', '{}'], { home })).stdout.includes('budget'));
  });
});
