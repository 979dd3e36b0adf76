/** The API of `hookwright`: from a config in any form to events, over HTTP, over fetch and without either. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { FinishedDispatch, Hooks, HookwrightOptions } from '../../main/hookwright.ts';
import { ConfigError, hookwright } from '../../main/hookwright.ts';
import { MODULES } from '../../main/modules.ts';
import * as exported from '../../main/modules-entry.ts';
import { atEnd } from '../helpers/at-end.ts';
import { FakeClock } from '../helpers/fake-clock.ts';
import { silentLog } from '../helpers/log.ts';
import { tempDir } from '../helpers/temp-dir.ts';

const SECRET = 'a secret of at least 16 bytes';
const ROUTES = {
  issues: { source: 'github', events: ['issues'], prompt: 'Triage: {issue.title}' },
  open: { prompt: '{text}', filters: [{ field: 'kind', equals: 'wanted' }], rate_limit: 3 },
  off: { prompt: '{text}', enabled: false },
  grouped: { prompt: '{text}', coalesce: { key: '{key}', window_seconds: 600 } },
} as const;

const configOf = (routes: object, more: object = {}) => ({
  platforms: { webhook: { enabled: true, secret: 'env:SECRET', routes } },
  ...more,
});

async function open(t: TestContext, options: Partial<HookwrightOptions> = {}): Promise<Hooks> {
  const hooks = await hookwright({
    config: configOf(ROUTES),
    env: { SECRET },
    store: ':memory:',
    log: silentLog,
    agent: ({ prompt }) => `answer to ${prompt}`,
    ...options,
  });
  atEnd(t, () => hooks.stop({ drainMs: 0 }));
  return hooks;
}

function signed(body: string, headers: Readonly<Record<string, string>> = {}): RequestInit {
  return {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      'x-github-event': 'issues',
      'x-hub-signature-256': `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`,
      ...headers,
    },
  };
}

async function serving(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(t, () => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const nextFinished = (hooks: Hooks): Promise<FinishedDispatch> =>
  new Promise((resolve) => {
    const off = hooks.on('finished', (event) => {
      off();
      resolve(event);
    });
  });

const BODY = '{ "issue": { "title": "It does not start" } }';

describe('a config', () => {
  const TEXT = JSON.stringify(configOf(ROUTES));

  test('can be a path, a file URL, a text with a line break, or an object', async (t) => {
    const home = tempDir(t);
    const path = join(home, 'hooks.yaml');
    writeFileSync(path, TEXT);
    for (const config of [path, 'hooks.yaml', pathToFileURL(path), `${TEXT}\n`, configOf(ROUTES)]) {
      const hooks = await open(t, { config, cwd: home });
      assert.deepEqual(Object.keys(hooks.service.table.routes), Object.keys(ROUTES));
    }
  });

  test('with errors is rejected with diagnostics, which the message shows', async (t) => {
    const wrong = configOf({ issues: { promt: 'x' } });
    for (const config of [wrong, `${JSON.stringify(wrong)}\n`, 'missing.yaml']) {
      const error: unknown = await open(t, { config, cwd: tempDir(t) }).catch((reason: unknown) => reason);
      assert.ok(error instanceof ConfigError);
      assert.ok(error.diagnostics.some(({ severity }) => severity === 'error'));
      for (const { message } of error.diagnostics) assert.ok(error.message.includes(message));
    }
  });

  test('that is neither a path nor a text throws a TypeError', async (t) => {
    for (const config of ['platforms: {}', '{}', 7, null] as never[])
      await assert.rejects(open(t, { config }), (error) => error instanceof TypeError && /config/.test(error.message));
  });

  test('is compiled and served with the `.env` beside it', async (t) => {
    const cwd = tempDir(t);
    writeFileSync(join(cwd, '.env'), `SECRET=${SECRET}\n`, { mode: 0o600 });
    const text = `${JSON.stringify(configOf({ open: { prompt: '{text}' } }))}\n`;
    const hooks = await open(t, { config: text, cwd, env: {} });
    assert.equal((await hooks.emit('open', { text: 'x' })).outcome, 'accepted');
  });
  test('keeps its warnings', async (t) => {
    const home = tempDir(t);
    const config = configOf({ a: { prompt: '{x}', deliver: 'log', agent: 'none', skills: ['triage'] } });
    const { diagnostics } = await open(t, { config, home });
    assert.ok(diagnostics.length > 0 && diagnostics.every(({ severity }) => severity !== 'error'));
  });
});

describe('a store in memory', () => {
  const temporary = () => readdirSync(tmpdir()).filter((name) => /^hookwright-\w{6}$/.test(name));

  test('leaves no files, even after a rejected config', async (t) => {
    const before = temporary();
    const hooks = await open(t);
    const done = nextFinished(hooks);
    await hooks.emit('issues', JSON.parse(BODY), { event: 'issues' });
    assert.equal((await done).state, 'done');
    const [folder] = temporary().filter((name) => !before.includes(name));
    assert.ok(folder);
    assert.deepEqual(readdirSync(join(tmpdir(), folder)), []);
    await hooks.stop();
    assert.equal(existsSync(join(tmpdir(), folder)), false);
    const missing = { config: configOf({ a: { prompt: '{x}', secret: 'env:NONE' } }) };
    await assert.rejects(open(t, missing));
    assert.deepEqual(
      temporary().filter((name) => !before.includes(name)),
      [],
    );
  });

  test('writes no store into a home', async (t) => {
    const home = tempDir(t);
    const hooks = await open(t, { home });
    assert.equal((await hooks.emit('open', { kind: 'wanted' })).outcome, 'accepted');
    await hooks.stop();
    assert.deepEqual(readdirSync(home), []);
  });

  test('is a file of the home by default, and a later service sees its events', async (t) => {
    const home = tempDir(t);
    for (const outcome of ['accepted', 'duplicate']) {
      const hooks = await open(t, { home, store: undefined });
      const event = { event: 'issues', deliveryId: 'one' };
      assert.equal((await hooks.emit('issues', JSON.parse(BODY), event)).outcome, outcome);
      await hooks.stop();
    }
    assert.ok(existsSync(join(home, 'state.db')));
  });
});

describe('emit', () => {
  test('runs every stage except those of HTTP, and returns the outcome', async (t) => {
    const hooks = await open(t);
    const done = nextFinished(hooks);
    const emitted = await hooks.emit('issues', { issue: { title: 'x' } }, { event: 'issues', deliveryId: 'one' });
    const { id, answer } = await done;
    assert.equal(answer, 'answer to Triage: x');
    assert.deepEqual(emitted, {
      outcome: 'accepted',
      reason: null,
      event: 'issues',
      deliveryId: 'one',
      dispatch: id,
      answer: { status: 'accepted', route: 'issues', event: 'issues', delivery_id: 'one' },
    });
    const outcomes = [
      await hooks.emit('issues', {}, { event: 'issues', deliveryId: 'one' }),
      await hooks.emit('issues', {}, { event: 'push' }),
      await hooks.emit('open', { kind: 'other' }),
      await hooks.emit('off', {}),
      await hooks.emit('grouped', { key: 'a' }),
    ];
    assert.deepEqual(
      outcomes.map(({ outcome, reason }) => [outcome, reason]),
      [
        ['duplicate', null],
        ['ignored', 'event'],
        ['ignored', 'filter'],
        ['route_disabled', null],
        ['coalesced', null],
      ],
    );
    assert.ok(outcomes.every(({ dispatch }) => dispatch === null));
  });

  test('counts against the rate limit of the route', async (t) => {
    const hooks = await open(t);
    const outcomes: string[] = [];
    for (let at = 0; at < 4; at++) outcomes.push((await hooks.emit('open', { kind: 'wanted' })).outcome);
    assert.deepEqual(outcomes, ['accepted', 'accepted', 'accepted', 'rate_limited']);
  });

  test('without an id creates a new event each time', async (t) => {
    const hooks = await open(t);
    const ids = new Set<string>();
    for (const _ of [1, 2]) ids.add((await hooks.emit('issues', JSON.parse(BODY), { event: 'issues' })).deliveryId);
    assert.equal(ids.size, 2);
  });

  test('rejects an unknown route and a payload that is not JSON', async (t) => {
    const hooks = await open(t);
    const circular: Record<string, unknown> = {};
    circular.self = circular;
    await assert.rejects(hooks.emit('missing', {}), TypeError);
    await assert.rejects(hooks.emit('open', {}, { profile: 'other' }), TypeError);
    for (const payload of [undefined, 1n, circular, () => {}])
      await assert.rejects(hooks.emit('open', payload), TypeError);
  });

  test('is rejected once the service stops', async (t) => {
    const hooks = await open(t);
    await hooks.stop({ drainMs: 0 });
    assert.equal((await hooks.emit('open', { kind: 'wanted' })).outcome, 'shutting_down');
  });

  test('reaches a dynamic subscription', async (t) => {
    const home = tempDir(t);
    const hooks = await open(t, { home });
    writeFileSync(join(home, 'webhook_subscriptions.json'), '{"added":{"prompt":"{x}"}}', { mode: 0o600 });
    assert.equal((await hooks.emit('added', { x: 1 })).outcome, 'accepted');
  });
});

describe('node and fetch', () => {
  test('answer requests that a server of the program receives', async (t) => {
    const hooks = await open(t);
    const url = await serving(t, hooks.node);
    const first = await fetch(`${url}/webhooks/issues`, signed(BODY, { 'x-github-delivery': '1' }));
    assert.deepEqual(
      [first.status, await first.json()],
      [202, { status: 'accepted', route: 'issues', event: 'issues', delivery_id: '1' }],
    );
    const again = new Request('http://app.example/webhooks/issues', signed(BODY, { 'x-github-delivery': '1' }));
    assert.equal(((await (await hooks.fetch(again)).json()) as { status: string }).status, 'duplicate');
    const wrong = await fetch(`${url}/webhooks/issues`, signed(BODY, { 'x-hub-signature-256': 'sha256=00' }));
    assert.equal(wrong.status, 401);
    assert.equal((await fetch(`${url}/webhooks/missing`, signed(BODY))).status, 404);
    assert.equal((await fetch(`${url}/health`)).status, 200);
  });

  /** Mounts like Express, Connect and middie. */
  const mount =
    (prefix: string, { node }: Hooks): RequestListener =>
    (request, response) => {
      const app = (error?: unknown): void =>
        void response.writeHead(error === undefined ? 200 : 500).end(error instanceof Error ? error.message : 'app');
      const { url = '' } = request;
      if (!url.startsWith(prefix)) return app();
      request.url = url.slice(prefix.length);
      node(request, response, app);
    };

  test('work below any path, and pass other requests to the program', async (t) => {
    const hooks = await open(t);
    for (const prefix of ['', '/hooks']) {
      const url = await serving(t, mount(prefix, hooks));
      assert.equal((await fetch(`${url}${prefix}/webhooks/issues`, signed(BODY))).status, 202);
      for (const path of [`${prefix}/health`, `${prefix}/`, '/own'])
        assert.equal(await (await fetch(url + path, { method: 'POST', body: 'x' })).text(), 'app');
    }
  });

  test('keep a connection for the next request after an unread body', async (t) => {
    const hooks = await open(t);
    const ports = new Set<number | undefined>();
    const url = await serving(t, (incoming, response) => {
      ports.add(incoming.socket.remotePort);
      hooks.node(incoming, response);
    });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    atEnd(t, () => agent.destroy());
    const body = 'x'.repeat(30_000);
    for (let at = 0; at < 3; at++) {
      const sent = request(`${url}/webhooks/off`, { agent, method: 'POST', headers: { 'content-length': 30_000 } });
      sent.end(body);
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      assert.equal(response.statusCode, 403);
      await once(response.resume(), 'end');
    }
    assert.equal(ports.size, 1);
  });

  test('reject a body over the limit with a response, and accept a long valid one', async (t) => {
    const hooks = await open(t);
    const url = await serving(t, hooks.node);
    const long = JSON.stringify({ issue: { title: 'x'.repeat(600_000) } });
    assert.equal((await fetch(`${url}/webhooks/issues`, signed(long))).status, 202);
    const longer = JSON.stringify({ issue: { title: 'x'.repeat(6_000_000) } });
    assert.equal((await fetch(`${url}/webhooks/issues`, signed(longer))).status, 413);
  });

  test('report a body that was already read', async (t) => {
    const hooks = await open(t);
    const parsed =
      (take: (request: IncomingMessage, response: ServerResponse) => void): RequestListener =>
      (request, response) =>
        void request.resume().once('end', () => take(request, response));
    const alone = await serving(t, parsed(hooks.node));
    assert.equal((await fetch(`${alone}/webhooks/issues`, signed(BODY))).status, 500);
    const mounted = await serving(t, parsed(mount('', hooks)));
    assert.equal((await fetch(`${mounted}/webhooks/issues`, signed(BODY))).status, 500);
  });
});

