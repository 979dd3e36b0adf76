/** Kills a gateway whose agents read long prompts slowly: an agent gets the whole prompt or does not start. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { inputFolder } from '../../runtime/platform/process/run-process.ts';
import { atEnd } from '../helpers/at-end.ts';
import { until } from '../helpers/gateway.ts';
import { createSender, startGatewayProcess } from '../helpers/gateway-process.ts';
import { seededRandom } from '../helpers/seeded-random.ts';
import { tempDir } from '../helpers/temp-dir.ts';

const KILLS = process.env.HOOKWRIGHT_LONG_TESTS === '1' ? 300 : 8;
const SECRET = 'a-secret-for-whole-prompts';
const LENGTH = 400_000;
/** New events in each life of the gateway. */
const EVENTS = 4;
/** Longest time from the first event to the kill, in ms: from before the first spawn to after the last response. */
const LIFE_MS = 1000;

const CONFIG = `platforms:
  webhook:
    enabled: true
    port: 0
    secret: ${SECRET}
    rate_limit: 100000
    routes: { runs: { prompt: "{text}" } }
agent:
  command: [${process.execPath}, AGENT]
gateway: { max_concurrent_runs: 4 }
`;

/**
 * Reads 32 KiB every 10 ms, and records when it starts and how much it has read. An orphan of a killed gateway
 * continues.
 */
const AGENT = `
const fs = require('node:fs');
const note = (text) => fs.appendFileSync(__dirname + '/runs', process.env.HOOKWRIGHT_DELIVERY_ID + ' ' + text + '\\n');
note('started');
const buffer = Buffer.alloc(32768);
let bytes = 0;
const read = () => {
  const got = fs.readSync(0, buffer);
  bytes += got;
  if (got > 0) return setTimeout(read, 10);
  note(bytes);
  console.log('[SILENT]');
};
read();
`;

test(`no agent runs with less than its whole prompt, over ${KILLS} kills of the gateway`, async (t) => {
  const folder = tempDir(t);
  const home = join(folder, 'home');
  mkdirSync(home);
  writeFileSync(join(home, 'config.yaml'), CONFIG.replace('AGENT', join(folder, 'agent.cjs')), { mode: 0o600 });
  writeFileSync(join(folder, 'agent.cjs'), AGENT);
  const post = createSender(SECRET);
  const random = seededRandom(20_261_123);
  const text = 'x'.repeat(LENGTH);
  const acknowledged = new Set<string>();
  const runs = (): readonly (readonly string[])[] =>
    existsSync(join(folder, 'runs'))
      ? readFileSync(join(folder, 'runs'), 'utf8')
          .trimEnd()
          .split('\n')
          .map((line) => line.split(' '))
      : [];
  for (let life = 0; life <= KILLS; life++) {
    const gateway = await startGatewayProcess({ home });
    atEnd(t, gateway.kill);
    if (life === KILLS) {
      const isRun = (id: string): boolean => runs().some(([of, what]) => of === id && what === String(LENGTH));
      await until(async () => [...acknowledged].every(isRun));
      await gateway.kill();
      break;
    }
    const lives = sleep(random() * LIFE_MS);
    const events = Array.from({ length: EVENTS }, async (_, n) => {
      const id = `${life}-${n}`;
      const answer = await post(gateway.url, 'runs', id, { text }).catch(() => null);
      if (answer?.status === 202) acknowledged.add(id);
    });
    await lives;
    await gateway.kill();
    await Promise.all(events);
  }
  const ended = runs().filter(([, what]) => what !== 'started');
  const started = runs().length - ended.length;
  const short = ended.filter(([, bytes]) => bytes !== String(LENGTH));
  t.diagnostic(`${KILLS} kills, ${acknowledged.size} events, ${started} runs started, ${ended.length} read to the end`);
  assert.deepEqual(short, []);
  assert.ok(started > ended.length / 2 && ended.length >= acknowledged.size);
  // A kill between the creation of an input and the removal of its name leaves a file, which the next start removes.
  assert.ok(readdirSync(inputFolder(home)).length <= EVENTS);
});
