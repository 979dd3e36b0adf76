/**
 * The home's store, for a command. A running gateway is asked, because it alone writes its store; without one the command
 * opens the file itself, and commands that are started at once wait for each other.
 */
import { existsSync } from 'node:fs';
import { callControl, NotRunningError } from '../../runtime/control/control-client.ts';
import { ControlError } from '../../runtime/control/control-error.ts';
import type { AskStore } from '../../runtime/control/store-operations.ts';
import { createRemoteStore } from '../../runtime/control/store-operations.ts';
import type { Store } from '../../runtime/store/store.ts';
import { StoreRefused, StoreUnavailable } from '../../runtime/store/store.ts';
import { storePath } from '../../runtime/store/store-path.ts';
import type { CliContext } from '../base/context.ts';
import { openHome } from '../base/context.ts';
import { CliError } from '../base/errors.ts';
import { controlFailure, pathsOf, readGatewayInfo } from '../gateway/ask-gateway.ts';

/** How long an operation of the store may take, in ms: an audit of a large one takes long. */
const ANSWER_MS = 60_000;
/** How long a command waits for whoever has the store, in ms, and how long between two looks. */
const PATIENCE_MS = 15_000;
const LOOK_MS = 50;

/** The medium is full, read-only or failing: the file cannot be opened now. */
export class StoreOutOfReach extends CliError {}

/**
 * Null when nothing has ever been stored on this machine, and no gateway of this home runs, which may store elsewhere.
 * @throws CliError when the store cannot be used
 */
export async function useStore<T>(context: CliContext, use: (store: Store) => Promise<T>): Promise<T | null> {
  if (existsSync(storePath(context.home))) return withStore(context, use);
  const store = await findRemote(context);
  return store === null ? null : closeAfter(store, use);
}

/** Makes home and store when they are not there. @throws CliError when the store cannot be used. */
export async function makeStore<T>(context: CliContext, use: (store: Store) => Promise<T>): Promise<T> {
  openHome(context);
  return withStore(context, use);
}

async function withStore<T>(context: CliContext, use: (store: Store) => Promise<T>): Promise<T> {
  return closeAfter(await openStore(context), use);
}

async function closeAfter<T>(store: Store, use: (store: Store) => Promise<T>): Promise<T> {
  try {
    return await use(store);
  } catch (error) {
    if (error instanceof StoreUnavailable) throw new CliError(`the store takes no changes: ${error.message}`);
    throw controlFailure(error);
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
  const ask: AskStore = (name, input) => callControl(pathsOf(context).socket, name, input, ANSWER_MS);
  try {
    await ask('store_read', { kind: 'jobs_version' });
    return createRemoteStore(ask);
  } catch (error) {
    if (error instanceof NotRunningError) return null;
    if (error instanceof ControlError && error.code === 'unknown_operation') {
      const hint = 'restart it with this one: hookwright gateway stop, then gateway start';
      throw new CliError('the running gateway is of an older version, which commands cannot ask for its store', hint);
    }
    throw controlFailure(error);
  }
}

/** Null when another process has it. @throws StoreOutOfReach; CliError when the file is none of this version */
async function tryOpenFile(context: CliContext): Promise<Store | null> {
  // Loaded only here: opening a database is not free.
  const { tryOpenOfflineStore } = await import('../../runtime/store/sqlite/open-store.ts');
  try {
    return await tryOpenOfflineStore(storePath(context.home));
  } catch (error) {
    if (error instanceof StoreRefused) throw new CliError(error.message);
    if (error instanceof StoreUnavailable) throw new StoreOutOfReach(error.message);
    throw error;
  }
}

function heldBy(context: CliContext): CliError {
  const holder = readGatewayInfo(context);
  const who = holder === null ? 'another process' : `the gateway with pid ${holder.pid}`;
  return new CliError(
    `${who} has the store of ${context.home}, and no answer comes over its control socket`,
    'look at it: hookwright gateway status, hookwright doctor',
  );
}
