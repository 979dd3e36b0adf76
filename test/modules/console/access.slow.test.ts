/** Access to the console: without a token, from other sites, as a viewer, and with guessed tokens. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { cookieName } from '../../../modules/console/runtime/access.ts';
import { checkAnswer, document, startConsole } from '../../helpers/console.ts';
import { until } from '../../helpers/gateway.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const TOKEN = 'token-of-the-operators';
const COOKIE = cookieName({ port: 0 });
const VIEWER = 'token-of-the-viewers';

const configOf = (console: string, webhook = ''): string => `platforms:
  webhook:
    enabled: true
    secret: a-literal-secret-for-tests
${webhook}    routes: { hello: { prompt: "Hello {name}" } }
jobs: { brief: { schedule: "0 8 * * *", prompt: Brief me. } }
gateway: { console: { port: 0${console} } }
`;
const WITH_TOKENS = configOf(`, token: ${TOKEN}, viewer_token: ${VIEWER}`);

interface Sent {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

interface Got {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly text: string;
}

/** `fetch` cannot send every header. */
function ask(url: string, path: string, { method = 'GET', headers = {}, body = '' }: Sent = {}): Promise<Got> {
  const { port } = new URL(url);
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, method, headers, agent: false }, async (response) => {
      let text = '';
      for await (const chunk of response) text += chunk;
      resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
    });
    sent.once('error', reject).end(body);
  });
}

const ROLES: Readonly<Record<string, string>> = { ann: 'operator', bob: 'viewer', cy: 'operator' };
const JSON_BODY = { 'content-type': 'application/json' };
const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });

async function login(url: string, token: string, headers: Record<string, string> = {}): Promise<string> {
  const got = await ask(url, '/login', {
    ...{ method: 'POST', headers: { ...JSON_BODY, ...headers }, body: JSON.stringify({ token }) },
  });
  assert.equal(got.status, 200, got.text);
  return String(got.headers['set-cookie']);
}

const pairIn = (cookie: string): string => cookie.split(';', 1)[0] ?? '';

describe('without the token', () => {
  it('gets the same response for every path, whether it exists or not', async (t) => {
    const { url } = await startConsole(t, WITH_TOKENS);
    const paths = ['/api/overview', '/api/openapi.json', '/api/nothing', '/metrics', '/nothing', '/api/deliveries/x'];
    const answers = new Set<string>();
    for (const path of paths) {
      for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS', 'PATCH']) {
        const { status, text } = await ask(url, path, { method });
        answers.add(`${status} ${text}`);
        checkAnswer(method, '/nothing', status, JSON.parse(text));
      }
    }
    assert.deepEqual([...answers].length, 1, [...answers].join(''));
    assert.match([...answers][0] ?? '', /^401 /);
    assert.equal((await ask(url, '/livez')).status, 200);
    assert.equal((await ask(url, '/readyz')).text, '{"ready":true}\n');
  });

  it('rejects other spellings of the authorization header', async (t) => {
    const { url } = await startConsole(t, WITH_TOKENS);
    for (const authorization of [
      ...[TOKEN, `Basic ${TOKEN}`, 'Bearer', 'Bearer ', `Bearer ${TOKEN}x`, `Bearer ${TOKEN.slice(1)}`],
      ...[`Bearer ${TOKEN.toUpperCase()}`, 'Bearer null', 'Bearer undefined'],
    ]) {
      assert.equal((await ask(url, '/api/session', { headers: { authorization } })).status, 401, authorization);
    }
    for (const [path, cookie] of [
      [`/api/session?token=${TOKEN}`, ''],
      ['/api/session', `${COOKIE}=${TOKEN}`],
      ['/api/session', `${COOKIE}=99999999999.${'0'.repeat(64)}`],
    ] as const) {
      assert.equal((await ask(url, path, { headers: { cookie } })).status, 401);
    }
  });
});

