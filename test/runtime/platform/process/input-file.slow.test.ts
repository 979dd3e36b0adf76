/** Tests the input of a program on a full disk. */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../../../../runtime/platform/clock.ts';
import { inputFolder, lackOf, runProcess } from '../../../../runtime/platform/process/run-process.ts';
import { tinyDisk } from '../../../helpers/tiny-disk.ts';

test('a program whose input does not fit on the disk does not start, and leaves no data', async (t) => {
  const disk = tinyDisk(t, '2m');
  if (disk === null) return t.skip('needs the right to mount a file system');
  const home = join(disk, 'home');
  mkdirSync(home);
  const limits = { timeoutMs: 300_000, maxStdoutBytes: 1000 };
  const count = (bytes: number) => {
    const request = { argv: ['/bin/sh', '-c', 'wc -c'], cwd: '/', env: { PATH: process.env.PATH }, ...limits };
    return runProcess({ ...request, stdin: 'x'.repeat(bytes) }, { clock: systemClock, home });
  };
  for (let round = 0; round < 3; round++) {
    assert.equal(lackOf(await count(4_000_000)), 'the input of the program could not be written: the disk is full');
    assert.deepEqual(readdirSync(inputFolder(home)), []);
    const small = await count(1_000_000);
    assert.equal(small.kind === 'exit' ? small.stdout.toString().trim() : small.kind, '1000000');
  }
});
