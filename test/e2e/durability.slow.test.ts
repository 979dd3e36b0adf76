/** The durability of decisions §7, with a gateway that is killed and a disk that is full. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { atEnd } from '../helpers/at-end.ts';
import { runInProcess } from '../helpers/cli.ts';
import { startGateway, until } from '../helpers/gateway.ts';
import type { PostedAnswer } from '../helpers/gateway-process.ts';
import { createSender, startGatewayProcess } from '../helpers/gateway-process.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { tinyDisk } from '../helpers/tiny-disk.ts';

const SECRET = 'a-secret-for-durability-tests';
/** Concurrency of one: it is known which run has started. */
const RUNS = 4;
const CONFIG = `gateway: { max_concurrent_runs: ${RUNS} }
platforms:
  webhook:
    enabled: true
    port: 0
    secret: ${SECRET}
    rate_limit: 100000
    routes:
      runs: { prompt: "Event {n} {filler}" }
      bursts: { prompt: "Burst {n}", coalesce: { key: entity, window_seconds: 1 } }
agent:
  command: [sh, agent.sh]
  cwd: .
`;

const post = createSender(SECRET);
const start = (home: string) => startGatewayProcess({ home });

interface Listed {
  readonly delivery_id: string;
  readonly state: string;
}

async function statesOf(home: string): Promise<Record<string, string>> {
  const { stdout } = await runInProcess(['deliveries', 'list', '--json'], { home });
  return Object.fromEntries((JSON.parse(stdout) as Listed[]).map(({ delivery_id, state }) => [delivery_id, state]));
}

test('a killed gateway finishes every acknowledged event after its restart, and detects repeats', async (t) => {
  const home = tempDir(t);
  writeFileSync(join(home, 'config.yaml'), CONFIG, { mode: 0o600 });
  writeFileSync(join(home, 'agent.sh'), 'echo $$ >> pids; exec sleep 600\n');
  const first = await start(home);
  atEnd(t, first.kill);
  for (const n of [1, 2, 3, 4, 5, 6]) assert.equal((await post(first.url, 'runs', `run-${n}`, { n })).status, 202);
  for (const n of [1, 2])
    assert.equal((await post(first.url, 'bursts', `burst-${n}`, { n, entity: 'x' })).code, 'coalesced');
  const pids = await until(async () => {
    const states = Object.values(await statesOf(home));
    const found = existsSync(join(home, 'pids')) ? readFileSync(join(home, 'pids'), 'utf8').trim().split('\n') : [];
    return found.length === RUNS && states.filter((state) => state === 'running').length === RUNS && found;
  });
  await first.kill();
  // The programs of a killed gateway keep running.
  for (const pid of pids) process.kill(Number(pid), 'SIGKILL');

  writeFileSync(join(home, 'agent.sh'), 'tee -a prompts; echo >> prompts\n');
  const second = await start(home);
  atEnd(t, second.kill);
  assert.deepEqual(await post(second.url, 'runs', 'run-3', { n: 3 }), {
    status: 200,
    code: 'duplicate',
    retryAfter: null,
  });
  const runs = Object.fromEntries([1, 2, 3, 4, 5, 6].map((n) => [`run-${n}`, 'done']));
  const expected = { ...runs, 'burst-1': 'skipped', 'burst-2': 'done' };
  await until(async () => {
    const states = await statesOf(home);
    return Object.keys(expected).every((id) => ['done', 'skipped', 'dead'].includes(states[id] ?? ''));
  });
  assert.deepEqual(await statesOf(home), expected);
  const prompts = readFileSync(join(home, 'prompts'), 'utf8');
  assert.match(prompts, /\[1 earlier event for this entity was superseded by this one\.\]\n\nBurst 2/);
  for (const n of [1, 2, 3, 4, 5, 6]) assert.equal(prompts.split(`Event ${n} `).length, 2, `event ${n} in ${prompts}`);
});

test('a gateway on a full disk rejects events, stays healthy, and accepts them again once there is space', async (t) => {
  const disk = tinyDisk(t, '3m');
  if (disk === null) return t.skip('needs the right to mount a file system');
  const home = join(disk, 'home');
  mkdirSync(home);
  writeFileSync(join(home, 'agent.sh'), 'cat > /dev/null; echo ok\n');
  const ballast = join(disk, 'ballast');
  writeFileSync(ballast, Buffer.alloc(1_500_000));
  const { url, status } = await startGateway(t, { home, config: CONFIG });
  const filler = 'x'.repeat(30_000);
  let refused: PostedAnswer | null = null;
  let accepted = 0;
  for (let n = 0; refused === null && n < 200; n++) {
    const answer = await post(url, 'runs', `fill-${n}`, { n, filler });
    if (answer.status === 202) accepted++;
    else refused = answer;
  }
  assert.deepEqual(refused, { status: 503, code: 'overloaded', retryAfter: '10' });
  assert.ok(accepted > 0);
  const health = await fetch(`${url}/health`);
  assert.deepEqual([health.status, await health.json()], [200, { status: 'ok', platform: 'webhook' }]);
  rmSync(ballast);
  const again = await until(async () => {
    const answer = await post(url, 'runs', 'again', { n: 0, filler });
    return answer.status === 202 || answer.code === 'duplicate' ? answer : null;
  });
  assert.equal(again.status, 202);
  // Every acknowledged event is finished, and nothing else was stored.
  await until(async () => (await status()).dispatches?.states.done === accepted + 1);
  const states: Readonly<Record<string, number>> = (await status()).dispatches?.states ?? {};
  assert.equal(
    Object.values(states).reduce((sum, count) => sum + count, 0),
    accepted + 1,
  );
});

test('a gateway without its home rejects and reports events until the home is back', async (t) => {
  const home = join(tempDir(t), 'home');
  mkdirSync(home);
  writeFileSync(join(home, 'agent.sh'), 'cat > /dev/null; echo ok\n');
  const { url, running, status } = await startGateway(t, { home, config: CONFIG });
  assert.equal((await post(url, 'runs', 'before', { n: 1 })).status, 202);
  await until(async () => (await status()).dispatches?.states.done === 1);
  renameSync(home, `${home}-away`);
  await until(async () => /removed or replaced/.test(running.stderr()));
  assert.deepEqual(await post(url, 'runs', 'during', { n: 2 }), {
    status: 503,
    code: 'overloaded',
    retryAfter: '10',
  });
  renameSync(`${home}-away`, home);
  await until(async () => (await post(url, 'runs', 'during', { n: 2 })).status === 202);
  await until(async () => (await status()).dispatches?.states.done === 2);
});
