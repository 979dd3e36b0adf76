/** The short form of `npm run test:faults`: one sync and one write of a short run fail. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import type { DiskFault } from '../helpers/disk/disk-plan.ts';
import { findDiskTool, skipWithoutDisk } from '../helpers/disk/disk-tool.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import type { FaultResult } from './run-fault.ts';
import { CALLS_LOG, runFault } from './run-fault.ts';
import { EVENTS, prepareHome } from './short-run.ts';

const tool = findDiskTool();
const never = { call: 'sync', error: 'EIO', nth: 1_000_000, lastsMs: 0 } as const;

describe('a disk that fails', { skip: skipWithoutDisk(tool !== null, 'strace or a C compiler') }, () => {
  if (tool === null) return;
  const root = tempDir({ after: (clean) => after(clean as () => void) });
  const prepared = join(root, 'prepared');
  const run = (name: string, fault: DiskFault): Promise<FaultResult> =>
    runFault({ prepared, home: join(root, name), tool, fault });

  it('has all events accepted and run while it works', async () => {
    await prepareHome(prepared);
    const { calls, ...result } = await run('whole', never);
    assert.equal(calls.failed, 0);
    assert.deepEqual(result, { reached: false, refusedStart: false, wrong: [], accepted: EVENTS.length, refused: 0 });
  });

  it('loses no event that got 202 and keeps no event that got 503', async () => {
    const { sync, write } = tool.countCalls(readFileSync(join(root, 'whole', CALLS_LOG), 'utf8'));
    const faults: readonly DiskFault[] = [
      { call: 'sync', error: 'EIO', nth: Math.ceil(sync / 2), lastsMs: 0 },
      { call: 'write', error: 'EIO', nth: Math.ceil(write / 2), lastsMs: 0 },
      { call: 'write', error: 'ENOSPC', nth: Math.ceil(write / 3), lastsMs: 0 },
    ];
    const results = await Promise.all(faults.map((fault) => run(`${fault.call}-${fault.error}`, fault)));
    const seen = results.map(({ reached, wrong }) => ({ reached, wrong }));
    assert.deepEqual(
      seen,
      faults.map(() => ({ reached: true, wrong: [] })),
    );
  });
});
