/** What reads all of the file: its check, a copy that is made while others write, and one that is put in its place. */

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

/** Returns what is wrong with the file; null when it is intact. */
export function checkFile(open: () => Connection): string | null {
  try {
    const found = open().query<[string]>('PRAGMA quick_check(1)').get()?.[0];
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
 * @param db of a reader that does nothing else @param to absolute; a file there is never replaced @throws the system's or SQLite's error; then there is no copy
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

/** Marks a copy as closed, and syncs it. Returns what it is. @param name what errors call it @throws StoreRefused when it is no store of this version, or damaged */
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
 * Moves the files of the store aside, so that another takes their place. Returns the path of what was `path`; null: there were none.
 * Until `change` ends, `state.db.id` knows the store before: after a kill, a start is refused, and does not begin anew.
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
 * Puts a copy of `from` in the place of the store, whose files are moved aside. The caller holds the store's lock.
 * Returns where these are; null: there were none. @param now Unix ms
 * @throws StoreRefused when `from` is no whole store; then nothing has changed
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
