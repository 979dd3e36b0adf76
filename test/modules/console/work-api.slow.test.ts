/** Pending work in the API of the console: sessions, usage and approvals. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { describe, it } from 'node:test';
import type { TestedConsole } from '../../helpers/console.ts';
import { refusalIn, startConsole } from '../../helpers/console.ts';
import { startFakeHttp } from '../../helpers/fake-http.ts';
import { until } from '../../helpers/gateway.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

/** An agent that answers on request, and reports its usage. */
async function heldAgent(t: TestContext) {
  const waiting: ServerResponse[] = [];
  const { url } = await startFakeHttp(t, () => (response) => void waiting.push(response));
  const answer = async (input: number, output: number): Promise<void> => {
    const response = await until(async () => waiting.shift());
    const message = { role: 'assistant', content: 'Done.' };
    const usage = { prompt_tokens: input, completion_tokens: output };
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ choices: [{ message }], usage }));
  };
  return { url, answer };
}

const TOKEN = 'token-of-the-operators';
const AUTH = { authorization: `Bearer ${TOKEN}` };

const send = async ({ gateway }: TestedConsole, route: string, payload: object): Promise<void> => {
  await gateway.cli('webhook', 'test', route, '--payload', JSON.stringify(payload), '--yes');
};

describe('sessions and usage', () => {
  const configOf = (url: string): string => `agent: { openai: { base_url: "${url}/v1", model: m } }
platforms:
  webhook:
    enabled: true
    secret: a-literal-secret-for-tests
    routes:
      talk: { session_key: "{key}", prompt: "{text}" }
      alone: { prompt: "{text}" }
gateway: { console: { port: 0 }, drain_seconds: 0 }
`;

  it('lists the running and the waiting runs of a session, and their usage once they are done', async (t) => {
    const { url, answer } = await heldAgent(t);
    const console = await startConsole(t, configOf(url));
    const { get } = console;
    const busy = async () => (await get<'listSessions'>('/api/sessions')).items;
    assert.deepEqual(await busy(), []);
    for (const text of ['one', 'two']) await send(console, 'talk', { key: 'k', text });
    const [session] = await until(async () => {
      const found = await busy();
      return found[0]?.run?.state === 'running' && found[0].waiting === 1 && found;
    });
    assert.deepEqual(
      [session?.kind, session?.id, session?.profile, session?.run?.route, session?.run?.turn],
      ['agent', 'webhook:talk:k', 'default', 'talk', 1],
    );
    const { items } = await get<'listDeliveries'>('/api/deliveries?state=pending');
    assert.deepEqual(
      items.map(({ session: of, turn, waits_for }) => [of, turn, waits_for]),
      [['webhook:talk:k', 2, 'session']],
    );

    await answer(100, 10);
    await until(async () => (await busy())[0]?.waiting === 0);
    await answer(200, 20);
    await until(async () => (await busy()).length === 0);
    const [used, ...more] = (await get<'listUsage'>('/api/usage')).items;
    const { slot = 0, ...sum } = used ?? {};
    assert.deepEqual(sum, {
      ...{ profile: 'default', route: 'talk', job: null, agent: null },
      ...{ runs: 2, input_tokens: 300, output_tokens: 30, cost: null },
    });
    assert.deepEqual([more, slot % 86_400_000], [[], 0]);
  });

  it('lists those of all profiles, with jobs named by id or name', async (t) => {
    const { url, answer } = await heldAgent(t);
    const home = tempDir(t);
    mkdirSync(join(home, 'profiles/work'), { recursive: true });
    writeFileSync(
      join(home, 'profiles/work/config.yaml'),
      `agent: { openai: { base_url: "${url}/v1", model: m } }
jobs: { wj: { schedule: "0 3 * * *", prompt: x } }
`,
    );
    const config = configOf(url)
      .replace('gateway: { ', 'gateway: { multiplex_profiles: true, ')
      .replace('routes:', 'routes:\n      wr: { profile: work, session_key: "{key}", prompt: "{text}" }');
    const { get, change, ask, gateway } = await startConsole(t, config, {}, home);
    const sent = await gateway.cli('webhook', 'test', 'wr', '--payload', '{"key":"q","text":"one"}', '--yes');
    assert.equal(sent.code, 0, sent.stderr);
    const found = async (query: string) =>
      (await get<'listSessions'>(`/api/sessions${query}`)).items.map(({ profile, id }) => [profile, id]);
    await until(async () => (await found('')).length === 1);
    assert.deepEqual(await found(''), [['work', 'webhook:wr:q']]);
    assert.deepEqual([await found('?profile=work'), await found('?profile=default')], [await found(''), []]);
    await answer(1, 1);

    const jobs = async () => (await get<'listJobs'>('/api/jobs')).items.map(({ id, paused }) => [id, paused]);
    assert.deepEqual(await jobs(), [['work/wj', false]]);
    await change('/api/jobs/work%2Fwj/pause', { seconds: 60 });
    assert.deepEqual(await jobs(), [['work/wj', true]]);
    await change('/api/jobs/wj/resume');
    const { job } = await change<'runJob'>('/api/jobs/wj/run');
    assert.equal(job, 'work/wj');
    for (const name of ['wj', 'work%2Fwj'])
      assert.equal((await get<'listDeliveries'>(`/api/deliveries?job=${name}`)).items.length, 1, name);
    assert.deepEqual((await ask('/api/jobs/nosuch/run', { method: 'POST' })).status, 404);
    await answer(1, 1);
  });

  it('sums usage by route, span and time, page by page', async (t) => {
    const { url, answer } = await heldAgent(t);
    const console = await startConsole(t, configOf(url));
    const { get } = console;
    for (const route of ['alone', 'talk']) {
      await send(console, route, { key: 'k', text: 'x' });
      await answer(5, 1);
    }
    await until(async () => (await get<'listUsage'>('/api/usage')).items.length === 2);
    const routes = async (query: string) => {
      const { items, next } = await get<'listUsage'>(`/api/usage?${query}`);
      return { routes: items.map(({ route }) => route), next };
    };
    assert.deepEqual((await routes('route=alone&span=hour')).routes, ['alone']);
    const first = await routes('limit=1&span=day');
    assert.deepEqual(first.routes, ['alone']);
    assert.deepEqual(await routes(`limit=1&span=day&cursor=${first.next}`), { routes: ['talk'], next: null });
    assert.deepEqual((await routes(`since=${Date.now() + 3_600_000}`)).routes, []);
  });
});