describe('a login', () => {
  it('sets one HttpOnly, SameSite cookie and returns the role', async (t) => {
    const { url } = await startConsole(t, WITH_TOKENS);
    for (const [token, role] of [
      [TOKEN, 'operator'],
      [VIEWER, 'viewer'],
    ] as const) {
      const cookie = await login(url, token);
      assert.match(
        cookie,
        /^hookwright_console_[0-9a-f]{12}=\d+\.[0-9a-f]{24}\.[0-9a-f]{64}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/,
      );
      const { text } = await ask(url, '/api/session', { headers: { cookie: `a=b; ${pairIn(cookie)}` } });
      assert.deepEqual(JSON.parse(text), { role, user: null, signs_in: true, name: null });
      const later = pairIn(cookie).replace(/=(\d+)/, (_, at: string) => `=${Number(at) + 1}`);
      const other = pairIn(cookie).replace(/\.[0-9a-f]{24}\./, `.${'0'.repeat(24)}.`);
      for (const changed of [later, other])
        assert.equal((await ask(url, '/api/session', { headers: { cookie: changed } })).status, 401);
    }
  });

  it('knows people by their tokens, until the next reload removes them', async (t) => {
    const home = tempDir(t);
    const people = (names: readonly string[]): string =>
      configOf(
        `, users: { ${names.map((name) => `${name}: { token: the-token-of-${name}, role: ${ROLES[name]} }`).join(', ')} }`,
      );
    const { url, gateway } = await startConsole(t, people(['ann', 'bob', 'cy']), {}, home);
    const of = async (headers: Record<string, string>): Promise<unknown> => {
      const { status, text } = await ask(url, '/api/session', { headers });
      const { user, role } = JSON.parse(text);
      return status === 200 ? [user, role] : status;
    };
    const cookies = {
      ann: { cookie: pairIn(await login(url, 'the-token-of-ann')) },
      bob: { cookie: pairIn(await login(url, 'the-token-of-bob')) },
    };
    assert.deepEqual(await of(bearer('the-token-of-ann')), ['ann', 'operator']);
    assert.deepEqual(await of(cookies.ann), ['ann', 'operator']);
    assert.deepEqual(await of(cookies.bob), ['bob', 'viewer']);
    assert.equal(await of(bearer(TOKEN)), 401);
    assert.equal(await of({}), 401);
    const pause = { method: 'POST', headers: { ...JSON_BODY, ...bearer('the-token-of-bob') }, body: '{}' };
    assert.equal((await ask(url, '/api/routes/hello/pause', pause)).status, 403);
    const asAnn = { ...pause, headers: { ...pause.headers, ...bearer('the-token-of-ann') } };
    assert.equal((await ask(url, '/api/routes/hello/pause', asAnn)).status, 200);
    const { text } = await ask(url, '/api/overview', { headers: bearer('the-token-of-bob') });
    assert.deepEqual(
      JSON.parse(text).paused.map(({ route, by }: { route: string; by: string }) => [route, by]),
      [['hello', 'console:ann']],
    );
    writeFileSync(join(home, 'config.yaml'), people(['bob']), { mode: 0o600 });
    await gateway.cli('gateway', 'reload');
    await until(async () => (await of(cookies.ann)) === 401);
    assert.equal(await of(bearer('the-token-of-ann')), 401);
    assert.deepEqual(await of(cookies.bob), ['bob', 'viewer']);
    writeFileSync(join(home, 'config.yaml'), configOf(''), { mode: 0o600 });
    await gateway.cli('gateway', 'reload');
    await until(async () => (await of(cookies.bob)) === 401);
    assert.equal(await of({}), 401, 'a console that was opened with tokens needs a restart to be open');
  });

  it('limits the cookie to the path of the console below another site', async (t) => {
    const console = await startConsole(
      t,
      configOf(`, token: ${TOKEN}, base_path: /hooks/console`, '    trusted_proxies: [127.0.0.1]\n'),
      bearer(TOKEN),
    );
    const { origin: url, pathname } = new URL(console.url);
    assert.equal(pathname, '/hooks/console', 'the status shows the path');
    const signIn = async (path: string, headers: Record<string, string> = {}) => {
      const form = { 'content-type': 'application/x-www-form-urlencoded', origin: url, ...headers };
      const got = await ask(url, `${path}/login`, { method: 'POST', headers: form, body: `token=${TOKEN}` });
      const [, scope] = /; Path=([^;]*);/.exec(String(got.headers['set-cookie'])) ?? [];
      return [got.status, got.headers.location, scope];
    };
    assert.deepEqual(await signIn('/hooks/console'), [303, '/hooks/console/', '/hooks/console/']);
    // A proxy that removes the path names it.
    assert.deepEqual(await signIn('', { 'x-forwarded-prefix': '/ops' }), [303, '/ops/', '/ops/']);
    assert.deepEqual(await signIn(''), [404, undefined, undefined]);
    for (const prefix of ['//evil.example', '/a;Domain=x', '/../x', 'ops', '/ops, /other', '/a b', '/a//b', '/\\evil'])
      assert.deepEqual(await signIn('', { 'x-forwarded-prefix': prefix }), [404, undefined, undefined], prefix);
    const bare = await ask(url, '/hooks/console');
    assert.deepEqual([bare.status, bare.headers.location], [308, '/hooks/console/']);
    assert.equal((await ask(url, '/hooks/console/livez')).status, 200);
    assert.equal((await ask(url, '/hooks/console/api/session', { headers: bearer(TOKEN) })).status, 200);
    for (const path of ['/hooks/consoleapi/session', '/hooks/api/session', '/hooks/console//api/session'])
      assert.equal((await ask(url, path, { headers: bearer(TOKEN) })).status, 404, path);
    for (const path of ['/', '/api/session', '/api/openapi.json', '/api/events', '/login', '/logout', '/livez/'])
      for (const headers of [{}, bearer(TOKEN)]) assert.equal((await ask(url, path, { headers })).status, 404, path);
    const prefixed = { ...bearer(TOKEN), 'x-forwarded-prefix': '/ops' };
    assert.equal((await ask(url, '/api/session', { headers: prefixed })).status, 200);
    for (const path of ['/livez', '/readyz', '/metrics'])
      for (const base of ['', '/hooks/console'])
        assert.equal((await ask(url, base + path, { headers: bearer(TOKEN) })).status, 200, base + path);
    assert.equal((await ask(url, '/metrics')).status, 401);
  });

  it('ignores the path of a proxy that is not trusted', async (t) => {
    const { url } = await startConsole(t, WITH_TOKENS);
    assert.match(await login(url, TOKEN, { 'x-forwarded-prefix': '/ops' }), /; Path=\/; /);
  });

  it('accepts a form; a logout ends every copy of the cookie, over a restart', async (t) => {
    const home = tempDir(t);
    const { url, gateway } = await startConsole(t, WITH_TOKENS, {}, home);
    const kept = pairIn(await login(url, VIEWER));
    const headers = { 'content-type': 'application/x-www-form-urlencoded', origin: url };
    const got = await ask(url, '/login', { method: 'POST', headers, body: `token=${TOKEN}` });
    assert.deepEqual([got.status, got.headers.location], [303, '/']);
    const cookie = pairIn(String(got.headers['set-cookie']));
    const out = await ask(url, '/logout', { method: 'POST', headers: { cookie, origin: url } });
    assert.match(String(out.headers['set-cookie']), /^hookwright_console_[0-9a-f]{12}=; Path=\/; Max-Age=0; /);
    const statusOf = async (at: string, of: string) =>
      (await ask(at, '/api/session', { headers: { cookie: of } })).status;
    assert.deepEqual([await statusOf(url, cookie), await statusOf(url, kept)], [401, 200]);
    assert.equal((await ask(url, '/logout', { method: 'POST', headers: { cookie, origin: url } })).status, 401);
    assert.equal((await gateway.stop()).code, 0);
    const next = await startConsole(t, WITH_TOKENS, {}, home);
    assert.deepEqual([await statusOf(next.url, cookie), await statusOf(next.url, kept)], [401, 200]);
  });

  it('marks the cookie Secure only behind a trusted TLS proxy', async (t) => {
    const proxy = { 'x-forwarded-proto': 'https', 'x-forwarded-for': '192.0.2.1' };
    const { url } = await startConsole(t, configOf(`, token: ${TOKEN}`, '    trusted_proxies: [127.0.0.1]\n'));
    for (const said of ['https', 'HTTPS', 'https, http'])
      assert.match(await login(url, TOKEN, { ...proxy, 'x-forwarded-proto': said }), /; Secure$/, said);
    assert.doesNotMatch(await login(url, TOKEN, { ...proxy, 'x-forwarded-proto': 'http, https' }), /Secure/);
    assert.doesNotMatch(await login(url, TOKEN, { ...proxy, 'x-forwarded-proto': 'http' }), /Secure/);
    const other = await startConsole(t, WITH_TOKENS);
    assert.doesNotMatch(await login(other.url, TOKEN, proxy), /Secure/);
  });

  it('rejects a viewer token equal to the operator token at startup', async (t) => {
    await assert.rejects(
      startConsole(t, configOf(`, token: ${TOKEN}, viewer_token: ${TOKEN}`)),
      /error console-without-token: .*`token`/,
    );
    const home = tempDir(t);
    writeFileSync(join(home, '.env'), `A=${TOKEN}\nB=${TOKEN}\n`, { mode: 0o600 });
    await assert.rejects(
      startConsole(t, configOf(', token: env:A, viewer_token: env:B'), {}, home),
      /gateway\.console\.viewer_token: the same as `token`/,
    );
  });

  it('limits a client after ten wrong tokens, but still accepts the right one', async (t) => {
    const { url } = await startConsole(t, WITH_TOKENS);
    const attempt = (token: string) =>
      ask(url, '/login', { method: 'POST', headers: JSON_BODY, body: JSON.stringify({ token }) });
    const cookie = pairIn(await login(url, TOKEN));
    for (let count = 0; count < 10; count++) assert.equal((await attempt(`guess ${count}`)).status, 401);
    const refused = await attempt('guess 10');
    assert.equal(refused.status, 429);
    assert.ok(Number(refused.headers['retry-after']) > 0);
    assert.equal((await ask(url, '/api/session', { headers: bearer('guess 11') })).status, 429);
    assert.equal((await ask(url, '/nothing', { headers: bearer('guess 12') })).status, 429);
    assert.equal((await ask(url, '/livez')).status, 200);
    for (const headers of [bearer(TOKEN), bearer(VIEWER), { cookie }])
      assert.equal((await ask(url, '/metrics', { headers })).status, 200);
    assert.equal((await attempt(TOKEN)).status, 200);
    assert.equal((await attempt(`${TOKEN}x`)).status, 429);
  });

  it('limits clients behind a proxy separately, and does not count right tokens', async (t) => {
    const { url } = await startConsole(t, configOf(`, token: ${TOKEN}`, '    trusted_proxies: [127.0.0.1]\n'));
    const asked = async (client: string, token: string) =>
      (await ask(url, '/api/session', { headers: { ...bearer(token), 'x-forwarded-for': client } })).status;
    for (let count = 0; count < 20; count++) assert.equal(await asked('192.0.2.1', TOKEN), 200);
    for (let count = 0; count < 10; count++) assert.equal(await asked('192.0.2.1', 'guess'), 401);
    assert.equal(await asked('192.0.2.1', 'guess'), 429);
    assert.equal(await asked('192.0.2.2', 'guess'), 401);
    assert.equal(await asked('192.0.2.1', TOKEN), 200);
  });

  it('rejects any other input', async (t) => {
    const { url } = await startConsole(t, WITH_TOKENS);
    for (const [body, headers, status] of [
      ['{"token":["x"]}', JSON_BODY, 400],
      ['{}', JSON_BODY, 400],
      ['[1]', JSON_BODY, 400],
      ['{', JSON_BODY, 400],
      [`{"token":"${TOKEN}"}`, { 'content-type': 'text/plain' }, 415],
      [`{"token":"${TOKEN}"}${' '.repeat(4096)}`, JSON_BODY, 413],
    ] as const) {
      assert.equal((await ask(url, '/login', { method: 'POST', headers, body })).status, status, body);
    }
    const open = await startConsole(t, configOf(''));
    assert.equal(
      (await ask(open.url, '/login', { method: 'POST', headers: JSON_BODY, body: '{"token":"x"}' })).status,
      404,
    );
  });
});

