/** Opens the SQLite store: for the one server of a home, and for a command while no server runs. */
import type { Logger } from '../../log.ts';
import type { Store } from '../store.ts';
import { StoreRefused } from './store-refused.ts';

export type Durability = 'full' | 'normal';

export interface ServerStoreOptions {
  /** Of the database file. */
  readonly path: string;
  /** `full`: acknowledged survives a loss of power. `normal`: it survives the end of the process. */
  readonly durability: Durability;
  readonly log: Logger;
  /** Called before a change of what has happened is handed over: its log lines must have left the process by then. */
  readonly beforeCommit?: () => void;
}

/**
 * Opens the store for the one server of a home, creating, migrating and repairing it first; waits while a command has it.
 * When the medium is full, read-only or failing the store opens all the same: it is unavailable, as `problem()` says, and
 * goes on by itself once the medium does.
 * @throws StoreRefused when another server has it, or the file is none that this version can use.
 */
export function openServerStore(options: ServerStoreOptions): Promise<Store> {
  throw new StoreRefused(`not implemented: ${options.path}`);
}

/**
 * Opens the store for a command while no server has it, creating and migrating it when need be. Holds the store's lock
 * until it is closed; waits while another command does.
 * @throws StoreRefused when a server keeps it, when it cannot be opened, or when it is none that this version can use.
 */
export function openOfflineStore(path: string): Promise<Store> {
  throw new StoreRefused(`not implemented: ${path}`);
}