describe('messages that wait for approval', () => {
  const CONFIG = `platforms:
  webhook:
    enabled: true
    secret: a-literal-secret-for-tests
    routes:
      post: { prompt: "To all: {text}", approve: true }
gateway: { console: { port: 0, token: ${TOKEN} }, approvals: { deliver: log } }
`;
  const POST = { method: 'POST', headers: { 'content-type': 'application/json' } };

  const waitingOf = ({ get }: TestedConsole, count: number) =>
    until(async () => {
      const { items } = await get<'listApprovals'>('/api/approvals?route=post');
      return items.length === count && items;
    });
  const deliveryOf = ({ get }: TestedConsole, id: string) => get<'getDelivery'>(`/api/deliveries/${id.split('-')[0]}`);

  it('are shown as they would be sent, and sent once approved', async (t) => {
    const console = await startConsole(t, CONFIG, AUTH);
    const { get, change, ask } = console;
    await send(console, 'post', { text: 'lunch' });
    const [shown] = await waitingOf(console, 1);
    assert.deepEqual(
      [shown?.state, shown?.text, shown?.target, shown?.answer],
      ['waiting', 'To all: lunch', 'log', null],
    );
    const [listed, ...others] = (await get<'listDeliveries'>('/api/deliveries?state=waiting')).items;
    assert.deepEqual([listed?.route, listed?.state, others], ['post', 'waiting', []]);
    assert.deepEqual((await get<'listDeliveries'>('/api/deliveries?state=delivering&route=post')).items, []);
    assert.equal((await deliveryOf(console, shown?.id ?? '')).state, 'waiting');
    const { states } = await get<'getOverview'>('/api/overview');
    assert.equal(states?.waiting, 1);
    const path = `/api/approvals/${shown?.id}`;
    assert.deepEqual(await get<'getApproval'>(path), shown);
    assert.deepEqual(await get<'getApproval'>(`/api/approvals/${shown?.id.slice(0, -4)}`), shown);

    const approved = await change<'answerApproval'>(path, { approve: true });
    assert.deepEqual([approved.state, approved.id], ['approved', shown?.id]);
    await until(async () => (await deliveryOf(console, shown?.id ?? '')).state === 'done');
    assert.deepEqual(await waitingOf(console, 0), []);
    const late = await ask(path, { ...POST, body: '{"approve":false}' });
    assert.equal(late.status, 409);
    assert.match(String(refusalIn(late)), /^late,already approved by console at \d{4}-\d\d-\d\d \d\d:\d\d UTC: /);
  });

  it('stay pending if their target has changed, and the response says so', async (t) => {
    const http = (path: string): string =>
      `${CONFIG}  http: { enabled: true, url: "http://127.0.0.1:9/${path}", allow_http: true, allow_private: true }`
        .replace(/(gateway:.*\n)(.*)/, '$2\n$1')
        .replace('approve: true', 'deliver: http, agent: none, approve: true');
    const console = await startConsole(t, http('one'), AUTH);
    await send(console, 'post', { text: 'lunch' });
    const [shown] = await waitingOf(console, 1);
    writeFileSync(join(console.gateway.home, 'config.yaml'), http('two'));
    assert.equal((await console.gateway.cli('gateway', 'reload')).code, 0);
    const refused = await console.ask(`/api/approvals/${shown?.id}`, { ...POST, body: '{"approve":true}' });
    const [code, message] = refusalIn(refused);
    assert.deepEqual([refused.status, code], [409, 'moved']);
    assert.notEqual(message, null);
    assert.equal((await waitingOf(console, 1))[0]?.state, 'waiting');
  });

  it('are skipped with the reason when rejected, do not count as failures, and ignore an invalid answer', async (t) => {
    const console = await startConsole(t, CONFIG, AUTH);
    const { change, ask } = console;
    for (const text of ['lunch', 'dinner']) await send(console, 'post', { text });
    const [first, second] = await waitingOf(console, 2);
    const path = `/api/approvals/${first?.id}`;
    for (const body of [
      '{}',
      '{"approve":"perhaps"}',
      `{"approve":true,"reason":"${'x'.repeat(501)}"}`,
      '{"yes":true}',
    ])
      assert.equal((await ask(path, { ...POST, body })).status, 400, body);
    assert.equal((await ask('/api/approvals/none', { ...POST, body: '{"approve":true}' })).status, 404);
    assert.equal((await waitingOf(console, 2)).length, 2);

    const reason = 'it names a customer';
    const rejected = await change<'answerApproval'>(path, { approve: false, reason });
    assert.deepEqual([rejected.state, rejected.answer?.reason], ['rejected', reason]);
    const skipped = await until(async () => {
      const found = await deliveryOf(console, first?.id ?? '');
      return found.state === 'skipped' && found;
    });
    assert.equal(skipped.reason, `log: not_approved: ${reason}`);
    assert.deepEqual(
      skipped.timeline.slice(-3).map(({ what, outcome }) => [what, outcome]),
      [
        ['rejected by console', 'rejected'],
        ['not sent', null],
        ['skipped', null],
      ],
    );
    const { dead, states, last_error } = await console.get<'getOverview'>('/api/overview');
    assert.deepEqual([dead, states?.dead, states?.skipped, last_error], [[], 0, 1, null]);
    assert.deepEqual(
      (await waitingOf(console, 1)).map(({ id }) => id),
      [second?.id],
    );
  });
});
