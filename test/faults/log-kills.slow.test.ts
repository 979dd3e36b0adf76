/** A few of the kills; `npm run test:faults -- kills` has 300. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tempDir } from '../helpers/temp-dir.ts';
import { killWriters } from './log-kills.ts';

test('after a kill, the log is never mistaken for that of another process, and contains all stored events', async (t) => {
  assert.deepEqual((await killWriters(tempDir(t), 8)).wrong, []);
});
