/** The Caddyfile and the nginx.conf of docs/scale.md, in front of three gateways on one database. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { describe, it } from 'node:test';
import { freePort } from '../helpers/free-port.ts';
import type { TestGateway } from '../helpers/gateway.ts';
import { startGateway, until } from '../helpers/gateway.ts';
import { skipWithoutPostgres } from '../helpers/postgres/binaries.ts';
import { runSql, testDatabase } from '../helpers/postgres/database.ts';
import type { ProxyProgram } from '../helpers/proxies.ts';
import { askProxy, isProxyHere, startProxy } from '../helpers/proxies.ts';
import { signed } from '../helpers/serve.ts';
import { skipWithout } from '../helpers/skip-without.ts';
import { tempDir } from '../helpers/temp-dir.ts';

const SECRET = 'a-secret-of-three-gateways';
/** Addresses of this machine for those of the document. */
const HOSTS = ['127.0.0.1', '127.0.0.2', '127.0.0.3'];

const configOf = (host: string, console: number): string => `
gateway:
  store: { postgres: env:DATABASE_URL }
  console: { host: ${host}, port: ${console}, token: a-token-that-collectors-send }
platforms:
  webhook: { enabled: true, host: ${host}, secret: ${SECRET}, routes: { hello: { rate_limit: 1000, prompt: "Hello {name}" } } }
`;

interface ThreeGateways {
  readonly gateways: readonly TestGateway[];
  readonly send: (id: string) => Promise<number>;
  /** Of the dispatches that are stored. */
  readonly count: () => Promise<number>;
}

async function start(t: TestContext, program: ProxyProgram): Promise<ThreeGateways> {
  const url = await testDatabase(t);
  const [port, console] = [await freePort(), await freePort()];
  const argv = ['gateway', 'run', '--port', String(port)];
  const gateways: TestGateway[] = [];
  for (const host of HOSTS) {
    const options = { home: tempDir(t), config: configOf(host, console), env: { DATABASE_URL: url } };
    gateways.push(await startGateway(t, { ...options, argv }));
  }
  const upstreams = (text: string): string =>
    text.replaceAll(/10\.0\.0\.(\d):8644/g, `127.0.0.$1:${port}`).replace('health_port 8645', `health_port ${console}`);
  const proxy = await startProxy(t, program, { page: 'docs/scale.md', upstreams });
  return {
    gateways,
    send(id) {
      const body = JSON.stringify({ name: id });
      const event = { 'x-github-delivery': id, 'x-github-event': 'push', 'content-type': 'application/json' };
      return askProxy(proxy, 'POST', '/webhooks/hello', { ...signed(body, SECRET), ...event }, body);
    },
    async count() {
      const rows = await runSql<{ count: number }>(url, 'SELECT count(*)::integer AS count FROM hookwright.dispatch');
      return rows[0]?.count ?? 0;
    },
  };
}

/** As senders do: older versions of Caddy answer 502 until they notice that a gateway is gone. */
const sentUntilTaken = (send: () => Promise<number>): Promise<boolean> =>
  until(async () => {
    const status = await send();
    assert.ok([202, 502].includes(status), `answered ${status}`);
    return status === 202;
  });

const accepted = ({ running }: TestGateway): number => running.stderr().split('"msg":"accepted"').length - 1;

for (const program of ['caddy', 'nginx'] as const) {
  const missing = skipWithoutPostgres() || skipWithout(isProxyHere(program), program, program);
  describe(`three gateways behind ${program}`, { skip: missing }, () => {
    it('share the events, take each once, and go on without one of them', async (t) => {
      const { gateways, send, count } = await start(t, program);
      const ids = Array.from({ length: 30 }, (_, n) => `event-${n}`);
      await until(async () => (await send('first')) === 202);
      assert.deepEqual(new Set(await Promise.all(ids.map(send))), new Set([202]));
      assert.ok(gateways.filter((gateway) => accepted(gateway) > 0).length > 1, 'one gateway had all the events');
      assert.deepEqual(new Set(await Promise.all(ids.map(send))), new Set([200]));
      const [first] = gateways;
      await first?.stop();
      for (const n of ids.keys()) await sentUntilTaken(() => send(`later-${n}`));
      assert.equal(await count(), 1 + 2 * ids.length);
    });
  });
}
