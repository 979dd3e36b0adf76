/** Real processes on one store file: two at once, and one that is killed at the worst moments. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { openCommandStore } from '../../../../runtime/store/sqlite-store.ts';
import type { JobProcess } from '../../../helpers/job-process.ts';
import { tempDir } from '../../../helpers/temp-dir.ts';

const ENTRY = fileURLToPath(new URL('../../../helpers/job-process.ts', import.meta.url));
const START = Date.parse('2026-01-01T00:00:00Z');
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

interface Ended {
  readonly signal: NodeJS.Signals | null;
  readonly lines: readonly string[];
  readonly stderr: string;
}

function run(options: JobProcess): Promise<Ended> {
  const child = spawn(process.execPath, ['--import', 'tsx', ENTRY, JSON.stringify(options)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  return new Promise((resolve) => {
    child.on('close', (_, signal) => resolve({ signal, lines: stdout.split('\n').filter(Boolean), stderr }));
  });
}

test('two processes fire each instant once between them', async (t) => {
  const path = join(tempDir(t), 'state.db');
  await openCommandStore(path).close();
  // A minute passes in 50 ms.
  const options: JobProcess = {
    ...{ path, simulated_ms: START, real_ms: Date.now(), speed: 1200 },
    ...{ schedule: '* * * * *', misfire: 'skip', lives_ms: 2500, die: null },
  };
  const [a, b] = await Promise.all([run(options), run(options)]);
  assert.equal(a.stderr + b.stderr, '');
  const store = openCommandStore(path);
  t.after(() => store.close());
  const fired = store.list({ limit: 1000 }).map(({ delivery_id }) => delivery_id);
  assert.equal(new Set(fired).size, fired.length);
  const dealt = store.jobs
    .ticks('j', 1000)
    .reduce((sum, { outcome, missed }) => sum + missed + (outcome === 'missed' ? 0 : 1), 0);
  assert.ok(dealt >= 45, `${dealt} instants dealt with`);
  assert.deepEqual([...a.lines, ...b.lines].sort(), fired.toSorted());
  assert.deepEqual(store.audit(), []);
});

for (const die of ['stored', 'running'] as const) {
  test(`a run whose process is killed when it is ${die} is finished by the next one, and its instant fires no other`, async (t) => {
    const path = join(tempDir(t), 'state.db');
    await openCommandStore(path).close();
    const first: JobProcess = {
      ...{ path, simulated_ms: START, real_ms: Date.now(), speed: 1200, schedule: '0 * * * *' },
      ...{ misfire: 'once', lives_ms: 60_000, die },
    };
    const killed = await run(first);
    assert.deepEqual([killed.signal, killed.lines], ['SIGKILL', []]);
    const store = openCommandStore(path);
    t.after(() => store.close());
    const [claimed] = store.list({ limit: 9 });
    assert.ok(claimed);
    const at = Date.parse(claimed.delivery_id.slice('j@'.length));
    assert.equal(at % HOUR, 0);
    const second = { ...first, simulated_ms: at + MINUTE, real_ms: Date.now(), speed: 60, lives_ms: 500, die: null };
    const { signal, lines, stderr } = await run(second);
    assert.deepEqual({ signal, lines, stderr }, { signal: null, lines: [claimed.delivery_id], stderr: '' });
    assert.equal(store.find(claimed.id)?.state, 'done');
    assert.equal(store.list({ limit: 9 }).length, 1);
    assert.deepEqual(store.audit(), []);
  });
}
