/** Outputs over kills: each output of a run is delivered, none is lost, and none is from a repeated run. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { it } from 'node:test';
import { atEnd } from '../../helpers/at-end.ts';
import { until } from '../../helpers/gateway.ts';
import { createSender, startGatewayProcess } from '../../helpers/gateway-process.ts';
import { seededRandom } from '../../helpers/seeded-random.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const SECRET = 'the-secret-of-a-route-1';
const isLong = process.env.HOOKWRIGHT_LONG_TESTS !== undefined;
const RUNS = isLong ? 300 : 60;
const KILLS = isLong ? 40 : 8;
/** 1 to 5, by the number of the event. */
const outputsOf = (n: number): number => 1 + (n % 5);

/** Each run has its own name, which its outputs contain. */
const AGENT = String.raw`
const { appendFileSync, readFileSync } = require('node:fs');
const n = Number(/event (\d+)/.exec(readFileSync(0, 'utf8'))[1]);
const run = require('node:crypto').randomUUID();
const line = (at) => JSON.stringify({ output: 'note', text: [n, run, at].join(' ') }) + '\n';
for (let at = 0; at < 1 + (n % 5); at++) appendFileSync(process.env.HOOKWRIGHT_OUTPUTS_FILE, line(at));
console.log('[SILENT]');
`;

const configOf = (target: string, home: string): string => `
gateway: { max_concurrent_runs: 4 }
platforms:
  webhook:
    enabled: true
    secret: ${SECRET}
    rate_limit: 100000
    routes:
      work:
        prompt: "event {n}"
        deliver: log
        outputs: { note: { deliver: http, max: 5 } }
  http: { enabled: true, url: "${target}", allow_http: true, allow_private: true }
agent: { command: [${JSON.stringify(process.execPath)}, "${join(home, 'agent.cjs')}"], confined: a double }
`;

/** Accepts messages, and loses some responses, so that they are sent again. Texts by message id. */
async function startTarget(t: TestContext, isLost: () => boolean) {
  const got = new Map<string, string>();
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on('end', () => {
      const id = String(request.headers['webhook-id']);
      const text = (/\d+ [0-9a-f-]{36} \d/.exec(body) ?? [''])[0] ?? '';
      assert.ok(got.get(id) === undefined || got.get(id) === text, 'one id, one text');
      got.set(id, text);
      response.statusCode = isLost() ? 503 : 200;
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atEnd(t, () => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/in`, got };
}

it(`delivers the outputs of ${RUNS} runs while their gateway is killed ${KILLS} times`, {
  timeout: 3_600_000,
}, async (t) => {
  const random = seededRandom(33);
  const home = tempDir(t);
  const { url: target, got } = await startTarget(t, () => random() < 0.05);
  writeFileSync(join(home, 'agent.cjs'), AGENT);
  writeFileSync(join(home, 'config.yaml'), configOf(target, home), { mode: 0o600 });
  const start = () => startGatewayProcess({ home, command: ['gateway', 'run', '--port', '0'] });
  let gateway = await start();
  atEnd(t, () => gateway.kill());
  const send = createSender(SECRET);
  const post = async (n: number): Promise<void> => {
    await until(async () => {
      const answer = await send(gateway.url, 'work', `event-${n}`, { n }).catch(() => null);
      return answer !== null && (answer.status === 202 || answer.code === 'duplicate');
    });
  };
  const expected = Array.from({ length: RUNS }, (_, n) => outputsOf(n)).reduce((sum, count) => sum + count, 0);
  let next = 0;
  for (let kill = 0; kill < KILLS; kill++) {
    const upTo = Math.ceil((RUNS * (kill + 1)) / KILLS);
    const before = got.size;
    const batch = Array.from({ length: upTo - next }, (_, at) => post(next + at));
    // Kills between the first event of the batch and the last output.
    const more = Math.floor(random() * 12);
    await until(async () => got.size >= Math.min(before + more, expected - 1));
    await gateway.kill();
    gateway = await start();
    await Promise.all(batch);
    next = upTo;
  }
  const said = (): readonly string[] => [...got.values()];
  await until(async () => got.size >= expected && said().length >= expected);
  const byEvent = new Map<number, Set<string>>();
  for (const text of said()) {
    const [n = '', run = '', at = ''] = text.split(' ');
    byEvent.set(Number(n), (byEvent.get(Number(n)) ?? new Set()).add(`${run} ${at}`));
  }
  assert.equal(byEvent.size, RUNS);
  for (const [n, outputs] of byEvent) {
    const runs = new Set([...outputs].map((one) => one.split(' ')[0]));
    assert.deepEqual([runs.size, outputs.size], [1, outputsOf(n)], `event ${n}`);
  }
  assert.equal(got.size, expected);
});