describe('a page of another site', () => {
  const change = { method: 'POST', body: '{}' };

  it('cannot change anything with the cookie of a user: the origin is checked first', async (t) => {
    const { url } = await startConsole(t, WITH_TOKENS);
    const { host } = new URL(url);
    const cookie = pairIn(await login(url, TOKEN));
    for (const [headers, status] of [
      [{}, 403],
      [{ origin: 'null' }, 403],
      [{ origin: 'https://evil.example' }, 403],
      [{ origin: `http://${host}.evil.example` }, 403],
      [{ origin: `http://127.0.0.1:${Number(new URL(url).port) + 1}` }, 403],
      [{ origin: url, 'sec-fetch-site': 'same-site' }, 403],
      [{ origin: url, 'sec-fetch-site': 'cross-site' }, 403],
      [{ 'sec-fetch-site': 'none' }, 403],
      [{ origin: url }, 200],
      [{ 'sec-fetch-site': 'same-origin' }, 200],
    ] as const) {
      const got = await ask(url, '/api/jobs/brief/resume', {
        ...change,
        headers: { ...JSON_BODY, cookie, ...headers },
      });
      assert.equal(got.status, status, JSON.stringify(headers));
    }
    // The origin is checked before the credential and the path.
    const foreign = { origin: 'https://evil.example' };
    assert.equal((await ask(url, '/nothing', { ...change, headers: foreign })).status, 403);
    assert.equal((await ask(url, '/login', { ...change, headers: { ...JSON_BODY, ...foreign } })).status, 403);
    const headers = { ...JSON_BODY, ...foreign, ...bearer(TOKEN) };
    assert.equal((await ask(url, '/api/jobs/brief/resume', { ...change, headers })).status, 200);
  });

  it('cannot read anything with the cookie, not even as a script or a stream', async (t) => {
    const { url } = await startConsole(t, WITH_TOKENS);
    const cookie = pairIn(await login(url, TOKEN));
    for (const site of ['cross-site', 'same-site'])
      assert.equal(
        (await ask(url, '/api/overview', { headers: { cookie, 'sec-fetch-site': site } })).status,
        401,
        site,
      );
    assert.equal(
      (await ask(url, '/api/overview', { headers: { cookie, 'sec-fetch-site': 'same-origin' } })).status,
      200,
    );
  });

  it('cannot read from a console without a token, by host name, origin or site', async (t) => {
    const { url } = await startConsole(t, configOf(''));
    const { host, port } = new URL(url);
    for (const [headers, status] of [
      [{ host }, 200],
      [{ host: `localhost:${port}`, origin: `http://localhost:${port}` }, 200],
      [{ host: `rebound.example:${port}` }, 403],
      [{ host: `rebound.example:${port}`, origin: `http://rebound.example:${port}` }, 403],
      [{ host, origin: 'null' }, 403],
      [{ host, origin: 'https://evil.example' }, 403],
      [{ host, 'sec-fetch-site': 'cross-site' }, 403],
    ] as const) {
      const about = JSON.stringify(headers);
      assert.equal((await ask(url, '/api/overview', { headers })).status, status, about);
      const got = await ask(url, '/api/jobs/brief/resume', { ...change, headers: { ...JSON_BODY, ...headers } });
      assert.equal(got.status, status, about);
    }
  });

  it('cannot frame any response, including errors', async (t) => {
    const { url } = await startConsole(t, WITH_TOKENS);
    for (const [path, headers] of [
      ['/livez', {}],
      ['/nothing', {}],
      ['/metrics', bearer(TOKEN)],
      ['/api/overview', bearer(TOKEN)],
      ['/api/nothing', bearer(TOKEN)],
    ] as const) {
      const got = (await ask(url, path, { headers })).headers;
      const policy = String(got['content-security-policy']);
      assert.match(policy, /^default-src 'self'; .*frame-ancestors 'none'$/);
      assert.doesNotMatch(policy, /unsafe/);
      assert.deepEqual(
        [got['x-frame-options'], got['x-content-type-options'], got['cache-control']],
        ['DENY', 'nosniff', 'no-store'],
        path,
      );
      assert.equal(got['access-control-allow-origin'], undefined);
      assert.equal(got['cross-origin-resource-policy'], 'same-origin');
    }
  });
});

