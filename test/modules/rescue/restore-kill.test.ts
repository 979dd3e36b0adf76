/**
 * A restore that is interrupted anywhere leaves the old store, the copy, or a home that refuses to start: never an
 * empty store.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { moveAside, restore } from '../../../modules/rescue/runtime/backup.ts';
import { StoreRefused } from '../../../runtime/store/contract.ts';
import { makeAccept } from '../../helpers/dispatches.ts';
import { openOfflineStore } from '../../helpers/rescued-store.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const CHANGES = ['renameSync', 'copyFileSync', 'rmSync'] as const;
const { renameSync, copyFileSync, rmSync } = fs;
const WHOLE = { renameSync, copyFileSync, rmSync };

/** From the `nth` change of a folder on, nothing changes any more, as after a kill. Returns whether it was reached. */
function cutOff(nth: number, act: () => void): boolean {
  let count = 0;
  for (const name of CHANGES) {
    fs[name] = ((...given: never[]) => {
      if (++count > nth) throw new Error('killed');
      return (WHOLE[name] as (...given: never[]) => void)(...given);
    }) as never;
  }
  syncBuiltinESMExports();
  try {
    act();
  } catch {
    // It was killed.
  } finally {
    Object.assign(fs, WHOLE);
    syncBuiltinESMExports();
  }
  return count > nth;
}

async function fill(path: string, ids: readonly string[]): Promise<void> {
  const store = await openOfflineStore(path);
  for (const id of ids) await store.write(makeAccept(id));
  await store.close();
}

/** The ids in the store; null: it refuses to start. */
async function idsIn(path: string): Promise<readonly string[] | null> {
  try {
    const store = await openOfflineStore(path);
    const rows = await store.read({ kind: 'list', filter: { limit: 10 } });
    await store.close();
    return rows.map(({ id }) => id).sort();
  } catch (error) {
    assert.ok(error instanceof StoreRefused, String(error));
    assert.match(error.message, /store restore/);
    return null;
  }
}

describe('a kill', () => {
  it('of a restore loses neither the store nor the copy', async (t) => {
    const found = new Set<string>();
    for (let nth = 0, isReached = true; isReached; nth++) {
      assert.ok(nth < 30);
      const dir = tempDir(t);
      const [path, copy] = [join(dir, 'state.db'), join(dir, 'copy.db')];
      await fill(copy, ['copied']);
      fs.rmSync(`${copy}-wal`, { force: true });
      await fill(path, ['before']);
      isReached = cutOff(nth, () => restore(path, copy, 0));
      const ids = await idsIn(path);
      if (ids !== null) assert.notDeepEqual(ids, []);
      found.add(ids === null ? 'refused' : ids.join());
    }
    assert.deepEqual([...found].sort(), ['before', 'copied', 'refused']);
  });

  it('of `store new` starts with an empty store only at its end', async (t) => {
    const found: string[] = [];
    for (let nth = 0, isReached = true; isReached; nth++) {
      const path = join(tempDir(t), 'state.db');
      await fill(path, ['before']);
      isReached = cutOff(nth, () => moveAside(path, 0, () => fs.rmSync(`${path}.id`)));
      const ids = await idsIn(path);
      found.push(ids === null ? 'refused' : ids.join());
    }
    assert.equal(found.at(-1), '');
    assert.ok(!found.slice(0, -1).includes(''), found.join(' '));
  });
});
