/** A gateway whose store is a PostgreSQL database: alone, beside another one, and while the database is unavailable. */
import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { describe, it } from 'node:test';
import { runInProcess } from '../../../helpers/cli.ts';
import type { TestGateway } from '../../../helpers/gateway.ts';
import { startGateway, until } from '../../../helpers/gateway.ts';
import { skipWithoutPostgres } from '../../../helpers/postgres/binaries.ts';
import { testDatabase } from '../../../helpers/postgres/database.ts';
import { signed } from '../../../helpers/serve.ts';
import { startTcpProxy } from '../../../helpers/tcp-proxy.ts';
import { tempDir } from '../../../helpers/temp-dir.ts';

const SECRET = 'a-literal-secret-for-tests';
const CONFIG = `
gateway:
  store: { postgres: env:DATABASE_URL }
  console: { port: 0 }
platforms:
  webhook:
    enabled: true
    secret: ${SECRET}
    routes:
      hello: { prompt: "Hello {name}" }
      rare: { prompt: "Hello {name}", rate_limit: 5, filters: { field: name, not_equals: ignored } }
`;

const start = (t: TestContext, url: string): Promise<TestGateway> =>
  startGateway(t, { home: tempDir(t), config: CONFIG, env: { DATABASE_URL: url } });

async function post(
  { url }: TestGateway,
  id: string,
  route = 'hello',
): Promise<{ status: number; body: string; retryAfter: string | null }> {
  const body = JSON.stringify({ name: id });
  const headers = { ...signed(body, SECRET), 'x-github-delivery': id, 'x-github-event': 'push' };
  const answer = await fetch(`${url}/webhooks/${route}`, { method: 'POST', body, headers });
  return { status: answer.status, body: await answer.text(), retryAfter: answer.headers.get('retry-after') };
}

describe('a gateway on PostgreSQL', { skip: skipWithoutPostgres() }, () => {
  it('stores accepted events there, for itself and the next one', async (t) => {
    const url = await testDatabase(t);
    const first = await start(t, url);
    assert.equal((await post(first, 'one')).status, 202);
    await until(async () => (await first.cli('deliveries', 'list', '--json')).stdout.includes('"done"'));
    assert.equal(existsSync(join(first.home, 'state.db')), false);
    const second = await start(t, url);
    assert.match((await post(second, 'one')).body, /duplicate/);
    assert.match((await second.cli('deliveries', 'list')).stdout, /hello/);
    assert.equal((await first.stop()).code, 0);
    assert.equal((await post(second, 'two')).status, 202);
  });

  it('counts the requests of a route together with the next one, without ignored ones', async (t) => {
    const url = await testDatabase(t);
    const gateways = [await start(t, url), await start(t, url)];
    const ids = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    // On a busy machine the first commit of a gateway takes long enough for others to be rejected.
    for (const gateway of gateways)
      await until(async () => (await post(gateway, `first-${gateway.home}`)).status < 300);
    // Not beside the others: until it is known that an event is ignored, it counts.
    assert.match((await post(gateways[1] as TestGateway, 'ignored', 'rare')).body, /ignored/);
    const answers = await Promise.all(ids.map((id, n) => post(gateways[n % 2] as TestGateway, id, 'rare')));
    const refused = answers.filter(({ status }) => status === 429);
    assert.equal(refused.length, 2, JSON.stringify(answers));
    for (const { body, retryAfter } of refused) {
      assert.match(body, /"code":"rate_limited"/);
      assert.ok(Number(retryAfter) >= 1 && Number(retryAfter) <= 60, `${retryAfter} s`);
    }
    for (const gateway of gateways) {
      assert.equal((await post(gateway, 'later', 'rare')).status, 429);
      assert.equal((await post(gateway, gateway.home)).status, 202, 'another route has its own window');
    }
  });

  it('starts without the database, returns 503 until it is available, and never shows the password of the file', async (t) => {
    const proxy = await startTcpProxy(t, await testDatabase(t));
    proxy.refuse();
    const url = new URL(proxy.via(await testDatabase(t)));
    url.password = 'hunter2-correct-horse';
    const home = tempDir(t);
    const file = join(home, 'database-url');
    writeFileSync(file, `${url.href}\n`, { mode: 0o600 });
    const gateway = await startGateway(t, { home, config: CONFIG.replace('env:DATABASE_URL', `file:${file}`) });
    const refused = await post(gateway, 'early');
    assert.equal(refused.status, 503);
    assert.match(refused.body, /overloaded/);
    assert.match(refused.retryAfter ?? '', /^[1-9]/);
    const { console } = await gateway.status();
    assert.equal((await fetch(`${console}/readyz`)).status, 503);
    assert.equal((await fetch(`${gateway.url}/health`)).status, 200);
    proxy.heal();
    await until(async () => (await post(gateway, 'early')).status === 202);
    assert.equal((await fetch(`${console}/readyz`)).status, 200);
    assert.match(gateway.running.stderr(), /database|postgres/i);
    assert.doesNotMatch(gateway.running.stderr(), /correct-horse/);
  });

  it('refuses to start with a variable that is not a URL, and does not repeat it', async (t) => {
    const home = tempDir(t);
    writeFileSync(join(home, 'config.yaml'), CONFIG, { mode: 0o600 });
    const env = { DATABASE_URL: 'db.internal:correct-horse' };
    const { code, stderr } = await runInProcess(['gateway', 'run', '--port', '0'], { home, env });
    assert.notEqual(code, 0);
    assert.match(stderr, /gateway\.store\.postgres.*env:DATABASE_URL/);
    assert.doesNotMatch(stderr, /correct-horse/);
  });
});
