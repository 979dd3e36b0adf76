/**
 * Tests that a target, an agent or a monitor that answers with many headers neither occupies the gateway nor is read without
 * end. Its answers are bytes, written to a raw socket.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import type { TestContext } from 'node:test';
import { describe, test } from 'node:test';
import { sendRequest } from '../../runtime/deliver/http/send-request.ts';
import { HttpPool } from '../../runtime/deliver/http-pool.ts';
import { systemClock } from '../../runtime/platform/clock.ts';
import { runWithinLoop } from './fuzz/loop-delay.ts';

/** Longest time between two turns of the loop, in ms; it was 80 to 200. */
const LONGEST_MS = 60;

/** Sends a request to a server that answers with these bytes, and says how it ended. */
async function open(t: TestContext, answer: string, isEndless = false) {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', () => {
      socket.write(answer);
      if (isEndless) socket.on('drain', () => socket.write(answer));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const http = new HttpPool();
  t.after(async () => {
    await http.destroy();
    server.close();
  });
  return async (): Promise<string> => {
    const request = { origin: `http://127.0.0.1:${port}`, method: 'POST', path: '/', headers: {}, body: 'x' } as const;
    const limits = { max_response_bytes: 65_536, timeout_ms: 20_000, signal: new AbortController().signal };
    const result = await sendRequest(request, limits, { http, clock: systemClock });
    return result.kind === 'failed' ? result.code : `${result.status} ${result.body.length}`;
  };
}

const END = 'content-length: 0\r\n\r\n';
const many = (count: number, line: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => line(index)).join('');

const OK = 'HTTP/1.1 200 OK\r\n';
const EARLY = 'HTTP/1.1 103 Early Hints\r\n';
const OVERFLOW = 'UND_ERR_HEADERS_OVERFLOW';

const ANSWERS: Readonly<Record<string, readonly [string, string]>> = {
  'many short headers': [`${OK}${many(12_000, () => 'a:b\r\n')}${END}`, OVERFLOW],
  'many names': [`${OK}${many(8000, (index) => `${index.toString(36)}:\r\n`)}${END}`, OVERFLOW],
  'values of one name': [`${OK}${many(8000, () => 'set-cookie: a=b\r\n')}${END}`, OVERFLOW],
  'one long header': [`${OK}a: ${'x'.repeat(64_000)}\r\n${END}`, OVERFLOW],
  'many trailers': [`${OK}transfer-encoding: chunked\r\n\r\n0\r\n${many(12_000, () => 'a:b\r\n')}\r\n`, OVERFLOW],
  'many headers before the response': [`${EARLY}${many(12_000, () => 'a:b\r\n')}\r\n${OK}${END}`, OVERFLOW],
  'many answers before the response': [many(500, () => `${EARLY}${many(100, () => 'a:b\r\n')}\r\n`), OVERFLOW],
  'tiny chunks': [`${OK}transfer-encoding: chunked\r\n\r\n${many(11_000, () => '1\r\nx\r\n')}0\r\n\r\n`, '200 11000'],
};

describe('the loop goes on while a target answers with', () => {
  for (const [name, [answer, outcome]] of Object.entries(ANSWERS))
    test(name, async (t) => {
      const send = await open(t, answer);
      await runWithinLoop(async () => assert.equal(await send(), outcome), LONGEST_MS);
    });
});

test('answers before the response end, however many a target writes', async (t) => {
  const send = await open(t, `${EARLY}\r\n`.repeat(1000), true);
  assert.equal(await send(), OVERFLOW);
});

test('a response in many pieces is read as it was written, with a few early hints and large headers', async (t) => {
  const body = many(30_000, (index) => String(index % 10));
  const large = `${EARLY.concat('\r\n').repeat(4)}${OK}a: ${'x'.repeat(12_000)}\r\n`;
  const send = await open(t, `${large}content-length: ${body.length}\r\n\r\n${body}`);
  assert.equal(await send(), '200 30000');
  assert.equal(await send(), '200 30000');
});
