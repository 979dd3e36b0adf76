/**
 * Tests raw input of strangers and broken clients: each gets a clear response, uses resources only briefly, and breaks nothing.
 */

import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { FakeClock } from '../../helpers/fake-clock.ts';
import { until } from '../../helpers/gateway.ts';
import { sendRaw, serve, signed } from '../../helpers/serve.ts';

const CI = { routes: { ci: {} } };
const SMALL = { ...CI, server: { max_body_bytes: 1000 } };
const QUICK = { limits: { headersTimeoutMs: 150, requestTimeoutMs: 300, checkEveryMs: 20 } };

/** A request with a signed body, as text, with `Connection: close`, so that the response has an end. */
function request(body: string | Buffer, headers: Record<string, string> = {}): string {
  const all = {
    host: 'x',
    connection: 'close',
    'content-length': String(Buffer.byteLength(body)),
    ...signed(body),
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return `POST /webhooks/ci HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`;
}

const statusOf = (text: string): number => Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0);
const codeOf = (text: string): unknown => JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4)).code;

test('a declared length over the limit is rejected before the body is sent', async (t) => {
  const { port } = await serve(t, SMALL);
  const text = await sendRaw(port, ['POST /webhooks/ci HTTP/1.1\r\nHost: x\r\nContent-Length: 1001\r\n\r\n'], true);
  assert.equal(statusOf(text), 413);
  assert.equal(codeOf(text), 'payload_too_large');
});

test('a sender that expects 100 Continue gets 413 if the body is too large', async (t) => {
  const { port } = await serve(t, SMALL);
  const head = 'POST /webhooks/ci HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 1001\r\n\r\n';
  const text = await sendRaw(port, [head]);
  assert.equal(statusOf(text), 413);
  assert.match(text, /^connection: close/im);
});

test('a sender with any Expect header gets 100 Continue', async (t) => {
  const { port } = await serve(t, SMALL);
  const asked = await sendRaw(port, [request('{}', { expect: '100-continue' }), '{}']);
  assert.match(asked, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 202 /);
  assert.equal(statusOf(await sendRaw(port, [request('{}', { expect: 'the-unexpected' }), '{}'])), 202);
});

test('an endless chunked body is cut at the limit and its connection closed', async (t) => {
  const { port, dispatcher } = await serve(t, SMALL);
  const chunk = `fa0\r\n${'x'.repeat(4000)}\r\n`;
  let answer = '';
  let sent = 0;
  await new Promise<void>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(
        `POST /webhooks/ci HTTP/1.1\r\nHost: x\r\nX-Webhook-Signature: ${'0'.repeat(64)}\r\nTransfer-Encoding: chunked\r\n\r\n`,
      );
      const send = (): void => {
        do sent += 200_000;
        while (!socket.destroyed && sent < 80_000_000 && socket.write(chunk.repeat(50)));
        if (sent >= 80_000_000) socket.destroy();
      };
      socket.on('drain', send);
      send();
    });
    socket.on('data', (data) => {
      answer += data.toString('latin1');
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve());
  });
  assert.equal(statusOf(answer), 413);
  assert(sent < 80_000_000, `${sent} bytes were taken`);
  assert.equal(dispatcher.handed.length, 0);
});

