/** The short form of `npm run test:faults`: one sync and one write of a short run fail. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { DiskFault } from '../helpers/disk/disk-plan.ts';
import { findDiskTool, skipWithout } from '../helpers/disk/disk-tool.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { notYet } from './not-yet.ts';
import { runFault } from './run-fault.ts';
import { EVENTS, prepareHome } from './short-run.ts';

const tool = findDiskTool();
const never = { call: 'sync', error: 'EIO', nth: 1_000_000, times: 1 } as const;

describe('a disk that fails', { skip: skipWithout(tool !== null, 'strace or a C compiler') }, () => {
  it('is what the tests make of it: without a fault all is accepted and run', async (t) => {
    if (tool === null) return;
    const home = tempDir(t);
    const prepared = join(home, 'prepared');
    await prepareHome(prepared);
    const result = await runFault({ prepared, home: join(home, 'home'), tool, fault: never });
    assert.deepEqual(result, { reached: false, refusedStart: false, wrong: [], accepted: EVENTS.length, refused: 0 });
  });

  it('503 means nothing stored', { skip: notYet('503 means nothing stored') }, async (t) => {
    if (tool === null) return;
    const home = tempDir(t);
    const prepared = join(home, 'prepared');
    await prepareHome(prepared);
    await runFault({ prepared, home: join(home, 'whole'), tool, fault: never });
    const { sync, write } = tool.countCalls(readFileSync(join(home, 'whole', 'disk-calls'), 'utf8'));
    const faults: readonly DiskFault[] = [
      { call: 'sync', error: 'EIO', nth: Math.ceil(sync / 2), times: 1 },
      { call: 'write', error: 'EIO', nth: Math.ceil(write / 2), times: 1 },
      { call: 'write', error: 'ENOSPC', nth: Math.ceil(write / 3), times: 1 },
    ];
    const run = (fault: DiskFault) =>
      runFault({ prepared, home: join(home, `${fault.call}-${fault.error}`), tool, fault });
    const results = await Promise.all(faults.map(run));
    assert.deepEqual(
      results.map(({ reached, wrong }) => ({ reached, wrong })),
      faults.map(() => ({ reached: true, wrong: [] })),
    );
  });
});
