/** Tests the resources that a client without a secret can use: no memory for bodies, and no connection for long. */
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { BoundedServer, Connections, SERVER_LIMITS } from '../../runtime/intake/server.ts';
import type { IntakeRequest } from '../../runtime/intake/unverified-bodies.ts';
import { BodyReader } from '../../runtime/intake/unverified-bodies.ts';
import type { CaptureSecret } from '../../runtime/verify/handshake.ts';
import { atEnd } from '../helpers/at-end.ts';
import { FakeClock, settle } from '../helpers/fake-clock.ts';
import { until } from '../helpers/gateway.ts';
import { SECRET } from '../helpers/route-table.ts';
import { answerOf, serve, signed } from '../helpers/serve.ts';

const statusOf = (text: string): number => Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0);
const CI = { routes: { ci: {} } };
const FORGED = { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` };

function head(path: string, headers: Readonly<Record<string, string>>): string {
  const all = { host: 'x', connection: 'close', ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n`;
}

/** Time for which the server discards a rejected body (reply.ts), in ms. */
const LINGER_MS = 2000;

/** A connection that sends its input and records the output. */
async function open(
  t: TestContext,
  port: number,
  text: string | Buffer,
): Promise<{ socket: Socket; got: () => string }> {
  const socket = connect(port, '127.0.0.1');
  let got = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    got += chunk;
  });
  socket.on('error', () => {});
  atEnd(t, () => socket.destroy());
  await new Promise((resolve) => socket.write(text, resolve));
  return { socket, got: () => got };
}

const LARGE = { 'content-length': '1000000' };

/** The whole response before the body, on a connection that the server closes later. */
async function refusalOf(t: TestContext, { port, clock }: { port: number; clock: FakeClock }, text: string) {
  const { socket, got } = await open(t, port, text);
  const closed = once(socket, 'close');
  await until(async () => /\r\n\r\n./.test(got()));
  clock.advance(LINGER_MS);
  await closed;
  return got();
}

test('a request without any signature is rejected before its body is read', async (t) => {
  const routes = {
    ci: {},
    token: { source: 'gitlab', schemes: ['gitlab'] },
    query: { source: 'url-token', schemes: ['url-token'] },
    basic: { source: 'basic', schemes: ['basic'] },
  };
  const clock = new FakeClock();
  const { port, log } = await serve(t, { routes }, { clock });
  for (const name of Object.keys(routes)) {
    for (const more of [{}, { expect: '100-continue' }, { 'webhook-id': 'a', 'webhook-timestamp': '1' }]) {
      const text = await refusalOf(t, { port, clock }, head(`/webhooks/${name}`, { ...LARGE, ...more }));
      assert.equal(statusOf(text), 401, name);
      assert.match(text, /"code":"invalid_signature"/);
    }
  }
  const reasons = new Set(log.lines.flatMap(({ fields }) => (fields.route === undefined ? [] : [fields.reason])));
  assert.deepEqual([...reasons], ['missing_signature', 'missing_credential']);
});

test('a signature in the query or the body is found there', async (t) => {
  const routes = {
    query: { source: 'url-token', schemes: ['url-token'] },
    json: { source: 'figma', schemes: ['figma'] },
    form: { source: 'ko-fi', schemes: ['ko-fi'] },
    open: { insecure: true, schemes: [], secrets: [] },
  };
  const { url } = await serve(t, { routes });
  const post = async (path: string, body: string, headers: Record<string, string> = {}) =>
    (await answerOf(await fetch(`${url}/webhooks/${path}`, { method: 'POST', body, headers }))).status;
  const type = { 'content-type': 'application/json' };
  assert.equal(await post(`query?token=${encodeURIComponent(SECRET)}`, '{}', type), 202);
  assert.equal(await post('json', JSON.stringify({ passcode: SECRET }), type), 202);
  assert.equal(await post('json', JSON.stringify({ passcode: 'wrong' }), type), 401);
  const data = JSON.stringify({ verification_token: SECRET, type: 'Donation' });
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  assert.equal(await post('form', String(new URLSearchParams({ data })), form), 202);
  assert.equal(await post('open', '{}', type), 202);
});