describe('a viewer', () => {
  it('reads everything and changes nothing, with the token and with a cookie', async (t) => {
    const { url } = await startConsole(t, WITH_TOKENS);
    const cookie = pairIn(await login(url, VIEWER));
    for (const headers of [bearer(VIEWER), { cookie, origin: url }]) {
      assert.equal((await ask(url, '/api/overview', { headers })).status, 200);
      assert.equal((await ask(url, '/metrics', { headers })).status, 200);
      for (const [path, methods] of Object.entries(document.paths).filter(([each]) => each.startsWith('/api/'))) {
        for (const method of Object.keys(methods).filter((each) => each !== 'get')) {
          const concrete = path.replace(/\{\w+\}/g, 'x');
          const got = await ask(url, concrete, {
            method: method.toUpperCase(),
            headers: { ...JSON_BODY, ...headers },
            body: '{}',
          });
          assert.deepEqual([got.status, JSON.parse(got.text).code], [403, 'read_only'], path);
        }
      }
    }
  });
});

describe('an HTTP request', () => {
  /** Sends raw bytes and returns the whole response. */
  const raw = (url: string, text: string): Promise<string> =>
    new Promise((resolve) => {
      let got = '';
      const socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.write(text));
      socket.setEncoding('latin1').on('data', (chunk: string) => {
        got += chunk;
      });
      socket.on('error', () => {}).on('close', () => resolve(got));
    });

  it('has limited bodies and headers', async (t) => {
    const { url } = await startConsole(t, WITH_TOKENS);
    const headers = { ...JSON_BODY, ...bearer(TOKEN) };
    const body = JSON.stringify({ payload: 'x'.repeat(1_100_000) });
    assert.equal((await ask(url, '/api/routes/hello/test', { method: 'POST', headers, body })).status, 413);
    assert.equal(
      (await ask(url, '/api/overview', { headers: { ...headers, 'x-long': 'x'.repeat(20_000) } })).status,
      431,
    );
    const long = `/api/deliveries/${'x'.repeat(5000)}`;
    assert.equal((await ask(url, long, { headers })).status, 400);
  });

  it('is rejected with contradictory lengths, two hosts or an invalid header, so that proxies see the same request', async (t) => {
    const { url } = await startConsole(t, WITH_TOKENS);
    const line = 'POST /api/jobs/brief/resume HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';
    const own = `Authorization: Bearer ${TOKEN}\r\n`;
    const smuggled = `GET /metrics HTTP/1.1\r\nHost: x\r\n${own}\r\n`;
    for (const headers of [
      'Content-Length: 4\r\nTransfer-Encoding: chunked\r\n',
      'Content-Length: 4\r\nContent-Length: 5\r\n',
      'Content-Length: 4, 4\r\n',
      'Transfer-Encoding: chunked, identity\r\n',
      'Transfer-Encoding : chunked\r\n',
      'Content-Length: +4\r\n',
      'X: a\n b\r\n',
    ]) {
      const got = await raw(url, `${line}${own}${headers}\r\n0\r\n\r\n${smuggled}`);
      assert.match(got, /^HTTP\/1\.1 400 /, headers);
      assert.equal(got.match(/^HTTP\/1\.1 /gm)?.length, 1, headers);
    }
    assert.match(
      await raw(url, `${line}Host: y\r\n${own}Content-Length: 0\r\nConnection: close\r\n\r\n`),
      /^HTTP\/1\.1 400 /,
    );
    // An unread body is not parsed as the next request.
    const refused = await raw(
      url,
      `POST /nothing HTTP/1.1\r\nHost: x\r\nContent-Length: ${smuggled.length}\r\n\r\n${smuggled.slice(0, 20)}`,
    );
    assert.equal(refused.match(/^HTTP\/1\.1 /gm)?.length, 1);
  });
});
