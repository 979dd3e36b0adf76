/** Checks the whole file, copies it while others write, and replaces the store with a copy. */

import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { messageOf } from '../../../base/errors.ts';
import { describeDiskError } from '../../../runtime/platform/files.ts';
import { StoreRefused } from '../../../runtime/store/contract.ts';
import type { Connection } from '../../../runtime/store/sqlite/driver.ts';
import { connect, isMalformed } from '../../../runtime/store/sqlite/driver.ts';
import { FORMAT, formatOf } from '../../../runtime/store/sqlite/schema.ts';
import { notePath } from '../../../runtime/store/store-path.ts';
import type { StoreNote } from './store-note.ts';
import { putLife, readLife, writeNote } from './store-note.ts';

/** Returns the damage of the file; null when it is intact. */
export function checkFile(open: () => Connection): string | null {
  try {
    const found = open().query<[string]>('PRAGMA integrity_check(1)').get()?.[0];
    if (found === 'ok') return null;
    return (found ?? 'the check returned no result')
      .replace(/^\*{3} in database main \*{3}\n/, '')
      .replaceAll('\n', '; ');
  } catch (error) {
    if (!isMalformed(error)) throw error;
    return messageOf(error);
  }
}

/**
 * Writes a copy with mode 0600, and checks it. Returns its size in bytes.
 * @param db a reader that does nothing else @param to an absolute path; an existing file is never replaced
 * @throws the system's or SQLite's error; then there is no copy
 */
export function backUp(db: Connection, to: string): number {
  closeSync(openSync(to, 'wx', 0o600));
  try {
    db.exec('PRAGMA query_only = 0');
    db.change('VACUUM INTO ?')(to);
    close(to, to);
    return statSync(to).size;
  } catch (error) {
    rmSync(to, { force: true });
    throw error;
  }
}

/**
 * Marks a copy as closed, and syncs it. Returns its note. @param name the path in errors @throws StoreRefused when it
 * is not a store of this version, or is damaged
 */
function close(path: string, name: string): StoreNote {
  const db = connect(path, { busyMs: 0 });
  try {
    db.exec('PRAGMA journal_mode = DELETE');
    requireStore(db, name);
    const life = readLife(db) ?? { id: randomUUID(), starts: 0 };
    putLife(db, { ...life, is_open: false });
    return life;
  } finally {
    db.close();
    sync(path);
  }
}

function requireStore(db: Connection, path: string): void {
  const format = formatOf(db);
  if (format === 0 || format > FORMAT)
    throw new StoreRefused(
      `${path} is not a store of this version (format ${format}, this version supports ${FORMAT})`,
    );
  const found = db.query<[string]>('PRAGMA integrity_check(1)').get()?.[0];
  if (found !== 'ok') throw new StoreRefused(`${path} is damaged: ${found}`);
}

function sync(path: string): void {
  const file = openSync(path, 'r+');
  fsyncSync(file);
  closeSync(file);
}

const FILES = ['', '-wal', '-shm', '-wal.id'];

/**
 * Renames the files of the store, so that another store can replace it. Returns the new path of `path`; null: there
 * were none. Until `change` ends, `state.db.id` identifies the old store: after a kill, a start fails instead of
 * creating an empty store.
 * @param now Unix ms
 */
export function moveAside(path: string, now: number, change: () => void): string | null {
  const aside = `${path}.replaced-${new Date(now).toISOString().replaceAll(':', '-')}`;
  const there = [...FILES, '.id'].filter((end) => existsSync(path + end));
  if (there.includes('.id')) copyFileSync(notePath(path), notePath(aside));
  for (const end of FILES) if (there.includes(end)) renameSync(path + end, aside + end);
  change();
  return there.length === 0 ? null : aside;
}

/**
 * Replaces the store with a copy of `from`, and renames its previous files. The caller holds the store's lock. Returns
 * their new path; null: there were none. @param now Unix ms
 * @throws StoreRefused when `from` is not a complete store; then nothing has changed
 */
export function restore(path: string, from: string, now: number): string | null {
  if ((statSync(`${from}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0)
    throw new StoreRefused(`${from} is incomplete without the log beside it: make a copy with hookwright store backup`);
  const next = `${path}.restoring`;
  try {
    copyFileSync(from, next);
    chmodSync(next, 0o600);
    const life = close(next, from);
    return moveAside(path, now, () => {
      writeNote(path, life);
      renameSync(next, path);
      sync(path);
    });
  } catch (error) {
    if (error instanceof StoreRefused) throw error;
    throw new StoreRefused(`cannot restore ${from}: ${describeDiskError(error)}`);
  } finally {
    rmSync(next, { force: true });
  }
}
