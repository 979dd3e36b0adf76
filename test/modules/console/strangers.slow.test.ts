/** 1,248 slow connections of strangers to either server: senders and operators are served, and memory is bounded. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { atEnd } from '../../helpers/at-end.ts';
import { freePort } from '../../helpers/free-port.ts';
import { createSender, startGatewayProcess } from '../../helpers/gateway-process.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const SECRET = 'a-literal-secret-of-a-sender';
const TOKEN = 'a-token-for-operators-of-this-test';
const CLIENTS = 1248;
const ROUNDS = 50;
/** Most memory besides that of an idle gateway: 64 MiB of unverified bodies, and 96 KiB for each of 1,248 connections, twice. */
const BOUND_MIB = 64 + 2 * ((CLIENTS * 96) / 1024);

const post = (path: string, headers: string): string =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${headers}\r\n\r\n`;
const FULL = 'Content-Length: 1000000';
const PUBLIC = '/webhooks/hello';

/** What each client sends at once, the number of bytes that follow, and those of each further second. */
const ATTACKS: Readonly<Record<string, (path: string) => readonly [head: string, body: number, drip: number]>> = {
  'no byte': () => ['', 0, 0],
  'headers without end': (path) => [`POST ${path} HTTP/1.1\r\nHost: x\r\nA: ${'a'.repeat(12_000)}`, 0, 10],
  'most of a body': (path) => [post(path, FULL), 900_000, 10],
  'a chunk without end': (path) => [`${post(path, 'Transfer-Encoding: chunked')}FFFFF\r\n`, 900_000, 10],
  'a small body, slowly': (path) => [post(path, 'Content-Length: 4000'), 1000, 600],
  'a body after 100 Continue': (path) => [post(path, `Expect: 100-continue\r\n${FULL}`), 0, 600],
};

/** Clients that connect again as soon as they are cut off, up to a hundred times each. */
const CLIENT = `
const { workerData: { port, head, body, drip, clients } } = require('node:worker_threads');
const { connect } = require('node:net');
const part = Buffer.alloc(50_000, 0x20);
function open(times) {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  let left = body;
  const more = () => {
    for (; left > 0; left -= part.length) if (!socket.write(part.subarray(0, left))) return void (left -= part.length);
  };
  socket.on('drain', more).write(head);
  more();
  const timer = setInterval(() => drip > 0 && socket.write(part.subarray(0, drip)), 1000);
  socket.on('close', () => {
    clearInterval(timer);
    if (times > 0) open(times - 1);
  });
}
for (let n = 0; n < clients; n++) setTimeout(open, n / 4, 100);
`;

async function serve(t: TestContext) {
  const home = tempDir(t);
  const console = await freePort();
  writeFileSync(
    join(home, 'hookwright.yaml'),
    `gateway: { console: { port: ${console}, token: ${TOKEN} } }
platforms:
  webhook:
    enabled: true
    port: 0
    secret: ${SECRET}
    rate_limit: 100000
    routes: { hello: { prompt: "{n}", agent: none, deliver: log } }
`,
  );
  const gateway = await startGatewayProcess({ home });
  atEnd(t, gateway.kill);
  const memory = (): number =>
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${gateway.child.pid}/status`, 'utf8'))?.[1]) / 1024;
  /** For how long the threads of the gateway and of this test have waited for a processor, in ms. */
  const waited = (): number =>
    [gateway.child.pid, 'self']
      .map((pid) => Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1e6)
      .reduce((sum, ms) => sum + ms);
  const timed = async (act: () => Promise<number>, status: number): Promise<number> => {
    const [start, before] = [performance.now(), waited()];
    // An idle connection may be closed just before its next request. Senders and browsers then send again.
    assert.equal(await act().catch(act), status);
    return performance.now() - start - (waited() - before);
  };
  return { url: gateway.url, console: `http://127.0.0.1:${console}`, memory, timed };
}

const p99Of = (times: number[]): number => times.sort((a, b) => a - b)[Math.ceil(times.length * 0.99) - 1] ?? 0;

describe('strangers with slow connections', { timeout: 900_000 }, () => {
  for (const [server, path] of [
    ['public', PUBLIC],
    ['console', '/login'],
  ] as const)
    for (const [name, attack] of Object.entries(ATTACKS))
      it(`to the ${server} server that send ${name}`, async (t) => {
        const { url, console, memory, timed } = await serve(t);
        const send = createSender(SECRET);
        const event = async (n: number) => (await send(url, 'hello', `d${n}`, { n })).status;
        const login = async () => {
          const init = { method: 'POST', body: JSON.stringify({ token: TOKEN }) };
          const headers = { 'content-type': 'application/json' };
          return (await fetch(`${console}/login`, { ...init, headers })).status;
        };
        assert.deepEqual([await event(-1), await login()], [202, 200]);
        const idle = memory();
        const [head, body, drip] = attack(path);
        const port = Number(new URL(server === 'public' ? url : console).port);
        const worker = new Worker(CLIENT, { eval: true, workerData: { port, head, body, drip, clients: CLIENTS } });
        atEnd(t, async () => void (await worker.terminate()));
        await sleep(1000);
        const [events, logins]: [number[], number[]] = [[], []];
        let most = idle;
        for (let n = 0; n < ROUNDS; n++) {
          events.push(await timed(() => event(n), 202));
          logins.push(await timed(login, 200));
          most = Math.max(most, memory());
          await sleep(30);
        }
        const [ofEvents, ofLogins] = [p99Of(events), p99Of(logins)].map(Math.round) as [number, number];
        t.diagnostic(`p99 of events ${ofEvents} ms, of logins ${ofLogins} ms, ${Math.round(most - idle)} MiB more`);
        assert.ok(ofEvents < 1000, `events: ${ofEvents} ms`);
        assert.ok(ofLogins < 1000, `logins: ${ofLogins} ms`);
        assert.ok(most - idle < BOUND_MIB, `${Math.round(most - idle)} MiB more`);
      });
});