describe('modules', () => {
  test('are exported by name', () => {
    assert.deepEqual(
      Object.values(exported).map(({ name }) => name),
      Object.keys(exported),
    );
    assert.deepEqual(Object.keys(exported).sort(), MODULES.map(({ name }) => name).sort());
  });

  test('that are passed are the only ones loaded', async (t) => {
    const budget = { config: configOf(ROUTES, { gateway: { budget: { per: 'day', runs: 1 } } }) };
    const { guard } = exported;
    await assert.rejects(open(t, { ...budget, modules: [] }), { name: 'TableError' });
    const hooks = await open(t, { ...budget, modules: [guard] });
    await hooks.emit('open', { kind: 'wanted' });
    assert.equal((await hooks.emit('open', { kind: 'wanted' })).reason, 'budget');
    await assert.rejects(hooks.service.metrics());
    await assert.rejects(open(t, { modules: [{ name: 'own' }] }), TypeError);
  });
});

test('jobs fire without a listener', async (t) => {
  const clock = new FakeClock();
  const config = configOf({}, { jobs: { tick: { schedule: '* * * * *', prompt: 'tick', deliver: 'log' } } });
  const hooks = await open(t, { config, clock });
  const finished = nextFinished(hooks);
  await clock.run(90_000);
  assert.equal((await finished).job, 'tick');
});
