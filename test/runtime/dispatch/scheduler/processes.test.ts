/** Real processes with a scheduler on one store file. One that is killed: test/crash. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { openCommandStore } from '../../../../runtime/store/sqlite-store.ts';
import type { JobProcess } from '../../../helpers/job-process.ts';
import { runJobProcess } from '../../../helpers/run-job-process.ts';
import { tempDir } from '../../../helpers/temp-dir.ts';

const START = Date.parse('2026-01-01T00:00:00Z');
const MINUTE = 60_000;

test('two processes fire each instant once between them', async (t) => {
  const path = join(tempDir(t), 'state.db');
  await openCommandStore(path).close();
  // A minute passes in 30 ms.
  const options: JobProcess = {
    ...{ path, simulated_ms: START, speed: 2000, until_ms: START + 50.5 * MINUTE },
    ...{ schedule: '* * * * *', misfire: 'skip', server: null },
  };
  const [a, b] = await Promise.all([runJobProcess(options), runJobProcess(options)]);
  assert.equal(a.stderr + b.stderr, '');
  const store = openCommandStore(path);
  t.after(() => store.close());
  const fired = store.list({ limit: 1000 }).map(({ delivery_id }) => delivery_id);
  assert.equal(new Set(fired).size, fired.length);
  // From the first instant that came after the start, each has run or was left out because it came too late.
  const ticks = store.jobs.ticks('j', 1000);
  const instants = ticks.map(({ due_at }) => due_at);
  const [last, first] = [Math.max(...instants), Math.min(...instants)];
  const dealt = ticks
    .filter(({ due_at }) => due_at > first)
    .reduce((sum, { outcome, missed }) => sum + missed + (outcome === 'missed' ? 0 : 1), 0);
  assert.ok(last >= START + 50 * MINUTE, `the last is ${new Date(last).toISOString()}`);
  // More when one of them counts as left out what the other has run meanwhile.
  assert.ok(dealt >= (last - first) / MINUTE, `${dealt} of ${(last - first) / MINUTE} instants dealt with`);
  const runs = [...a.lines, ...b.lines].filter((line) => line.startsWith('run '));
  assert.deepEqual(runs.sort(), fired.map((id) => `run ${id}`).toSorted());
  assert.deepEqual(store.audit(), []);
});
