/** Acknowledged means stored, as the kernel sees it: no 202 leaves before the sync that covers it has returned. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { skipWithoutDisk } from '../helpers/disk/disk-tool.ts';
import { hasStrace, traced } from '../helpers/disk/strace.ts';
import { until } from '../helpers/gateway.ts';
import { startGatewayProcess } from '../helpers/gateway-process.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { send, writeConfig } from './short-run.ts';
import { parseTrace, TRACE_FLAGS, TRACED_CALLS, wrongOrder } from './wire-trace.ts';

/** Long enough that a response that does not wait for a sync leaves within it. */
const SLOW_SYNC = ['-e', 'inject=fsync,fdatasync:delay_exit=10000'];

const WAVES = [1, 3, 16].map((size, wave) => Array.from({ length: size }, (_, n) => `wire-${wave}-${n}`));

async function traceOf(home: string, durability: 'full' | 'normal', waves = WAVES) {
  writeConfig(home, durability);
  const log = join(home, 'trace');
  const wrap = (argv: readonly string[]) => traced(argv, TRACED_CALLS, log, [...TRACE_FLAGS, ...SLOW_SYNC]);
  const gateway = await startGatewayProcess({ home, wrap });
  try {
    for (const wave of waves) {
      // As a sender does that a slow disk makes wait too long.
      const isTaken = async (id: string) => (await send(gateway.url, { id, route: 'runs' })).status === 202;
      await Promise.all(wave.map((id) => until(() => isTaken(id))));
    }
  } finally {
    await gateway.kill();
  }
  return parseTrace(readFileSync(log, 'utf8'));
}

describe('the order on the wire', { skip: skipWithoutDisk(hasStrace(), 'strace'), concurrency: 2 }, () => {
  it('has a sync before every 202 at durability full', async (t) => {
    assert.deepEqual(wrongOrder(await traceOf(tempDir(t), 'full'), WAVES.flat()), []);
  });

  it('has none before a 202 at durability normal, which shows that the trace works', async (t) => {
    // One after the other, because a checkpoint, once a second, also syncs, on a slow machine before many responses.
    const waves = Array.from({ length: 40 }, (_, n) => [`alone-${n}`]);
    const wrong = wrongOrder(await traceOf(tempDir(t), 'normal', waves), waves.flat());
    assert.ok(wrong.length > 0, 'no 202 came before a sync');
  });
});