test('a client that sends all of a large body before it reads still gets its 413', async (t) => {
  const { port } = await serve(t, SMALL);
  const body = Buffer.alloc(8_000_000, 'x');
  const text = await new Promise<string>((resolve) => {
    let answer = '';
    const socket = connect(port, '127.0.0.1', () => {
      socket.pause();
      socket.write(request(body, { 'x-hub-signature-256': '' }));
      socket.write(body, () => socket.resume());
    });
    socket.on('data', (data) => {
      answer += data.toString('latin1');
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(answer));
  });
  assert.equal(statusOf(text), 413);
  assert.equal(codeOf(text), 'payload_too_large');
});

test('a body of exactly the limit is accepted, whole or in chunks', async (t) => {
  const { port } = await serve(t, SMALL);
  const body = JSON.stringify('x'.repeat(998));
  assert.equal(statusOf(await sendRaw(port, [request(body), body])), 202);
  const chunked = request(body, { 'transfer-encoding': 'chunked' }).replace(/content-length: \d+\r\n/, '');
  const chunks = [...body].map((character) => `1\r\n${character}\r\n`);
  assert.equal(statusOf(await sendRaw(port, [chunked, ...chunks, '0\r\n\r\n'])), 202);
});

test('incomplete headers and bodies time out', async (t) => {
  const { port, dispatcher, log } = await serve(t, CI, QUICK);
  const [nothing, headers, body] = await Promise.all([
    sendRaw(port, []),
    sendRaw(port, ['POST /webhooks/ci HTTP/1.1\r\nHost: x\r\nX-Slow: ']),
    sendRaw(port, [request('{"a":1}'), '{"a"']),
  ]);
  assert.equal(statusOf(nothing), 408);
  assert.equal(statusOf(headers), 408);
  assert.equal(statusOf(body), 408);
  assert.equal(codeOf(body), 'request_timeout');
  assert.equal(dispatcher.handed.length, 0);
  assert.deepEqual(log.lines.filter(({ message }) => message === 'aborted').length, 1);
});

test('a sender that disconnects during a body leaves no resources in use', async (t) => {
  const { port, dispatcher, log, post, gateway } = await serve(t, CI);
  await sendRaw(port, [request('{"a":1}'), '{"a"'], true);
  assert.equal((await post('/webhooks/ci', {})).status, 202);
  assert.equal(dispatcher.handed.length, 1);
  assert(log.lines.some(({ message }) => message === 'aborted'));
  assert.deepEqual(await gateway.stop(1), { drained: true, abandoned: 0 });
});

const malformed: readonly (readonly [name: string, text: string, status: number, code: string])[] = [
  ['a line that is not a request', 'hello\r\n\r\n', 400, 'malformed_request'],
  ['an HTTP/2 preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400, 'malformed_request'],
  ['a TLS hello', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400, 'malformed_request'],
  [
    'two lengths',
    'POST /webhooks/ci HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}',
    400,
    'malformed_request',
  ],
  [
    'a length and chunks',
    'POST /webhooks/ci HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n',
    400,
    'malformed_request',
  ],
  [
    'a negative length',
    'POST /webhooks/ci HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n',
    400,
    'malformed_request',
  ],
  [
    'a control character in a header',
    'POST /webhooks/ci HTTP/1.1\r\nHost: x\r\nX-GitHub-Event: a\x01b\r\n\r\n',
    400,
    'malformed_request',
  ],
  [
    'headers without end',
    `POST /webhooks/ci HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(40_000)}`,
    431,
    'headers_too_large',
  ],
  ['a path without end', `GET /${'x'.repeat(40_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 431, 'headers_too_large'],
];

for (const [name, text, status, code] of malformed) {
  test(`${name} gets ${status} in JSON`, async (t) => {
    const { port } = await serve(t, CI);
    const answer = await sendRaw(port, [Buffer.from(text, 'latin1')]);
    assert.equal(statusOf(answer), status);
    assert.equal(codeOf(answer), code);
    assert.match(answer, /^content-type: application\/json\r$/im);
  });
}

test('an invalid chunk ends the request, and nothing is dispatched', async (t) => {
  const { port, dispatcher } = await serve(t, CI);
  const chunked = request('{}', { 'transfer-encoding': 'chunked' }).replace(/content-length: \d+\r\n/, '');
  assert.equal(statusOf(await sendRaw(port, [chunked, '2\r\n{}\r\nzz\r\n'])), 400);
  assert.equal(dispatcher.handed.length, 0);
});

test('pipelined requests are answered in order', async (t) => {
  const { port } = await serve(t, CI);
  const kept = request('{}').replace('connection: close\r\n', '');
  const text = await sendRaw(port, [`${kept}{}${kept}{}GET /health HTTP/1.1\r\nHost: x\r\n\r\n${request('x')}x`]);
  assert.deepEqual(
    [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status),
    ['202', '202', '200', '400'],
  );
});

test('an unread small body does not close the connection', async (t) => {
  const { port } = await serve(t, CI);
  const unread = `POST /webhooks/none HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello`;
  const text = await sendRaw(port, [`${unread}GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`]);
  assert.deepEqual(
    [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status),
    ['404', '200'],
  );
});

test('at the limit, the longest waiting idle or unverified connection is closed', async (t) => {
  const { port, log } = await serve(t, { ...CI, server: { max_connections: 2 } });
  const [first, second] = [await hold(port), await hold(port)];
  const gone = new Promise<void>((resolve) => first.once('close', () => resolve()));
  const health = 'GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
  assert.equal(statusOf(await sendRaw(port, [health])), 200);
  await gone;
  assert.equal(log.lines.filter(({ message }) => message.includes('max_connections')).length, 1);
  const busy = await hold(port);
  let told = '';
  second.on('data', (data) => {
    told += data.toString('latin1');
  });
  for (const socket of [second, busy]) {
    socket.write(`${request('{"a":1}')}{"a"`);
    await sleep(50);
  }
  assert.equal(statusOf(await sendRaw(port, [health])), 200);
  await until(async () => told !== '');
  assert.equal(statusOf(told), 503);
  assert.match(told, /^retry-after: \d+\r$/im);
  assert.equal(busy.destroyed, false);
  busy.destroy();
});

test('a connection with a verified request is never closed for others', async (t) => {
  const { port, dispatcher, post } = await serve(t, { ...CI, server: { max_connections: 1 } });
  let go = (): void => {};
  dispatcher.gate = new Promise((resolve) => {
    go = resolve;
  });
  const waiting = post('/webhooks/ci', {});
  while (dispatcher.arrived === 0) await sleep(5);
  assert.equal(await sendRaw(port, ['GET /health HTTP/1.1\r\nHost: x\r\n\r\n']), '');
  go();
  assert.equal((await waiting).status, 202);
});

test('an untrusted proxy on this machine causes one warning', async (t) => {
  const { url, log } = await serve(t, CI);
  const warnings = () => log.lines.filter(({ message }) => message.includes('trusted_proxies')).length;
  await fetch(`${url}/health`);
  assert.equal(warnings(), 0);
  for (let i = 0; i < 3; i++) await fetch(`${url}/health`, { headers: { 'x-forwarded-for': '203.0.113.9' } });
  assert.equal(warnings(), 1);
});

test('the minimum rate of a body grows with the number of connections', async (t) => {
  const clock = new FakeClock();
  const { port } = await serve(t, { ...CI, server: { max_connections: 4 } }, { clock });
  /** True if a body of 1000 B/s is still read after 3 s. */
  const survives = async (): Promise<boolean> => {
    const sender = await hold(port);
    let answer = '';
    sender.on('data', (data) => {
      answer += data.toString('latin1');
    });
    sender.write(request('x'.repeat(100_000)));
    for (let second = 0; second < 3; second++) {
      sender.write('x'.repeat(1000));
      await sleep(20);
      clock.advance(1000);
      await sleep(20);
    }
    sender.destroy();
    await sleep(20);
    assert.ok(answer === '' || statusOf(answer) === 408, answer);
    return answer === '';
  };
  assert.equal(await survives(), true);
  const others = [await hold(port), await hold(port), await hold(port)];
  assert.equal(await survives(), false);
  for (const socket of others) socket.destroy();
});

test('an HTTP/1.0 client gets a response and its connection is closed', async (t) => {
  const { port } = await serve(t, CI);
  assert.equal(statusOf(await sendRaw(port, ['GET /health HTTP/1.0\r\n\r\n'])), 200);
});

test('strangers cannot fill the log; omitted lines are counted, and events are always logged', async (t) => {
  const clock = new FakeClock();
  const { url, log, post } = await serve(t, CI, { clock });
  const unsigned = () =>
    fetch(`${url}/webhooks/ci`, { method: 'POST', body: '{}' }).then((response) => response.text());
  for (let i = 0; i < 120; i++) await unsigned();
  const refused = () => log.lines.filter(({ message }) => message === 'invalid_signature');
  assert.equal(refused().length, 100);
  assert.equal((await post('/webhooks/ci', {})).status, 202);
  assert.equal(log.lines.filter(({ message }) => message === 'accepted').length, 1);
  clock.advance(60_000);
  await unsigned();
  assert.equal(refused().length, 101);
  assert.equal(refused().at(-1)?.fields.not_logged, 20);
});

test('randomly changed bytes never stop the server', async (t) => {
  const { port, post } = await serve(t, CI);
  let seed = 42;
  const random = (below: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed % below;
  };
  const whole = Buffer.from(`${request('{"a":[1,2]}')}{"a":[1,2]}`);
  for (let i = 0; i < 300; i++) {
    const bytes = Buffer.from(whole);
    for (let changes = 1 + random(4); changes > 0; changes--) bytes[random(bytes.length)] = random(256);
    await sendRaw(port, [bytes.subarray(0, random(4) === 0 ? random(bytes.length) : bytes.length)], true);
  }
  assert.equal((await post('/webhooks/ci', {})).status, 202);
});

function hold(port: number): Promise<import('node:net').Socket> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket));
    socket.on('error', () => {});
  });
}
