/** Paths of a home's store and of its lock. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

export const storePath = (home: string): string => join(home, 'state.db');

export const lockPath = (store: string): string => `${store}.lock`;

/** The lock of the one server of a store, besides the lock that commands take as well. */
export const servedPath = (store: string): string => `${store}.served.lock`;

/** A small file that says which store this home has (sqlite/store-note.ts). */
export const notePath = (store: string): string => `${store}.id`;

/** A small file that says which log the store was last written with (sqlite/log-mark.ts). */
export const logMarkPath = (store: string): string => `${store}-wal.id`;

/** Whether this home has had a store. */
export const hasNote = (store: string): boolean => existsSync(notePath(store));

/** Whether this home has a store, or has had one: a file that is gone is opened too, because opening it says that it is missing. */
export const hasStore = (store: string): boolean => existsSync(store) || hasNote(store) || existsSync(`${store}-wal`);
