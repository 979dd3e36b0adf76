/** Copies of the store: one is made while others write, and one is put in the place of the file. */

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
import { describeDiskError } from '../../platform/files.ts';
import { StoreRefused } from '../contract.ts';
import { notePath } from '../store-path.ts';
import type { Connection } from './driver.ts';
import { connect } from './driver.ts';
import { FORMAT, formatOf } from './schema.ts';
import { putLife, readLife, writeNote } from './store-note.ts';

/**
 * Writes a copy with mode 0600, and checks it. Returns its size in bytes.
 * @param db only read @param to absolute; a file there is never replaced @throws the system's or SQLite's error; then there is no copy
 */
export function backUp(db: Connection, to: string): number {
  closeSync(openSync(to, 'wx', 0o600));
  try {
    db.exec('PRAGMA query_only = 0');
    try {
      db.change('VACUUM INTO ?')(to);
    } finally {
      db.exec('PRAGMA query_only = 1');
    }
    close(to, to);
    return statSync(to).size;
  } catch (error) {
    rmSync(to, { force: true });
    throw error;
  }
}

/** Marks a copy as closed, and syncs it. @param name what errors call it @throws StoreRefused when it is no store of this version, or damaged */
function close(path: string, name: string): void {
  const db = connect(path, { busyMs: 0 });
  try {
    db.exec('PRAGMA journal_mode = DELETE');
    requireStore(db, name);
    const life = readLife(db) ?? { id: randomUUID(), starts: 0 };
    putLife(db, { ...life, is_open: false });
  } finally {
    db.close();
  }
  sync(path);
}

function requireStore(db: Connection, path: string): void {
  const format = formatOf(db);
  if (format === 0 || format > FORMAT)
    throw new StoreRefused(`${path} is no store of this version (format ${format}, this one knows ${FORMAT})`);
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
    throw new StoreRefused(
      `${from} has a log beside it, so it alone is not all: make a copy with hookwright store backup`,
    );
  const next = `${path}.restoring`;
  try {
    copyFileSync(from, next);
    chmodSync(next, 0o600);
    close(next, from);
    const db = connect(next, { busyMs: 0 });
    const life = readLife(db);
    db.close();
    return moveAside(path, now, () => {
      if (life) writeNote(path, life);
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
