/** Results for a custom service and the status of events, after kill -9 and with two gateways of one database. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { groupBy } from '../../base/group-by.ts';
import { createService } from '../../main/runtime.ts';
import type { Service } from '../../runtime/service/options.ts';
import type { RouteTable } from '../../schemas/generated/types.ts';
import { atEnd } from '../helpers/at-end.ts';
import { compileConfig, printed } from '../helpers/compile.ts';
import { startFakeHttp } from '../helpers/fake-http.ts';
import { until } from '../helpers/gateway.ts';
import { startGatewayProcess } from '../helpers/gateway-process.ts';
import { silentLog } from '../helpers/log.ts';
import { skipWithoutPostgres } from '../helpers/postgres/binaries.ts';
import { testDatabase } from '../helpers/postgres/database.ts';
import { sendAgain } from '../helpers/send-again.ts';
import { signed } from '../helpers/serve.ts';
import { tempDir } from '../helpers/temp-dir.ts';

const SECRET = '8f1d2b7e9c4a6053f7e1b2c3d4a5968778695a4b3c2d1e0f';
const EVENTS = 12;
const KILLS = 4;

async function post(url: string, id: string, more: Readonly<Record<string, string>> = {}) {
  const body = JSON.stringify({ event_type: 'x', id });
  const headers = { ...signed(body, SECRET), 'x-request-id': id, ...more };
  // Like a sender that waits too long for a slow disk.
  return until(async () => {
    const response = await sendAgain(`${url}/webhooks/ci`, { method: 'POST', body, headers });
    const answer = (await response.json()) as Readonly<Record<string, string>>;
    return response.status !== 503 && { status: response.status, body: answer };
  });
}

const stateAt = async (url: string, path: string | undefined): Promise<string> =>
  ((await (await fetch(url + path)).json()) as { state: string }).state;

test('a result interrupted by a kill is sent again under its webhook-id, and its status_url stays valid', async (t) => {
  const home = tempDir(t);
  // Answers are delayed until the gateway is killed.
  let held: ServerResponse[] = [];
  let holds = true;
  const service = await startFakeHttp(t, () => (response) => {
    if (holds) held.push(response);
    else response.writeHead(204).end();
  });
  const routes = {
    ci: {
      prompt: 'result {id}',
      agent: 'none',
      deliver: 'http',
      deliver_extra: { id: '{id}' },
      status_url: true,
      rate_limit: 1000,
    },
  };
  const http = {
    enabled: true,
    url: `${service.url}/results/{id}`,
    body: 'cloudevents',
    secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSx',
  };
  const platforms = {
    webhook: { enabled: true, port: 0, secret: SECRET, routes },
    http: { ...http, allow_http: true, allow_private: true },
  };
  writeFileSync(join(home, 'config.yaml'), JSON.stringify({ platforms }), { mode: 0o600 });
  const urls: (string | undefined)[] = [];
  for (let kill = 0; kill < KILLS; kill++) {
    const gateway = await startGatewayProcess({ home });
    atEnd(t, gateway.kill);
    const before = service.seen.length;
    for (let n = 0; n < EVENTS / KILLS; n++) {
      const { status, body } = await post(gateway.url, `e${kill}-${n}`);
      assert.equal(status, 202);
      urls.push(body.status_url);
    }
    await until(async () => service.seen.length > before);
    await gateway.kill();
    for (const response of held) response.destroy();
    held = [];
  }
  holds = false;
  const last = await startGatewayProcess({ home });
  atEnd(t, last.kill);
  await until(async () => {
    const states = await Promise.all(urls.map((url) => stateAt(last.url, url)));
    return states.every((state) => state === 'done');
  });
  const byEvent = groupBy(service.seen, ({ path }) => path);
  assert.equal(byEvent.size, EVENTS);
  const repeated = [...byEvent.values()].filter((requests) => requests.length > 1);
  assert.ok(repeated.length > 0, 'nothing was repeated');
  const ids = [...byEvent.values()].map((requests) => new Set(requests.map(({ headers }) => headers['webhook-id'])));
  for (const set of ids) assert.equal(set.size, 1);
  assert.equal(new Set(ids.flatMap((set) => [...set])).size, EVENTS);
  for (const { json, headers } of service.seen) assert.equal((json as { id: string }).id, headers['webhook-id']);
});

test('every gateway of a database reports the state, and ends the wait for a run of another', {
  skip: skipWithoutPostgres(),
}, async (t) => {
  const database = await testDatabase(t);
  const routes = { ci: { prompt: 'x', status_url: true, status_answer: true, rate_limit: 100_000 } };
  const config = {
    platforms: { webhook: { enabled: true, port: 0, secret: SECRET, routes } },
    gateway: { store: { postgres: database } },
  };
  const compiled = compileConfig(JSON.stringify(config));
  assert.ok(compiled.output, printed(compiled));
  const table = JSON.parse(compiled.output.routesJson) as RouteTable;
  const ran = new Set<string>();
  const answer = async (name: string): Promise<string> => {
    ran.add(name);
    return name;
  };
  const start = async (name: string): Promise<Service & { readonly url: string }> => {
    const service = await createService({ table, home: tempDir(t), agent: () => answer(name), log: silentLog });
    atEnd(t, () => service.stop({ drainMs: 0 }));
    const { url } = await service.listen();
    return Object.assign(service, { url });
  };
  const [one, two] = [await start('one'), await start('two')];
  let count = 0;
  await until(async () => {
    const all = Array.from({ length: 8 }, () => post(one.url, `p${count++}`, { prefer: 'wait=60' }));
    for (const { status, body } of await Promise.all(all)) {
      assert.deepEqual([status, body.state], [200, 'done']);
      const other = await (await fetch(two.url + body.status_url)).json();
      assert.deepEqual(other, { state: 'done', answer: body.answer });
    }
    return ran.has('two');
  });
});
