/** Tests that the fuzz harness finds planted faults, shrinks them, and finds them again from their seed. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import fc from 'fast-check';
import { LOADER, moduleUrl } from '../helpers/node-argv.ts';
import { ROOT } from '../helpers/root.ts';
import { runAll, runWorker } from './fuzz/run-worker.ts';
import type { FuzzWorker } from './fuzz/worker.ts';

const LIMITS = { seed: 3, maxCases: 40, maxMs: 300_000 };

const planted = (run: (text: string) => Promise<void>, longestMs = 50): FuzzWorker<string> => ({
  name: 'planted',
  cases: fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 12 }),
  open: async () => ({ longestMs, run, close: async () => {} }),
});

/** Computes for `ms` of processor time, however busy the machine is. */
const holdLoop = (ms: number): void => {
  const before = process.cpuUsage();
  for (;;) {
    const { user, system } = process.cpuUsage(before);
    if (user + system >= ms * 1000) return;
  }
};

test('a fault is found, shrunk, fails alone, and is found again from its seed', async () => {
  const worker = planted(async (text) => assert.ok(!text.includes('bc'), `bad text of ${text.length}`));
  const { findings, cases } = await runWorker(worker, LIMITS);
  assert.equal(findings.length, 1);
  const [finding] = findings;
  assert.deepEqual([finding?.case, finding?.alone], ['bc', true]);
  assert.ok(cases > 0 && cases <= LIMITS.maxCases);
  const again = await runWorker(worker, { ...LIMITS, seed: finding?.seed ?? 0 });
  assert.deepEqual(again.findings[0]?.case, 'bc');
  await assert.rejects(runAll(worker, [{ what: 'the kept case', case: finding?.case }]), /the kept case: .*bad text/s);
});

test('a fault that needs an earlier case is reported as such', async () => {
  let opened = 0;
  const worker: FuzzWorker<string> = {
    ...planted(async () => {}),
    open: async () => {
      let seen = 0;
      opened++;
      return {
        longestMs: 50,
        run: async () => assert.ok(++seen < 5, 'too many'),
        close: async () => {},
      };
    },
  };
  const { findings } = await runWorker(worker, { ...LIMITS, maxCases: 10 });
  assert.equal(findings[0]?.alone, false);
  assert.ok(opened > 1);
});

test('a case that blocks the loop every time is a finding, one that blocks it once is not', async () => {
  const always = await runWorker(
    planted(async (text) => holdLoop(text.includes('cc') ? 40 : 0), 25),
    { ...LIMITS, maxCases: 6 },
  );
  assert.match(always.findings[0]?.reason ?? '', /the event loop was held for \d+ ms/);
  assert.equal(always.findings[0]?.case, 'cc');
  let held = false;
  const once = planted(async () => {
    if (!held) holdLoop(120);
    held = true;
  });
  assert.deepEqual((await runWorker(once, { ...LIMITS, maxCases: 5 })).findings, []);
});

test('a busy machine is not a finding, a loop that is blocked for long is', async () => {
  const wait = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
  // Other threads of this process compute at the same time, and count.
  const waiting = planted(async (text) => wait(text.includes('cc') ? 90 : 0), 75);
  assert.deepEqual((await runWorker(waiting, { ...LIMITS, maxCases: 6 })).findings, []);
  const blocked = planted(async () => wait(1050), 25);
  await assert.rejects(runAll(blocked, [{ what: 'blocked', case: '' }]), /the event loop was held for \d+ ms/);
});

/** In a separate process, because the test runner claims unhandled rejections. */
const LOSES = `
  import fc from 'fast-check';
  const { runWorker } = await import(${JSON.stringify(moduleUrl(new URL('./fuzz/run-worker.js', import.meta.url)))});
  const run = async (text) => {
    if (text.includes('ab')) void Promise.reject(new Error('lost'));
    await new Promise((resolve) => setImmediate(resolve));
  };
  const cases = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 8 });
  const worker = { name: 'planted', cases, open: async () => ({ longestMs: 500, run, close: async () => {} }) };
  const { findings } = await runWorker(worker, { seed: 3, maxCases: 50, maxMs: 300000 });
  console.log(JSON.stringify(findings[0]));
`;

test('an unhandled rejection is a finding of the case that caused it', () => {
  const argv = [...LOADER, '--input-type=module', '--eval', LOSES];
  const { stdout, stderr } = spawnSync(process.execPath, argv, { cwd: ROOT, encoding: 'utf8' });
  assert.match(stdout, /"case":"ab"/, stderr);
  assert.match(stdout, /unhandled: Error: lost/);
});