test('a secret in the body is read only while a command waits for it', async (t) => {
  let waiting = false;
  const captured: string[] = [];
  const take: CaptureSecret = Object.assign((secret: string) => captured.push(secret) > 0, {
    isAwaited: () => waiting,
  });
  const routes = { notion: { source: 'notion', schemes: ['notion'] } };
  const clock = new FakeClock();
  const { url, port } = await serve(
    t,
    { routes },
    { enrolments: { capture: () => take, wait: () => Promise.reject(new Error('not called')) }, clock },
  );
  assert.equal(statusOf(await refusalOf(t, { port, clock }, head('/webhooks/notion', LARGE))), 401);
  waiting = true;
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ verification_token: 'secret_x' });
  assert.equal((await fetch(`${url}/webhooks/notion`, { method: 'POST', body, headers })).status, 200);
  assert.deepEqual(captured, ['secret_x']);
});

test('a handshake by GET gets its response without its body', async (t) => {
  const clock = new FakeClock();
  const { port } = await serve(t, { routes: { box: { source: 'dropbox', schemes: ['dropbox'] } } }, { clock });
  const get = head('/webhooks/box?challenge=42', LARGE).replace('POST', 'GET');
  assert.match(await refusalOf(t, { port, clock }, get), /^HTTP\/1\.1 200 .*42$/s);
});

test('unverified bodies share their memory; the oldest get 503', async (t) => {
  const { port, post } = await serve(t, { ...CI, server: { max_unverified_bytes: 3_000_000 } });
  const withheld = [head('/webhooks/ci', { ...FORGED, ...LARGE }), 'x'.repeat(999_999)].join('');
  const held = await Promise.all(Array.from({ length: 6 }, () => open(t, port, withheld)));
  const refused = (): string[] => held.flatMap(({ got }) => (got().includes('\r\n\r\n{') ? [got()] : []));
  await until(async () => refused().length === 3);
  assert.equal((await post('/webhooks/ci', JSON.stringify('x'.repeat(500_000)))).status, 202);
  await until(async () => refused().length === 4);
  for (const text of refused()) {
    assert.equal(statusOf(text), 503);
    assert.match(text, /^retry-after: \d+\r$/im);
    assert.match(text, /"code":"overloaded"/);
  }
  for (const { socket } of held) socket.destroy();
});

test('a body counts only until its signature is verified', async (t) => {
  const { post, dispatcher } = await serve(t, { ...CI, server: { max_unverified_bytes: 700_000 } });
  let go = (): void => {};
  dispatcher.gate = new Promise<void>((resolve) => {
    go = resolve;
  });
  const body = JSON.stringify('x'.repeat(500_000));
  const answers: Promise<{ status: number }>[] = [];
  for (let sent = 1; sent <= 4; sent++) {
    answers.push(post('/webhooks/ci', body));
    await until(async () => dispatcher.arrived === sent);
  }
  go();
  assert.deepEqual(
    (await Promise.all(answers)).map(({ status }) => status),
    [202, 202, 202, 202],
  );
});

test('a stalled body times out, a steady one does not', async (t) => {
  const clock = new FakeClock();
  const { port } = await serve(t, CI, { clock });
  const still = await open(t, port, head('/webhooks/ci', { ...FORGED, ...LARGE }) + 'x'.repeat(900_000));
  const steady = await open(t, port, head('/webhooks/ci', { ...FORGED, 'content-length': '20000' }));
  await new Promise((resolve) => setTimeout(resolve, 50));
  for (let second = 0; second < 16; second++) {
    steady.socket.write('x'.repeat(1000));
    await new Promise((resolve) => setTimeout(resolve, 5));
    clock.advance(1000);
    await settle();
  }
  await until(async () => still.got().length > 0);
  assert.equal(statusOf(still.got()), 408);
  assert.match(still.got(), /"code":"request_timeout"/);
  assert.equal(steady.got(), '');
  // The gateway's stop would wait for it, with a clock that stands still.
  steady.socket.destroy();
});

test('a body in single bytes uses no more memory than it has bytes', async () => {
  let held = 0;
  const whole = await new Promise<unknown>((resolve) => {
    const hold = (_request: unknown, bytes: number): boolean => {
      held += bytes;
      return true;
    };
    const reader = new BodyReader({ held: 0 }, 1_000_000, { hold }, 0, resolve);
    for (let at = 0; at < 100_000; at++) assert.equal(reader.take(Buffer.from([at % 251])), null);
    reader.take(Buffer.alloc(5000, 7));
    reader.take(Buffer.from('end'));
    reader.end();
  });
  assert(whole instanceof Buffer);
  assert.equal(whole.length, 105_003);
  assert.equal(whole[70_000], 70_000 % 251);
  assert.equal(whole.subarray(104_999).toString('latin1'), '\x07end');
  assert(held < 150_000, `${held} bytes`);
});

