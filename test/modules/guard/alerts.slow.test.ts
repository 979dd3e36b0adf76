/** Alerts: one message when something fails, and one when it is resolved; and the heartbeat. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { it } from 'node:test';
import { compileText } from '../../../main/compiler.ts';
import type { RunProcess } from '../../../runtime/platform/process/run-process.ts';
import type { ServiceOptions } from '../../../runtime/service/options.ts';
import { atEnd } from '../../helpers/at-end.ts';
import { until } from '../../helpers/gateway.ts';
import { recordLog } from '../../helpers/log.ts';
import { createService } from '../../helpers/operated-service.ts';
import { handleAgain } from '../../helpers/send-again.ts';
import { signed } from '../../helpers/serve.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const SECRET = 'a-secret-of-a-sender-1';
const YAML = `
gateway: { alerts: { deliver: local } }
platforms:
  webhook:
    enabled: true
    secret: env:SECRET
    routes:
      review: { prompt: "{n}", deliver: log, on_failure: { deliver: local } }
`;

/** Ends each call of a program with an error. */
const broken: RunProcess = async () => ({
  kind: 'exit',
  code: 1,
  signal: null,
  stdout: Buffer.from(''),
  stderr: 'gone',
});

async function serve(t: TestContext, yaml = YAML, options: Partial<ServiceOptions> = {}) {
  const home = tempDir(t);
  const env = { SECRET, GH_TOKEN: 'ghp_4f9a1c7e2b8d6035' };
  const { table, diagnostics } = await compileText(yaml, { home, env });
  if (table === null) throw new Error(JSON.stringify(diagnostics));
  const log = recordLog();
  const state = { fails: true };
  const agent = (): string => {
    if (state.fails) throw new Error('no');
    return 'fine';
  };
  const service = await createService({ table, home, env, agent, log, ...options });
  atEnd(t, () => service.stop({ drainMs: 0 }));
  const send = async (n: number): Promise<void> => {
    const body = JSON.stringify({ n });
    const headers = { ...signed(body, SECRET), 'content-type': 'application/json' };
    const request = new Request('http://localhost/webhooks/review', { method: 'POST', body, headers });
    assert.equal((await handleAgain(service, request)).status, 202);
  };
  const messages = async (event: string): Promise<readonly string[]> => {
    const rows = await service.store.read({ kind: 'list', filter: { limit: 200 } });
    const own = rows.filter((row) => row.event === event).reverse();
    return Promise.all(
      own.map(async ({ ref }) => (await service.store.read({ kind: 'load', ref }))?.dispatch.prompt ?? ''),
    );
  };
  return { service, log, state, send, messages };
}

it('23 equal failures send one alert, and the next success another; on_failure receives each reason', async (t) => {
  const { service, state, send, messages } = await serve(t);
  for (let n = 0; n < 23; n++) await send(n);
  await until(async () => (await messages('run_failed')).length >= 23);
  assert.equal((await messages('run_failed')).length, 23);
  await until(async () => (await messages('alert')).length > 0);
  const [begin, ...more] = await messages('alert');
  assert.match(begin ?? '', /^hookwright: .*route review\n/);
  assert.deepEqual(more, []);
  assert.deepEqual(
    (await service.status()).alerts.map(({ kind, subject }) => [kind, subject]),
    [['run_failed', 'route review']],
  );
  state.fails = false;
  await send(99);
  await until(async () => (await messages('alert')).length > 1);
  const all = await messages('alert');
  assert.equal(all.length, 2);
  assert.match(all[1] ?? '', /^hookwright: .*route review\n/);
  assert.deepEqual((await service.status()).alerts, []);
});

it('an alert whose only target fails waits for it, and raises no other alert', async (t) => {
  const yaml = YAML.replace(
    'alerts: { deliver: local }',
    'max_attempts: 1, alerts: { deliver: github_comment, deliver_extra: { repo: octo/ops, pr_number: "7" } }',
  ).replace(', deliver: log', ', deliver: github_comment, deliver_extra: { repo: octo/ops, pr_number: "8" }');
  const target = '  github_comment: { enabled: true, token: env:GH_TOKEN, max_attempts: 1, command: gh }\n';
  let isDown = true;
  const run: RunProcess = async (request) =>
    isDown
      ? broken(request)
      : { kind: 'exit', code: 0, signal: null, stdout: Buffer.from('https://example.org/1\n'), stderr: '' };
  const { service, log, state, send, messages } = await serve(t, `${yaml}${target}`, { run });
  state.fails = false;
  await send(1);
  await until(async () => (await messages('alert')).length > 0);
  const alert = async () =>
    (await service.store.read({ kind: 'list', filter: { limit: 9 } })).find(({ event }) => event === 'alert');
  const isTried = (): boolean => log.lines.some(({ message }) => message.includes('will retry'));
  await until(async () => isTried());
  await send(2);
  const dead = { kind: 'list', filter: { limit: 9, state: 'dead' } } as const;
  await until(async () => (await service.store.read(dead)).length === 2);
  assert.equal((await messages('alert')).length, 1);
  assert.equal((await alert())?.state, 'delivering');
  isDown = false;
  await until(async () => (await alert())?.state === 'done');
  assert.deepEqual(
    (await service.status()).alerts.map(({ kind }) => kind),
    ['delivery_dead'],
  );
});

it('sends the heartbeat while the gateway is healthy', async (t) => {
  let calls = 0;
  const server = createServer((_request, response) => {
    calls++;
    response.end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(t, async () => void server.close());
  const { port } = server.address() as AddressInfo;
  const yaml = YAML.replace(
    'alerts: { deliver: local }',
    `heartbeat: { url: "http://127.0.0.1:${port}/beat-9f2c", every: 10s }`,
  );
  await serve(t, yaml);
  await until(async () => calls > 0);
  assert.equal(calls, 1);
});

it('an alert to an HTTP target has its event in place of a route', async (t) => {
  const sent: unknown[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (part) => (body += String(part)));
    request.on('end', () => {
      const { route } = JSON.parse(body) as { route: unknown };
      sent.push([request.url, route]);
      response.end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(t, async () => void server.close());
  const { port } = server.address() as AddressInfo;
  const yaml = YAML.replaceAll('deliver: local', 'deliver: http');
  const target = `  http: { enabled: true, url: "http://127.0.0.1:${port}/{route}", allow_http: true, allow_private: true }\n`;
  const { send } = await serve(t, `${yaml}${target}`);
  await send(1);
  await until(async () => sent.length > 1);
  assert.deepEqual(sent.sort(), [
    ['/alert', 'alert'],
    ['/run_failed', 'run_failed'],
  ]);
});
