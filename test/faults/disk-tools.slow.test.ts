/** The tools that make a disk slow or fail affect the store's files, and no others. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import type { DiskPlan, DiskTool } from '../helpers/disk/disk-plan.ts';
import { createPreload } from '../helpers/disk/preload.ts';
import { hasStrace, straceTool } from '../helpers/disk/strace.ts';
import { tempDir } from '../helpers/temp-dir.ts';

/** Writes and syncs two files in turns; prints the failures, and the milliseconds of the syncs of each. */
const SCRIPT = `
const { openSync, writeSync, fdatasyncSync } = require('node:fs');
const files = ['state.db', 'other'].map((name) => [name, openSync(name, 'w'), 0]);
const failed = [];
const attempt = (what, call) => {
  try { call(); } catch ({ code }) { failed.push(what + ' ' + code); }
};
for (let n = 1; n <= 4; n++) {
  for (const file of files) {
    attempt(file[0] + ' write ' + n, () => writeSync(file[1], Buffer.alloc(10000), 0, 10000, 0));
    const started = performance.now();
    attempt(file[0] + ' sync ' + n, () => fdatasyncSync(file[1]));
    file[2] += performance.now() - started;
  }
}
console.log(JSON.stringify({ failed, store: files[0][2], other: files[1][2] }));
`;

interface Outcome {
  readonly failed: readonly string[];
  readonly store: number;
  readonly other: number;
}

async function run(tool: DiskTool, plan: DiskPlan): Promise<Outcome> {
  const { argv, env } = tool.wrap([process.execPath, '-e', SCRIPT], plan);
  const child = spawn(argv[0] ?? '', argv.slice(1), {
    cwd: plan.home,
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [said] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  return JSON.parse(said) as Outcome;
}

const TOOLS: readonly (readonly [string, DiskTool | null])[] = [
  ['a C compiler', createPreload()],
  ['strace', hasStrace() ? straceTool : null],
];

for (const [needs, tool] of TOOLS) {
  describe(`a disk through ${needs}`, { skip: tool === null && `${needs} is missing here`, concurrency: 3 }, () => {
    it('fails the given calls', async (t) => {
      if (tool === null) return;
      const home = tempDir(t);
      const log = join(home, 'calls');
      const sync = await run(tool, { home, log, fault: { call: 'sync', error: 'EIO', nth: 2, lastsMs: 0 } });
      assert.deepEqual(sync.failed, ['state.db sync 2 EIO']);
      assert.deepEqual(tool.countCalls(readFileSync(log, 'utf8')), { sync: 4, write: 4, failed: 1 });
      const write = await run(tool, { home, fault: { call: 'write', error: 'ENOSPC', nth: 3, lastsMs: 0 } });
      assert.deepEqual(write.failed, ['state.db write 3 ENOSPC']);
    });

    it('makes syncs take the given time', async (t) => {
      if (tool === null) return;
      const { failed, store } = await run(tool, { home: tempDir(t), syncMs: 50 });
      assert.deepEqual(failed, []);
      assert.ok(store >= 200, `${store} ms`);
    });
  });
}

describe('a disk through a C compiler alone', {
  skip: TOOLS[0]?.[1] === null && 'a C compiler is missing here',
}, () => {
  it('fails for a while', async (t) => {
    const [, tool] = TOOLS[0] ?? [];
    if (tool === null || tool === undefined) return;
    const fault = { call: 'sync', error: 'EIO', nth: 2, lastsMs: 60_000 } as const;
    const { failed } = await run(tool, { home: tempDir(t), fault });
    assert.deepEqual(failed, ['state.db sync 2 EIO', 'state.db sync 3 EIO', 'state.db sync 4 EIO']);
  });

  it('makes a sync take as long as the written bytes need', async (t) => {
    const [, tool] = TOOLS[0] ?? [];
    if (tool === null || tool === undefined) return;
    const { store } = await run(tool, { home: tempDir(t), bytesPerSecond: 100_000 });
    assert.ok(store >= 400, `${store} ms`);
  });
});
