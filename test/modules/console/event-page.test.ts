/** The fields of the API that join a delivery with its request, and that list what needs a person. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { refusalIn, startConsole } from '../../helpers/console.ts';
import { until } from '../../helpers/gateway.ts';
import { sendAgain } from '../../helpers/send-again.ts';

const CONFIG = `platforms:
  webhook:
    enabled: true
    routes:
      one: { secret: INSECURE_NO_AUTH, prompt: "{text}", deliver: log, agent: none, rate_limit: 5 }
      two: { secret: INSECURE_NO_AUTH, prompt: "{text}", deliver: log, agent: none }
gateway: { name: blue, console: { port: 0 } }
jobs: { brief: { schedule: "0 8 * * *", prompt: Brief me. } }
`;

describe('an event', () => {
  it('has one page: its request names its delivery, and its delivery names its request', async (t) => {
    const { get, gateway } = await startConsole(t, CONFIG);
    const post = async (route: string, id: string, text: string): Promise<number> => {
      const headers = { 'content-type': 'application/json', 'x-request-id': id };
      return (
        await sendAgain(`${gateway.url}/webhooks/${route}`, { method: 'POST', body: JSON.stringify({ text }), headers })
      ).status;
    };
    // The id of an event is in the text of others, in another case, and in another route; and the event arrives twice.
    assert.equal(await post('one', 'ab', 'first'), 202);
    assert.equal(await post('one', 'AB', 'ab'), 202);
    assert.equal(await post('two', 'ab', 'ab'), 202);
    assert.equal(await post('one', 'ab', 'first'), 200);
    const requests = await until(async () => {
      const { items } = await get<'listRequests'>('/api/requests');
      return items.length === 4 && items;
    });
    for (const { id, outcome } of requests) {
      const { dispatch_id, delivery_id, route } = await get<'getRequest'>(`/api/requests/${id}`);
      if (outcome === 'duplicate') continue;
      const delivery = await get<'getDelivery'>(`/api/deliveries/${dispatch_id}`);
      assert.deepEqual([delivery.request_id, delivery.delivery_id, delivery.route], [id, delivery_id, route]);
    }
  });

  it('shows in the list of requests how its delivery ended, for the whole page', async (t) => {
    const { get, gateway } = await startConsole(t, CONFIG);
    const headers = { 'content-type': 'application/json' };
    const post = (text: string, id: string) =>
      sendAgain(`${gateway.url}/webhooks/two`, {
        method: 'POST',
        body: text,
        headers: { ...headers, 'x-request-id': id },
      });
    for (const id of ['a', 'b']) await post('{"text":"x"}', id);
    await post('no json', 'c');
    await post('{"text":"x"}', 'b');
    const items = await until(async () => {
      const { items } = await get<'listRequests'>('/api/requests');
      const isDone = items.filter(({ delivery }) => delivery?.state === 'done').length === 2;
      return items.length === 4 && isDone && items;
    });
    const shown = items.map(({ outcome, dispatch_id, delivery }) => [
      outcome,
      delivery?.id === dispatch_id && delivery?.delivery_id,
    ]);
    assert.deepEqual(
      shown,
      [
        ['duplicate', undefined],
        ['malformed_body', undefined],
        ['accepted', 'b'],
        ['accepted', 'a'],
      ].map(([outcome, id]) => [outcome, id ?? false]),
    );
    const { items: routes } = await get<'listRoutes'>('/api/routes');
    assert.deepEqual(
      routes.map(({ name, traffic }) => [name, traffic.events, traffic.last_at !== null]),
      [
        ['one', 0, false],
        ['two', 2, true],
      ],
    );
  });

  it('is listed by a group of outcomes, page by page, as by each of them', async (t) => {
    const { get, gateway } = await startConsole(t, CONFIG);
    const post = (path: string, body: string, type: string) =>
      sendAgain(`${gateway.url}/webhooks/${path}`, { method: 'POST', body, headers: { 'content-type': type } });
    for (let turn = 0; turn < 3; turn++) {
      await post('two', 'no json', 'application/json');
      await post('two', `{"text":"${turn}"}`, 'application/json');
      await post('two', '<x/>', 'image/png');
    }
    const all = await until(async () => {
      const { items } = await get<'listRequests'>('/api/requests?limit=200');
      return items.length === 9 && items;
    });
    const rejected = all.filter(({ status }) => status >= 400 && status < 500).map(({ id }) => id);
    assert.equal(new Set(all.map(({ outcome }) => outcome)).size, 3);
    for (const limit of [1, 3, 8, 200]) {
      const found: string[] = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const page: Awaited<ReturnType<typeof get<'listRequests'>>> = await get<'listRequests'>(
          `/api/requests?outcome=rejected&limit=${limit}${cursor === '' ? '' : `&cursor=${cursor}`}`,
        );
        assert.ok(page.items.length <= limit);
        found.push(...page.items.map(({ id }) => id));
        cursor = page.next;
      }
      assert.deepEqual(found, rejected);
    }
    assert.deepEqual((await get<'listRequests'>('/api/requests?outcome=failed')).items, []);
  });

  it('has no request if a job caused it', async (t) => {
    const { get, change } = await startConsole(t, CONFIG);
    const { dispatch } = await change<'runJob'>('/api/jobs/brief/run');
    assert.equal((await get<'getDelivery'>(`/api/deliveries/${dispatch}`)).request_id, null);
  });
});

describe('a dead delivery', () => {
  const SENT = `agents: { slow: { command: ["false"], confined: a test, timeout_seconds: 120, max_attempts: 1 } }
platforms:
  webhook:
    enabled: true
    routes:
      chat: { secret: INSECURE_NO_AUTH, prompt: "{text}", deliver: telegram, deliver_extra: { chat_id: "{chat}" }, agent: none }
      run: { secret: INSECURE_NO_AUTH, prompt: "{text}", deliver: log, agent: slow }
  telegram: { enabled: true, token: "1:a", api_base: "http://127.0.0.1:PORT" }
gateway: { console: { port: 0 }, max_attempts: 1 }
`;

  it('says to which address it was sent, where that is set, and whether the same message fails again', async (t) => {
    let status = 400;
    const double = createServer((_request, response) => response.writeHead(status).end('{"ok":false}'));
    await new Promise<void>((resolve) => double.listen(0, '127.0.0.1', resolve));
    t.after(() => double.close());
    const config = SENT.replace('PORT', String((double.address() as AddressInfo).port));
    const { get, gateway } = await startConsole(t, config);
    const lineOf = (text: string): number => config.split('\n').findIndex((line) => line.includes(text)) + 1;
    const deadOf = async (route: string, id: string) => {
      const headers = { 'content-type': 'application/json', 'x-request-id': id };
      const body = JSON.stringify({ text: 'Disk full', chat: '-7' });
      await sendAgain(`${gateway.url}/webhooks/${route}`, { method: 'POST', body, headers });
      return until(async () => {
        const { items } = await get<'listDeliveries'>(`/api/deliveries?route=${route}`);
        const one = items.find(({ delivery_id, state }) => delivery_id === id && state === 'dead');
        return one !== undefined && get<'getDelivery'>(`/api/deliveries/${one.id}`);
      });
    };
    const gone = await deadOf('chat', 'a');
    const [failure] = gone.failures;
    assert.deepEqual(
      [gone.failures.length, failure?.target, failure?.address, failure?.outcome],
      [1, 'telegram', { chat_id: '-7' }, 'permanent'],
    );
    assert.match(failure?.reason ?? '', /HTTP 400/);
    assert.match(gone.configured.place ?? '', new RegExp(`:${lineOf(' chat:')}$`));
    assert.equal(gone.resends, true);
    status = 503;
    const late = await deadOf('chat', 'b');
    assert.deepEqual(
      late.failures.map(({ target, outcome }) => [target, outcome]),
      [['telegram', 'retry']],
    );
    const run = await deadOf('run', 'c');
    assert.deepEqual(
      run.failures.map(({ target, outcome }) => [target, outcome]),
      [[null, 'failed']],
    );
    assert.match(run.failures[0]?.reason ?? '', /exited with 1/);
    assert.equal(run.configured.timeout_seconds, 120);
    assert.equal(run.resends, false, 'there is no text');
  });
});

describe('the console', () => {
  it('names the gateway, and routes over their rate limit', async (t) => {
    const { get, gateway } = await startConsole(t, CONFIG);
    assert.equal((await get<'getSession'>('/api/session')).name, 'blue');
    const body = { method: 'POST', body: '{"text":"x"}', headers: { 'content-type': 'application/json' } };
    await until(async () => (await fetch(`${gateway.url}/webhooks/one`, body)).status === 429);
    // The pages link the route that this message begins with.
    const { problems } = await get<'getOverview'>('/api/overview');
    assert.ok(
      problems.some(({ message }) => /^route one: its rate_limit /.test(message)),
      JSON.stringify(problems),
    );
  });

  it('removes a job that was created at run time, and none of the configuration', async (t) => {
    const { get, change, ask } = await startConsole(t, CONFIG);
    const [blueprint] = (await get<'listBlueprints'>('/api/blueprints')).items;
    const values = Object.fromEntries(blueprint?.fields.map((field) => [field.name, field.default || 'x']) ?? []);
    const { id } = await change<'createBlueprintJob'>(`/api/blueprints/${blueprint?.key}/jobs`, { values });
    const jobs = async () => (await get<'listJobs'>('/api/jobs')).items.map((job) => job.id);
    assert.deepEqual((await jobs()).sort(), ['brief', id].sort());
    const post = { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } };
    const both = await Promise.all([1, 2].map(() => ask(`/api/jobs/${id}/remove`, post)));
    assert.deepEqual(both.map(({ status }) => status).sort(), [200, 404], 'two people at once');
    assert.deepEqual(await jobs(), ['brief']);
    const refused = await ask('/api/jobs/brief/remove', post);
    assert.deepEqual([refused.status, refusalIn(refused)[0]], [409, 'refused']);
    assert.deepEqual(await jobs(), ['brief']);
  });
});
