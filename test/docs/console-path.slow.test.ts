/** The blocks of docs/proxies.md for the console below a path, run in nginx, Caddy and HAProxy in front of a console. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import type { TestContext } from 'node:test';
import { describe, test } from 'node:test';
import { atEnd } from '../helpers/at-end.ts';
import { startConsole } from '../helpers/console.ts';
import type { ProxyProgram } from '../helpers/proxies.ts';
import { fileOf, isProxyHere, startProxy } from '../helpers/proxies.ts';

const PAGE = 'docs/proxies.md';
const TOKEN = 'a-token-behind-a-proxy';
const CONFIG = `platforms:
  webhook: { enabled: true, secret: a-literal-secret-for-tests, trusted_proxies: [127.0.0.1], routes: { hello: { prompt: "{name}" } } }
gateway: { console: { port: 0, token: ${TOKEN}, base_path: /hooks/console } }
`;
/** The file of the document, and the text of the whole configuration before which it belongs; empty: it is whole. */
const PLACES: Readonly<Record<ProxyProgram, readonly [file: string, before: string]>> = {
  haproxy: ['console/haproxy.cfg', ''],
  nginx: ['console/nginx.conf', '  location / {'],
  caddy: ['console/Caddyfile', '\thandle {'],
};

for (const program of ['caddy', 'nginx', 'haproxy'] as const) {
  const isMissing = !isProxyHere(program);
  describe(`${program} with the console below a path`, { skip: isMissing && process.env.CI !== 'true' }, () => {
    test('serves the page, logs in with a cookie for that path only, and passes the stream on', (t) =>
      check(t, program));
  });
}

async function check(t: TestContext, program: ProxyProgram): Promise<void> {
  const { url } = await startConsole(t, CONFIG, { authorization: `Bearer ${TOKEN}` });
  const [file, before] = PLACES[program];
  const here = (text: string): string => text.replace('127.0.0.1:8645', new URL(url).host);
  const block = here(fileOf(PAGE, file));
  const port = await startProxy(t, program, {
    page: PAGE,
    upstreams: (text) => {
      assert.ok(text.includes(before));
      if (before === '') return here(text);
      return text.replace(before, () => `${block}\n${before}`);
    },
  });
  const open: IncomingMessage[] = [];
  // Caddy waits for open responses before it ends.
  atEnd(t, () => open.forEach((answer) => void answer.destroy()));
  const ask = async (path: string, headers: Record<string, string> = {}, body?: string): Promise<IncomingMessage> => {
    const method = body === undefined ? 'GET' : 'POST';
    const of = { host: 'localhost', port, path, method, headers, rejectUnauthorized: false, agent: false as const };
    const [answer] = (await once(request(of).end(body), 'response')) as [IncomingMessage];
    open.push(answer);
    return answer;
  };
  const bare = await ask('/hooks/console');
  assert.deepEqual([bare.statusCode, bare.headers.location], [308, '/hooks/console/']);
  assert.equal((await ask('/hooks/console/livez')).statusCode, 200);
  // Other paths of the site are not the console.
  for (const path of ['/livez', '/api/session', '/login', '/hooks/', '/hooks/consoles'])
    assert.equal((await ask(path)).statusCode, program === 'haproxy' ? 503 : 404, path);
  const json = { 'content-type': 'application/json', origin: `https://localhost:${port}` };
  const login = await ask('/hooks/console/login', json, JSON.stringify({ token: TOKEN }));
  const [cookie = ''] = login.headers['set-cookie'] ?? [];
  assert.match(cookie, /; Path=\/hooks\/console\/; .*; Secure$/);
  const headers = { cookie: cookie.split(';', 1)[0] ?? '', ...json };
  assert.equal((await ask('/hooks/console/api/routes/hello/pause', headers, '{"seconds":60}')).statusCode, 200);
  const stream = await ask('/hooks/console/api/events', headers);
  const [first] = (await once(stream, 'data')) as [Buffer];
  assert.match(first.toString(), /^: live/);
}
