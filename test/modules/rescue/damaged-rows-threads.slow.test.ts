/**
 * The same as damaged-rows.slow.test.ts, in a store with threads, where the end of a thread would end the gateway.
 *
 * It is a separate process: the driver ends a connection only when its statements are collected. SQLite knows files by
 * their inodes, and would mistake a new file for that of such a connection if it reuses the inode of a removed one.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLog } from '../../../runtime/platform/log.ts';
import { makeRows, runRows } from '../../faults/row-damage.ts';
import { openServerStore } from '../../helpers/rescued-store.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

test('a byte of invalid UTF-8 in any column stops no thread of a gateway, and is reported', async () => {
  const home = await makeRows(tempDir({ after: () => {} }));
  const asGateway = (path: string) => openServerStore({ path, durability: 'full', log: silentLog });
  assert.deepEqual((await runRows(home, 'a byte of invalid UTF-8 within', asGateway)).wrong, []);
});
