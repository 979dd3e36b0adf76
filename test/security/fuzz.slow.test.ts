/**
 * Runs the corpus of the fuzz harness, and a few cases of every worker from a fixed seed. `npm run fuzz` continues from there
 * for a given time.
 */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { describe, test } from 'node:test';
import { readCorpus } from './fuzz/corpus.ts';
import { runAll, runWorker } from './fuzz/run-worker.ts';
import { WORKERS } from './fuzz/workers.ts';

/** Number of cases, and ms, of each worker besides its corpus. */
const FEW = { seed: 15, maxCases: 40, maxMs: 1000 };

for (const worker of WORKERS) {
  describe(`fuzz ${worker.name}`, () => {
    test('its corpus holds', async () => {
      const corpus = readCorpus(worker.name);
      assert.notEqual(corpus.length, 0);
      await runAll(worker, corpus);
    });
    test('a few new cases hold', async () => {
      const { findings } = await runWorker(worker, FEW);
      // A case that does not fail alone was delayed by another process.
      assert.deepEqual(
        findings.filter(({ alone }) => alone),
        [],
      );
    });
  });
}

test('every corpus belongs to a worker', () => {
  const files = readdirSync(new URL('./corpus/', import.meta.url)).filter((file) => file.endsWith('.json'));
  assert.deepEqual(files.sort(), WORKERS.map(({ name }) => `${name}.json`).sort());
});
