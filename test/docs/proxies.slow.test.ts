/** The Caddyfile and the nginx.conf of docs/proxies.md, run in front of a gateway. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage, Server } from 'node:http';
import { createServer, request as requestPlain } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { before, describe, test } from 'node:test';
import { atEnd } from '../helpers/at-end.ts';
import { startGateway } from '../helpers/gateway.ts';
import type { ProxyProgram } from '../helpers/proxies.ts';
import { askProxy, fileOf, isProxyHere, startProxy } from '../helpers/proxies.ts';
import { tempDir } from '../helpers/temp-dir.ts';

const PAGE = 'docs/proxies.md';
const SECRET = 'a-secret-behind-a-proxy-1234567890';
const MEBIBYTE = 1024 * 1024;

for (const program of ['caddy', 'nginx'] as const) {
  const isMissing = !isProxyHere(program);
  describe(`${program} as docs/proxies.md has it`, { skip: isMissing && process.env.CI !== 'true' }, () => {
    before(() => assert.ok(!isMissing, `${program} is not installed: apt-get install ${program}`));
    test('lets events through and nothing else, up to the size of a body, and says who asks', (t) => check(t, program));
  });
  if (isMissing) console.error(`SKIPPED: ${program} is not here; docs/proxies.md was not tried with it`);
}

async function check(t: TestContext, program: ProxyProgram): Promise<void> {
  const home = tempDir(t);
  const config = fileOf(PAGE, 'hookwright.yaml');
  const gateway = await startGateway(t, { home, config, env: { WEBHOOK_SECRET: SECRET } });
  const between = await startBetween(t, gateway.url);
  const upstreams = (text: string): string => text.replace('127.0.0.1:8644', `127.0.0.1:${between.port}`);
  const port = await startProxy(t, program, { page: PAGE, upstreams });

  const payload = (size: number): string => JSON.stringify({ name: 'x'.repeat(size - '{"name":""}'.length) });
  const headers = {
    'content-type': 'application/json',
    authorization: `Bearer ${SECRET}`,
    'x-forwarded-for': '203.0.113.9',
  };
  const event = { ...headers, 'x-gitlab-token': SECRET };
  assert.equal(await askProxy(port, 'POST', '/webhooks/hello', event, '{"name":"Jo"}'), 202);
  const [first] = between.seen;
  assert.equal(first?.url, '/webhooks/hello');
  const hops = String(first?.headers['x-forwarded-for']).split(',');
  assert.match(hops.at(-1)?.trim() ?? '', /^(127\.0\.0\.1|::1)$/, 'the last hop is who asks, whatever it says itself');

  assert.equal(await askProxy(port, 'POST', '/webhooks/hello', event, payload(MEBIBYTE)), 202);
  assert.equal(await askProxy(port, 'POST', '/webhooks/hello', { ...headers, 'x-gitlab-token': 'wrong' }, '{}'), 401);
  const seen = between.seen.length;
  for (const path of ['/', '/health', '/blueprints', '/webhooks/../health', '/p/support/webhooks/hello']) {
    assert.equal(await askProxy(port, 'GET', path, {}), 404, path);
  }
  assert.equal(between.seen.length, seen, 'nothing of that reached the gateway');
  assert.equal(await askProxy(port, 'POST', '/webhooks/hello', event, payload(MEBIBYTE + 1)), 413);
}

interface Between {
  readonly port: number;
  readonly seen: IncomingMessage[];
}

/**
 * Stands between proxy and gateway, passes on what has come as a whole, and remembers what the proxy let through. A body
 * that is cut off by the proxy does not reach the gateway: which of the two would refuse it first is a matter of chance.
 */
async function startBetween(t: TestContext, gateway: string): Promise<Between> {
  const seen: IncomingMessage[] = [];
  const server = createServer((incoming, response) => {
    seen.push(incoming);
    const { method, headers, url } = incoming;
    const onward = requestPlain(gateway + url, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    const parts: Buffer[] = [];
    incoming.on('data', (part: Buffer) => parts.push(part));
    incoming.once('end', () => onward.end(Buffer.concat(parts)));
    incoming.once('close', () => incoming.complete || onward.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(t, () => server.closeAllConnections());
  atEnd(t, () => server.close());
  return { port: portOf(server), seen };
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port;
