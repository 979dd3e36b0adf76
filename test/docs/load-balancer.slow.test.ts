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

/** What a proxy answers until it has noticed which gateways are there, and a gateway that has too much to do. */
const AGAIN: readonly number[] = [502, 503, 504];
/** As senders do. @returns the answer; 200: it was taken before, although the answer was another one */
const sendUntilTaken = (send: () => Promise<number>): Promise<number> =>
  until(async () => {
    const status = await send();
    return !AGAIN.includes(status) && status;
  });

const accepted = ({ running }: TestGateway): number => running.stderr().split('"msg":"accepted"').length - 1;

for (const program of ['caddy', 'nginx'] as const) {
  const missing = skipWithoutPostgres() || skipWithout(isProxyHere(program), program, program);
  describe(`three gateways behind ${program}`, { skip: missing }, () => {
    it('share the events, take each once, and go on without one of them', async (t) => {
      const { gateways, send, count } = await start(t, program);
      const ids = Array.from({ length: 30 }, (_, n) => `event-${n}`);
      await until(async () => (await send('first')) === 202);
      const all = (each: readonly string[]) => Promise.all(each.map((id) => sendUntilTaken(() => send(id))));
      for (const status of await all(ids)) assert.ok([202, 200].includes(status), `answered ${status}`);
      let more = 0;
      await until(async () => {
        if (gateways.filter((gateway) => accepted(gateway) > 0).length > 1) return true;
        await all([`more-${more++}`]);
        return false;
      });
      assert.deepEqual(new Set(await all(ids)), new Set([200]));
      const [first] = gateways;
      await first?.stop();
      for (const status of await all(ids.map((id) => `later-${id}`)))
        assert.ok([202, 200].includes(status), `answered ${status}`);
      assert.equal(await count(), 1 + more + 2 * ids.length);
    });
  });
}
