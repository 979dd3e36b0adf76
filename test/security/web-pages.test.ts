/** Tests that a route without a signature accepts programs of this machine, but no web page that its operator opens. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sendRaw, serve } from '../helpers/serve.ts';

const statusOf = (text: string): number => Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0);

function request(headers: Readonly<Record<string, string>>, body = '{"a":1}', method = 'POST'): string {
  const all = { connection: 'close', 'content-type': 'text/plain', 'content-length': String(body.length), ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} /webhooks/open HTTP/1.1\r\n${lines.join('')}\r\n${body}`;
}

const OPEN = { routes: { open: { insecure: true, schemes: [], secrets: [] }, signed: {} } };
const JSON_TYPE = { 'content-type': 'application/json' };

test('a request of a browser for a foreign page is rejected', async (t) => {
  const { port, dispatcher, log } = await serve(t, OPEN);
  const own = `127.0.0.1:${port}`;
  const pages: readonly (readonly [what: string, headers: Record<string, string>])[] = [
    ['a form post', { host: own, origin: 'https://evil.test', 'sec-fetch-site': 'cross-site' }],
    ['an older browser', { host: own, origin: 'https://evil.test' }],
    ['a sandboxed frame', { host: own, origin: 'null' }],
    ['a browser that sends no origin', { host: own, 'sec-fetch-site': 'cross-site' }],
    ['a page on another port of this machine', { host: own, origin: 'http://127.0.0.1:3000' }],
    ['the same, as the browser says it', { host: own, 'sec-fetch-site': 'same-site' }],
    ['a name rebound to this machine', { host: `evil.test:${port}`, origin: `http://evil.test:${port}` }],
    ['the same without an origin', { host: `evil.test:${port}`, 'sec-fetch-site': 'same-origin' }],
    ['a name that only begins like ours', { host: `127.0.0.1.evil.test:${port}` }],
    ['a client behind a proxy', { host: own, 'x-forwarded-for': '192.0.2.1' }],
    ['a client that adds a hop', { host: own, 'x-forwarded-for': '127.0.0.1, 192.0.2.1:80' }],
    ['a proxy that adds a hop', { host: own, 'x-forwarded-for': '192.0.2.1, 127.0.0.1' }],
    ['a standard proxy', { host: own, forwarded: 'by=127.0.0.1;For="[2001:db8::1]:4711";proto=https' }],
    ['a hidden client', { host: own, forwarded: 'for=_hidden' }],
    ['a tunnel', { host: own, 'cf-connecting-ip': '192.0.2.1' }],
    ['another proxy', { host: own, 'x-real-ip': '::ffff:192.0.2.1' }],
    ['a public name behind a proxy', { host: own, 'x-forwarded-host': 'hooks.example.com' }],
    ...[
      ...['fly-client-ip', 'x-cluster-client-ip', 'x-original-forwarded-for', 'x-envoy-external-address', 'client-ip'],
      ...['x-azure-clientip', 'x-azure-socketip', 'x-proxyuser-ip', 'forwarded-for', 'x-forwarded', 'fastly-client-ip'],
      ...['x-appengine-user-ip', 'cf-connecting-ipv6', 'x-remote-ip', 'x-nf-client-connection-ip', 'x-remote-addr'],
      ...['remote-addr', 'x-peer-ip', 'x-sender-ip', 'x-visitor-ip', 'x-clientip', 'x-client-address', 'ip'],
    ].map((name) => [name, { host: own, [name]: '192.0.2.1' }] as const),
    ['a proxy that names only itself', { host: own, via: '1.1 vegur' }],
    ['a proxy with a local name', { host: own, via: '1.1 127.0.0.1' }],
    ['the address in another form', { host: `0.0.0.0:${port}` }],
    [
      'a public name in the standard header',
      { host: own, forwarded: 'for=127.0.0.1;Host="hooks.example.com";proto=http' },
    ],
    ['a public name at the second hop', { host: own, forwarded: `for=127.0.0.1;host=${own}, host=hooks.example.com` }],
    ...[
      ...['', ' ', ':80', '[]', '.', 'localhost.', '127.0.0.1.', '127.1', '2130706433', '0x7f.0.0.1', '127.0.0.2'],
      ...['::ffff:127.0.0.1', '[::ffff:127.0.0.1]', '[::]', '[::1%25lo]', '[0:0:0:0:0:0:0:1]', 'me@localhost'],
      ...['localhost@evil.test', 'localhost/evil.test', 'localhost,evil.test', 'evil.localhost', 'localhost:80:80'],
      ...['xn--localhost', 'localhost\\.evil.test', 'http://localhost', 'localhost#', 'localhost?'],
    ].map((host) => [`the host "${host}"`, { host }] as const),
  ];
  for (const [what, headers] of pages) {
    const answer = await sendRaw(port, [request({ ...JSON_TYPE, ...headers })]);
    assert.equal(statusOf(answer), 403, what);
    assert.match(answer, /"code":"foreign_origin"/, what);
  }
  assert.equal(dispatcher.handed.length, 0);
  assert(log.lines.some(({ fields }) => fields.reason === 'foreign_host'));
});

test('a request without a host is rejected, as HTTP/1.0 allows it', async (t) => {
  const { port, dispatcher } = await serve(t, OPEN);
  const head = request({ ...JSON_TYPE }).replace('HTTP/1.1', 'HTTP/1.0');
  assert.equal(statusOf(await sendRaw(port, [head])), 403);
  assert.equal(statusOf(await sendRaw(port, [head.replace('/webhooks', `http://127.0.0.1:${port}/webhooks`)])), 404);
  const own = head.replace('\r\n', `\r\nHost: 127.0.0.1:${port}\r\n`);
  assert.equal(statusOf(await sendRaw(port, [own])), 202);
  assert.equal(statusOf(await sendRaw(port, [own.replace('/webhooks', 'http://evil.test/webhooks')])), 404);
  assert.equal(dispatcher.handed.length, 1);
});

test('the request is rejected before its body is read', async (t) => {
  const { port } = await serve(t, OPEN);
  const head = request({ ...JSON_TYPE, host: 'evil.test', 'content-length': '1000', expect: '100-continue' }, '');
  assert.equal(statusOf(await sendRaw(port, [head])), 403);
});

test('programs on this machine, and pages of this server, are accepted', async (t) => {
  const { port } = await serve(t, OPEN);
  for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `LOCALHOST:${port}`, `[::1]:${port}`, 'localhost']) {
    assert.equal(statusOf(await sendRaw(port, [request({ ...JSON_TYPE, host })])), 202, host);
    const local = {
      host,
      'x-forwarded-for': '127.0.0.1, ::1',
      forwarded: `for="[::1]";host="${host}";proto=http, for=127.0.0.1; Host=${host}`,
      'x-forwarded-host': host,
    };
    assert.equal(statusOf(await sendRaw(port, [request({ ...JSON_TYPE, ...local })])), 202, host);
    const page = { host, origin: `http://${host}`, 'sec-fetch-site': 'same-origin' };
    assert.equal(statusOf(await sendRaw(port, [request({ ...JSON_TYPE, ...page })])), 202, host);
  }
});

test('signed routes check only their signature, whatever the host', async (t) => {
  const { post } = await serve(t, OPEN);
  assert.equal((await post('/webhooks/signed', {}, { origin: 'https://proxy.test' })).status, 202);
});
