/** Opens the home's store for a command, beside a running gateway or without one. */
import { existsSync } from 'node:fs';
import { StoreRefused } from '../../runtime/store/sqlite/open-database.ts';
import { openCommandStore, openStoreReader } from '../../runtime/store/sqlite-store.ts';
import type { Store, StoreReader } from '../../runtime/store/store.ts';
import { storePath } from '../../runtime/store/store-path.ts';
import type { CliContext } from '../context.ts';
import { openHome } from '../context.ts';
import { CliError } from '../errors.ts';

/**
 * Reads; null when nothing has ever been stored.
 * @throws CliError when the store cannot be used.
 */
export function readStore<T>(context: CliContext, read: (store: StoreReader) => T): T | null {
  const path = storePath(context.home);
  if (!existsSync(path)) return null;
  const store = refusing(() => openStoreReader(path));
  try {
    return read(store);
  } finally {
    store.close();
  }
}

/**
 * Reads and writes; null when nothing has ever been stored.
 * @throws CliError when the store cannot be used.
 */
export async function changeStore<T>(context: CliContext, change: (store: Store) => Promise<T>): Promise<T | null> {
  const path = storePath(context.home);
  if (!existsSync(path)) return null;
  const store = refusing(() => openCommandStore(path));
  try {
    return await change(store);
  } finally {
    await store.close();
  }
}

/**
 * Reads and writes; makes home and store when they are not there.
 * @throws CliError when the store cannot be used.
 */
export async function makeStore<T>(context: CliContext, change: (store: Store) => Promise<T>): Promise<T> {
  const path = storePath(openHome(context));
  const store = refusing(() => openCommandStore(path));
  try {
    return await change(store);
  } finally {
    await store.close();
  }
}

function refusing<T>(open: () => T): T {
  try {
    return open();
  } catch (error) {
    if (error instanceof StoreRefused) throw new CliError(error.message);
    throw error;
  }
}
