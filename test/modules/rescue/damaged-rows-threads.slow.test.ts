/**
 * As damaged-rows.slow.test.ts, in a store with threads: what ends one of them would end the gateway.
 *
 * In a process of its own: the driver ends a connection only when its statements are collected, and SQLite, which knows files by
 * their inodes, takes a new file for that of such a connection if it has got the inode of a removed one.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLog } from '../../../runtime/platform/log.ts';
import { makeRows, runRows } from '../../faults/row-damage.ts';
import { openServerStore } from '../../helpers/rescued-store.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

test('a byte of invalid UTF-8 in any column stops no thread of a gateway, and is said', async () => {
  const home = await makeRows(tempDir({ after: () => {} }));
  const asGateway = (path: string) => openServerStore({ path, durability: 'full', log: silentLog });
  assert.deepEqual((await runRows(home, 'a byte of invalid UTF-8 within', asGateway)).wrong, []);
});