test('idle connections, and endless headers, do not exclude others', async (t) => {
  const { port, post } = await serve(t, { ...CI, server: { max_connections: 30 } });
  for (let i = 0; i < 60; i++) await open(t, port, i % 2 === 0 ? 'P' : head('/webhooks/ci', {}).slice(0, -2));
  const start = performance.now();
  assert.equal((await post('/webhooks/ci', {})).status, 202);
  assert(performance.now() - start < 5000);
});

test('a client behind a trusted proxy is limited by its own address, whatever it claims', async (t) => {
  const trusted = [{ address: '127.0.0.1', prefix: 32, family: 'ipv4' as const }];
  const server = { trusted_proxies: trusted, max_connections_per_address: 2 };
  const { port, url } = await serve(t, { ...CI, server });
  const body = '{"a":1}';
  const wait = (forwarded: string) =>
    open(t, port, head('/webhooks/ci', { ...signed(body), 'content-length': '7', 'x-forwarded-for': forwarded }));
  const held = [await wait('203.0.113.9'), await wait('198.51.100.1, 203.0.113.9:4711')];
  await new Promise((resolve) => setTimeout(resolve, 50));
  const post = (forwarded: string) =>
    fetch(`${url}/webhooks/ci`, { method: 'POST', body, headers: { ...signed(body), 'x-forwarded-for': forwarded } });
  assert.equal((await post('203.0.113.9, 203.0.113.10')).status, 202);
  assert.deepEqual(
    held.map(({ got }) => got()),
    ['', ''],
  );
  assert.equal((await post('192.0.2.1, 203.0.113.9')).status, 202);
  const [oldest, second] = held;
  await until(async () => statusOf(oldest?.got() ?? '') === 503);
  assert.match(oldest?.got() ?? '', /^retry-after: \d+\r$/im);
  second?.socket.write(body);
  await until(async () => statusOf(second?.got() ?? '') === 202);
});

/** The part of a request that the limits use. */
class FakeSocket extends EventEmitter {
  readonly remoteAddress: string;
  closed = false;

  constructor(address: string) {
    super();
    this.remoteAddress = address;
  }

  destroy(): void {
    this.closed = true;
    this.emit('close');
  }
}

test('connections are limited for each address and IPv6 network, but not for a local proxy', () => {
  let dropped = 0;
  const connections = new Connections({ onDrop: () => dropped++ });
  connections.configure({ maxConnections: 100, maxPerAddress: 3, trustedProxies: [] });
  const add = (address: string): FakeSocket => {
    const socket = new FakeSocket(address);
    connections.add(socket as unknown as Duplex as Socket);
    return socket;
  };
  const same = ['203.0.113.9', '::ffff:203.0.113.9', '203.0.113.9', '203.0.113.9'].map(add);
  assert.deepEqual(
    same.map(({ closed }) => closed),
    [true, false, false, false],
  );
  const network = ['2001:db8:1:2::1', '2001:db8:1:2:a:b:c:d', '2001:0db8:1:2::3', '2001:db8:1:2::4', '2001:db8:1:3::4'];
  assert.deepEqual(
    network.map(add).map(({ closed }) => closed),
    [true, false, false, false, false],
  );
  assert.equal(
    ['127.0.0.1', '127.0.0.1', '::1', '::1', '::ffff:127.0.0.1'].map(add).some(({ closed }) => closed),
    false,
  );
  assert.equal(dropped, 2);
  same[1]?.destroy();
  assert.equal(add('203.0.113.9').closed, false);
});

test('a connection with many concurrent requests is closed, and only the first are handled', async (t) => {
  const connections = new Connections();
  connections.configure({ maxConnections: 9, maxPerAddress: 9, trustedProxies: [] });
  let handled = 0;
  const answer = (request: IntakeRequest, response: ServerResponse): void => {
    handled++;
    connections.begin(request);
    setImmediate(() => {
      connections.end(request);
      response.end();
    });
  };
  const server = new BoundedServer(answer, SERVER_LIMITS, connections);
  const { port } = await server.listen('127.0.0.1', 0);
  atEnd(t, () => {
    void server.close();
    server.abort();
  });
  for (const [count, most] of [
    [1000, 17],
    [16, 16],
  ] as const) {
    handled = 0;
    const { socket, got } = await open(t, port, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(count));
    if (count > most) await until(async () => socket.destroyed);
    else await until(async () => got().split('HTTP/1.1 200').length > count);
    assert.equal(handled, most);
  }
});
