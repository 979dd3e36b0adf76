/**
 * The home's store, for a command. A running gateway is asked, because it alone writes its store; without one the command
 * opens the file itself, and commands that are started at once wait for each other.
 */
import { existsSync } from 'node:fs';
import { callControl } from '../../runtime/control/control-client.ts';
import type { AskStore } from '../../runtime/control/store-operations.ts';
import { createRemoteStore } from '../../runtime/control/store-operations.ts';
import { lockHolder } from '../../runtime/store/sqlite/lock-holder.ts';
import type { Store } from '../../runtime/store/store.ts';
import { StoreRefused, StoreUnavailable } from '../../runtime/store/store.ts';
import { lockPath, storePath } from '../../runtime/store/store-path.ts';
import type { CliContext } from '../base/context.ts';
import { openHome } from '../base/context.ts';
import { CliError, refusalOf } from '../base/errors.ts';
import { controlFailure, isGatewayThere, pathsOf } from '../gateway/ask-gateway.ts';

/** How long an operation of the store may take, in ms: an audit of a large one takes long. */
const ANSWER_MS = 60_000;
/** How long a command waits for whoever has the store, in ms, and how long between two looks. */
const PATIENCE_MS = 15_000;
const LOOK_MS = 50;

/** The medium is full, read-only or failing: the file cannot be opened now. */
export class StoreOutOfReach extends CliError {}

/** Null when nothing has ever been stored. @throws CliError when the store cannot be used. */
export async function useStore<T>(context: CliContext, use: (store: Store) => Promise<T>): Promise<T | null> {
  const isThere = (await isGatewayThere(context)) || existsSync(storePath(context.home));
  return isThere ? withStore(context, use) : null;
}

/** Makes home and store when they are not there. @throws CliError when the store cannot be used. */
export async function makeStore<T>(context: CliContext, use: (store: Store) => Promise<T>): Promise<T> {
  openHome(context);
  return withStore(context, use);
}

async function withStore<T>(context: CliContext, use: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore(context);
  try {
    return await use(store);
  } catch (error) {
    if (error instanceof StoreUnavailable) throw new CliError(`the store takes no changes: ${error.message}`);
    throw controlFailure(context, error);
  } finally {
    await store.close();
  }
}

async function openStore(context: CliContext): Promise<Store> {
  const until = context.clock.monotonic() + PATIENCE_MS;
  for (;;) {
    const store = (await findRemote(context)) ?? (await tryOpenFile(context));
    if (store !== null) return store;
    if (context.clock.monotonic() >= until) throw heldBy(context);
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

/** The store of the gateway that serves this home; null when none answers. */
async function findRemote(context: CliContext): Promise<Store | null> {
  if (!(await isGatewayThere(context))) return null;
  const ask: AskStore = (name, input) => callControl(pathsOf(context).socket, name, input, ANSWER_MS);
  return createRemoteStore(ask);
}

/** Null when another process has it. @throws StoreOutOfReach; CliError when the file is none of this version */
async function tryOpenFile(context: CliContext): Promise<Store | null> {
  // Loaded only here: opening a database is not free.
  const { tryOpenOfflineStore } = await import('../../runtime/store/sqlite/open-store.ts');
  try {
    return await tryOpenOfflineStore(storePath(context.home));
  } catch (error) {
    if (error instanceof StoreRefused) throw refusalOf(error);
    if (error instanceof StoreUnavailable) throw new StoreOutOfReach(error.message);
    throw error;
  }
}

function heldBy(context: CliContext): CliError {
  const pid = lockHolder(lockPath(storePath(context.home)));
  return new CliError(
    `${pid === null ? 'another process' : `the process ${pid}`} has the store of ${context.home}, and is no gateway that answers`,
    'wait until it has ended, or end it',
  );
}
