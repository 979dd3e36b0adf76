/** Tests the console: who may read what, and whether it shows the true state of the gateway. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { describe, it } from 'node:test';
import { readinessOf } from '../../../runtime/console/status.ts';
import type { ProgramOptions, ServiceOptions } from '../../../runtime/service/options.ts';
import type { GatewayPlan } from '../../../schemas/generated/types.ts';
import { atEnd } from '../../helpers/at-end.ts';
import { recordLog } from '../../helpers/log.ts';
import { createService } from '../../helpers/operated-service.ts';
import { routePlan, routeTable } from '../../helpers/route-table.ts';
import { sendRaw } from '../../helpers/serve.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const LITERAL = { kind: 'literal', value: 'a token of some length', scope: 'default' } as const;
const BEARER = { authorization: 'Bearer a token of some length' };

async function serveWith(
  t: TestContext,
  gateway: Partial<GatewayPlan>,
  more: Partial<ServiceOptions> = {},
  program: ProgramOptions = {},
) {
  const log = recordLog();
  const table = routeTable({ routes: { pulls: {} }, gateway }).table;
  const service = await createService({ table, home: tempDir(t), store: ':memory:', log, ...more }, program);
  atEnd(t, () => service.stop({ drainMs: 0 }));
  const { url } = await service.listen();
  const { console } = await service.status();
  const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    fetch(`${console}${path}`, { headers, method });
  return { service, url, get, log, console };
}

describe('the console', () => {
  it('is off by default, and its pages are not on the public port', async (t) => {
    const { url, console } = await serveWith(t, {});
    assert.equal(console, null);
    for (const path of ['/metrics', '/livez', '/readyz']) assert.equal((await fetch(url + path)).status, 404);
  });

  it('serves its three pages on its own port, and nothing else', async (t) => {
    const { url, console, get } = await serveWith(t, { console: { host: '127.0.0.1', port: 0, token: null } });
    assert.notEqual(new URL(console ?? '').port, new URL(url).port);
    const metrics = await get('/metrics');
    assert.match(metrics.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
    assert.match(await metrics.text(), /^hookwright_routes\{kind="static"\} 1$/m);
    assert.equal(await (await get('/livez')).text(), 'ok\n');
    assert.deepEqual(await (await get('/readyz')).json(), { ready: true, problems: [] });
    assert.equal((await get('/webhooks/pulls')).status, 404);
    assert.equal((await get('/__proto__')).status, 404);
    assert.equal((await get('/metrics', {}, 'POST')).status, 405);
    assert.equal((await get('/livez', {}, 'HEAD')).status, 200);
  });

  it('shows the alert counters of a subscription as 0 before its first request', async (t) => {
    const home = tempDir(t);
    const plan = routePlan('added', {});
    const lowerSubscriptions = (text: string) => ({ routes: text === '{}' ? [] : [plan], rejected: [] });
    const consoleAt = { console: { host: '127.0.0.1', port: 0, token: null } };
    const { get, service } = await serveWith(t, consoleAt, { home }, { lowerSubscriptions });
    assert.doesNotMatch(await (await get('/metrics')).text(), /added/);
    writeFileSync(join(home, 'webhook_subscriptions.json'), '{"added": {}}');
    assert.match(
      await (await get('/metrics')).text(),
      /^hookwright_requests_total\{.*"added",outcome="overloaded"\} 0$/m,
    );
    writeFileSync(join(home, 'webhook_subscriptions.json'), '{}');
    assert.equal((await service.status()).subscriptions.serving, 0);
  });

  it('shows metrics and reasons only with the token', async (t) => {
    const { get } = await serveWith(t, { console: { host: '127.0.0.1', port: 0, token: LITERAL } });
    const refused = await get('/metrics');
    assert.equal(refused.status, 401);
    assert.equal(refused.headers.get('www-authenticate'), 'Bearer');
    assert.equal((await get('/metrics', { authorization: 'Bearer a token of some lengtH' })).status, 401);
    assert.equal((await get('/metrics', BEARER)).status, 200);
    assert.equal((await get('/livez')).status, 200);
    assert.deepEqual(await (await get('/readyz')).json(), { ready: true });
    assert.deepEqual(await (await get('/readyz', BEARER)).json(), { ready: true, problems: [] });
  });

  it('without a token, shows metrics and reasons to local programs, but not to web pages', async (t) => {
    const { console } = await serveWith(t, { console: { host: '127.0.0.1', port: 0, token: null } });
    const { port, host } = new URL(console ?? '');
    const cases: readonly (readonly [headers: Record<string, string>, status: number])[] = [
      [{ host }, 200],
      [{ host: `localhost:${port}` }, 200],
      [{ host: `[::1]:${port}` }, 200],
      [{ host, origin: `http://${host}` }, 200],
      [{ host, 'sec-fetch-site': 'same-origin' }, 200],
      [{ host, 'sec-fetch-site': 'none' }, 200],
      [{ host: 'evil.example' }, 403],
      [{ host: `rebound.example:${port}` }, 403],
      [{ host, origin: 'https://evil.example' }, 403],
      [{ host, origin: 'null' }, 403],
      [{ host, 'sec-fetch-site': 'cross-site' }, 403],
      [{ host, 'sec-fetch-site': 'same-site' }, 403],
    ];
    for (const [headers, status] of cases) {
      const about = JSON.stringify(headers);
      assert.equal((await ask(port, '/metrics', headers)).status, status, about);
      assert.equal((await ask(port, '/livez', headers)).status, 200, about);
      const ready = await ask(port, '/readyz', headers);
      assert.deepEqual(JSON.parse(ready.text), status === 200 ? { ready: true, problems: [] } : { ready: true }, about);
    }
  });

  it('without a token, tells a request without a host only whether it is ready', async (t) => {
    const { console } = await serveWith(t, { console: { host: '127.0.0.1', port: 0, token: null } });
    const { port, host } = new URL(console ?? '');
    const statusOf = (text: string) => Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]);
    const send = async (target: string, more: string) =>
      statusOf(await sendRaw(Number(port), [`GET ${target} HTTP/1.0\r\n${more}\r\n`]));
    for (const path of ['/', '/metrics', '/api/jobs'])
      for (const more of [
        '',
        'Host:\r\n',
        'Host: localhost.\r\n',
        'Host: me@localhost\r\n',
        'X-Forwarded-Host: localhost\r\n',
      ])
        assert.equal(await send(path, more), 403, `${path} ${more}`);
    assert.deepEqual([await send('/livez', ''), await send('/readyz', '')], [200, 200]);
    assert.equal(await send('/metrics', `Host: ${host}\r\n`), 200);
    assert.equal(await send(`http://${host}/metrics`, ''), 403);
    assert.equal(await send('http://evil.example/metrics', `Host: ${host}\r\n`), 404);
    assert.equal(await send('/metrics', `Host: ${host}\r\nHost: ${host}\r\n`), 400);
  });

  it('responds while strangers hold every connection', async (t) => {
    const { console, get } = await serveWith(t, { console: { host: '127.0.0.1', port: 0, token: LITERAL } });
    const { port } = new URL(console ?? '');
    const held = Array.from({ length: 1200 }, (_, index) => {
      const socket = connect(Number(port), '127.0.0.1');
      socket.on('error', () => {}).resume();
      if (index % 2 === 0) socket.write('GET /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nX: ');
      return socket;
    });
    atEnd(t, () => {
      for (const socket of held) socket.destroy();
    });
    assert.equal((await get('/livez')).status, 200);
    assert.equal((await get('/metrics', BEARER)).status, 200);
  });

  it('ends with the gateway, and reports that it is stopping until then', async (t) => {
    const { service, get } = await serveWith(t, { console: { host: '127.0.0.1', port: 0, token: null } });
    const stopping = service.stop({ drainMs: 5000 });
    const answer = await get('/readyz').catch(() => null);
    if (answer !== null) assert.equal(answer.status, 503);
    await stopping;
    await assert.rejects(get('/livez'));
  });

  it('prevents the start if its token is missing', async (t) => {
    const token = { kind: 'env', value: 'NOT_THERE', scope: 'default' } as const;
    await assert.rejects(serveWith(t, { console: { host: '127.0.0.1', port: 0, token } }), {
      name: 'TableError',
      message: /^gateway\.console\.token: env:NOT_THERE\b/,
    });
  });

  it('is opened once; another table logs that', async (t) => {
    const { service, log } = await serveWith(t, {});
    const console = { host: '127.0.0.1', port: 0, token: null };
    await service.swap(routeTable({ routes: { other: {} }, gateway: { console } }).table);
    assert.ok(log.lines.some(({ level, message }) => level === 'warn' && message.includes('gateway.console')));
  });
});

/** `fetch` does not send every header. */
function ask(port: string, path: string, headers: Record<string, string>): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, headers, agent: false }, async (response) => {
      let text = '';
      for await (const chunk of response) text += chunk;
      resolve({ status: response.statusCode ?? 0, text });
    });
    sent.once('error', reject).end();
  });
}

describe('readiness', () => {
  const serving = {
    url: 'http://127.0.0.1:1',
    state: 'serving' as const,
    table: { hash: '', generation: 1, loadedAt: 0, error: null, routes: 1 },
    subscriptions: { serving: 0, quarantined: [], error: null },
    rate_limited: [],
  };

  it('is false while the store accepts nothing', () => {
    const problem = { kind: 'unavailable' as const, message: 'the database does not answer', since: 0 };
    assert.deepEqual(readinessOf(serving, { problem: () => problem, shared: null }), {
      ready: false,
      problems: [{ part: 'store', blocking: true, message: 'the database does not answer' }],
    });
  });

  it('stays true with the previous table, and shows the problem of the newest', () => {
    const table = { ...serving.table, error: 'route "pulls": env:PULLS_SECRET is not set' };
    assert.deepEqual(readinessOf({ ...serving, table }, { problem: () => null, shared: null }), {
      ready: true,
      problems: [{ part: 'table', blocking: false, message: table.error }],
    });
  });
});
