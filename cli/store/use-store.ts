/**
 * The store, for a command. A running gateway of the home is asked; without one the command opens the store that the
 * configuration names: the database, or the home's file, which commands that are started at once wait for.
 */
import { existsSync, statSync } from 'node:fs';
import { nodeFiles } from '../../compiler/node/node-files.ts';
import { searchConfig } from '../../compiler/source/search-config.ts';
import type { AskStore } from '../../runtime/control/control-client.ts';
import { callControl, createRemoteStore } from '../../runtime/control/control-client.ts';
import type { SharedState, Store } from '../../runtime/store/contract.ts';
import { StoreInDoubt, StoreRefused, StoreUnavailable } from '../../runtime/store/contract.ts';
import { StoreDamaged } from '../../runtime/store/decode.ts';
import type { StoredDispatch } from '../../runtime/store/queries.ts';
import type { JobRecord } from '../../runtime/store/records.ts';
import { hasStore, lockHolder, lockPath, servedPath, storePath } from '../../runtime/store/store-path.ts';
import type { StorePlan } from '../../schemas/generated/types.ts';
import type { CliContext } from '../base/context.ts';
import { openHome } from '../base/context.ts';
import { ambiguousName, CliError, refusalOf } from '../base/errors.ts';
import type { DatabaseContext, PostgresPlan, SharedText } from '../base/module.ts';
import { loadPart, runtimeParts } from '../base/module.ts';
import { controlFailure, isGatewayThere, pathsOf } from '../gateway/ask-gateway.ts';
import { printNote } from '../output/print.ts';

/** Timeout of an operation of the store, in ms; the audit of a large one is slow. */
const ANSWER_MS = 60_000;
/** How long a command waits for the process that has the store, and the pause between attempts, in ms. */
const PATIENCE_MS = 15_000;
const LOOK_MS = 50;

interface Opening {
  /** Whether to create the home and the store if they are missing. */
  readonly create: boolean;
  /** Default: those of the command line. */
  readonly configs?: readonly string[] | undefined;
}

/** Null if nothing has ever been stored. @throws CliError when the store cannot be used. */
export const useStore = <T>(
  context: CliContext,
  use: (store: Store) => Promise<T>,
  configs?: readonly string[],
): Promise<T | null> => withStore(context, use, { create: false, configs });

/** Creates the home and the store if they are missing. @throws CliError when the store cannot be used. */
export async function makeStore<T>(context: CliContext, use: (store: Store) => Promise<T>): Promise<T> {
  return (await withStore(context, use, { create: true })) as T;
}

async function withStore<T>(
  context: CliContext,
  use: (store: Store) => Promise<T>,
  opening: Opening,
): Promise<T | null> {
  const store = await openStore(context, opening);
  if (store === null) return null;
  try {
    return await use(store);
  } catch (error) {
    if (error instanceof StoreInDoubt)
      throw new CliError(error.message, 'look whether it is there before you repeat it');
    if (error instanceof StoreUnavailable) throw new StoreOutOfReach(`the store is unavailable: ${error.message}`);
    if (error instanceof StoreDamaged)
      throw new CliError(error.message, 'hookwright docs operations: when the disk damages the file');
    throw controlFailure(context, error);
  } finally {
    await store.close();
  }
}

async function openStore(context: CliContext, opening: Opening): Promise<Store | null> {
  const remote = await findRemote(context);
  if (remote !== null) return remote;
  const plan = await configuredStore(context, opening.configs);
  if (plan.kind === 'sqlite') return openFile(context, opening);
  return openDatabase(context, plan, opening);
}

/** The store of the gateway that serves this home; null when none answers. */
async function findRemote(context: CliContext): Promise<Store | null> {
  if (!(await isGatewayThere(context))) return null;
  const ask: AskStore = (name, input) => callControl(pathsOf(context).socket, name, input, ANSWER_MS);
  return createRemoteStore(ask);
}

/** Waits for the process that has the file: a command, or a gateway that is about to respond. Null: there is none. */
async function openFile(context: CliContext, { create }: Opening): Promise<Store | null> {
  if (create) openHome(context);
  else if (!hasStore(storePath(context.home))) return null;
  const until = context.clock.monotonic() + PATIENCE_MS;
  for (;;) {
    const store = (await tryOpenFile(context)) ?? (await findRemote(context));
    if (store !== null) return store;
    refuseUnreachable(context);
    if (context.clock.monotonic() >= until) throw heldBy(context);
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

/** Null when another process has it. @throws StoreOutOfReach; CliError when the file is not of this version */
export async function tryOpenFile({ home, modules }: CliContext): Promise<Store | null> {
  // Loaded only here: opening a database is not free.
  const { tryOpenOfflineStore } = await import('../../runtime/store/sqlite/open-store.ts');
  const { findPart } = await import('../../runtime/module.ts');
  try {
    return await tryOpenOfflineStore(storePath(home), await findPart(runtimeParts(modules), 'rescue'));
  } catch (error) {
    if (error instanceof StoreRefused) throw refusalOf(error);
    if (error instanceof StoreUnavailable) throw new StoreOutOfReach(error.message);
    throw error;
  }
}

/** @throws CliError when a gateway has the store for longer than a start takes: without its socket it will never answer */
function refuseUnreachable({ home, clock }: CliContext): void {
  const lock = servedPath(storePath(home));
  const pid = lockHolder(lock);
  if (pid === null || clock.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? 0) < PATIENCE_MS) return;
  throw new CliError(
    `the gateway (pid ${pid}) has the store of ${home}, and its control socket is gone or does not answer`,
    `end it, and start it again: kill ${pid}`,
  );
}

function heldBy(context: CliContext): CliError {
  const pid = lockHolder(lockPath(storePath(context.home)));
  return new CliError(
    `${pid === null ? 'another process' : `the process ${pid}`} has the store of ${context.home}, and is no gateway that answers`,
    'wait until it has ended, or end it',
  );
}

export const unknownDispatch = (id: string): CliError =>
  new CliError(`there is no delivery "${id}"`, 'hookwright deliveries list shows the ids');

/** @throws CliError if none or several match */
export async function findDispatch(store: Store, id: string): Promise<StoredDispatch> {
  const found = await store.read({ kind: 'find', id });
  if (found.kind === 'found') return found.dispatch;
  if (found.kind === 'unknown') throw unknownDispatch(id);
  const newest = await store.read({ kind: 'list', filter: { limit: SEARCHED } });
  const candidates = newest.map((each) => each.id).filter((each) => each.startsWith(id));
  throw ambiguousName('delivery', id, candidates, 'hookwright deliveries list');
}

/** Number of the newest deliveries that are searched for candidates. */
const SEARCHED = 1000;

/** The configuration does not lead to a store: it cannot be read, or the URL of the database is not set. */
export class UnknownStore extends CliError {}

/** The store cannot be opened now: its medium is full, read-only or failing, or the database is away or refuses. */
export class StoreOutOfReach extends CliError {}

/** What is needed to open the store that the configuration names. */
export type OpeningContext = DatabaseContext & Pick<CliContext, 'modules'>;

/** @param configs default: those of the command line @throws UnknownStore when the configuration cannot be read */
export async function configuredStore(
  context: CliContext,
  configs: readonly string[] = context.configs ?? [],
): Promise<StorePlan> {
  // A home without a configuration has no parser to wait for.
  if (configs.length === 0 && searchConfig(nodeFiles, context).root === null) return { kind: 'sqlite' };
  const { readStorePlan } = await import('../../compiler/source/read-store-plan.ts');
  const plan = readStorePlan({ files: nodeFiles, cwd: context.cwd, home: context.home, configs });
  if (plan !== null) return plan;
  if (existsSync(storePath(context.home))) return { kind: 'sqlite' };
  throw new UnknownStore(
    'the configuration does not say where the store is: it has errors',
    'hookwright lint shows them',
  );
}

/**
 * The database, opened as a client: it takes no work. Null: there are no tables in it, and none are to be made.
 * @throws StoreOutOfReach when it cannot be reached, or cannot be used; UnknownStore
 */
export async function openDatabase(
  context: OpeningContext,
  plan: PostgresPlan,
  opening: { readonly create: boolean },
): Promise<Store | null> {
  return (await loadPart(context.modules, 'database')).open(context, plan, opening);
}

/**
 * Opens the database, and closes it behind `use`. Null: there are no tables in it, and none are to be made.
 * @throws StoreOutOfReach when it cannot be reached; CliError when it cannot be used
 */
export async function useSharedState<T>(
  context: CliContext,
  plan: PostgresPlan,
  opening: { readonly create: boolean },
  use: (state: SharedState) => Promise<T>,
): Promise<T | null> {
  const store = await openDatabase(context, plan, opening);
  if (store === null) return null;
  try {
    if (store.state === null) throw new Error('a database keeps what gateways share');
    return await use(store.state);
  } catch (error) {
    if (error instanceof StoreUnavailable) throw new StoreOutOfReach(error.message);
    if (error instanceof StoreRefused) throw refusalOf(error);
    throw error;
  } finally {
    await store.close();
  }
}

/** Brings the home's copy of the subscriptions up to date where gateways share them; nothing elsewhere. */
export async function refreshCopy(context: CliContext, configs: readonly string[] | undefined): Promise<void> {
  const plan = await configuredStore(context, configs).catch((error: unknown) => {
    if (error instanceof UnknownStore) return null;
    throw error;
  });
  if (plan?.kind !== 'postgres') return;
  await (await loadPart(context.modules, 'database')).refreshSubscriptions(context, plan);
}

/** Null where the store is a file of the home. @throws CliError when the database cannot be used */
export async function useSharedText<T>(
  context: CliContext,
  use: (read: () => Promise<SharedText>) => Promise<T>,
): Promise<T | null> {
  const plan = await configuredStore(context);
  if (plan.kind === 'sqlite') return null;
  return (await loadPart(context.modules, 'database')).useSubscriptions(context, plan, use);
}

/**
 * Takes no lock where the store is closed: commands that only read never wait for each other. Also on a disk that is full
 * or read-only: a gateway starts there, too.
 * @param configs default: those of the command line
 * @throws StoreOutOfReach, UnknownStore; CliError when they cannot be read
 */
export async function readStoredJobs(context: CliContext, configs?: readonly string[]): Promise<readonly JobRecord[]> {
  const path = storePath(context.home);
  // Loaded only where there is a file: opening a database is not free.
  const files = existsSync(path) ? await import('../../runtime/store/sqlite/open-store.ts') : null;
  const isFile = files !== null && (await configuredStore(context, configs)).kind === 'sqlite';
  const closed = isFile ? files.readClosedJobs(path) : null;
  if (closed !== null) return closed;
  try {
    const jobs = await useStore(context, (store) => store.read({ kind: 'jobs' }), configs);
    return jobs?.records ?? [];
  } catch (error) {
    if (!(error instanceof StoreOutOfReach) || !isFile) throw error;
    try {
      return files.readJobsUnopened(path);
    } catch {
      throw error;
    }
  }
}

/** The same for a compile, which needs no database: it runs in CI as well, and before a gateway that waits for it. */
export async function readJobsToCompile(
  context: CliContext,
  configs: readonly string[] | undefined,
): Promise<readonly JobRecord[]> {
  try {
    return await readStoredJobs(context, configs);
  } catch (error) {
    if (error instanceof UnknownStore) return [];
    if (!(error instanceof StoreOutOfReach)) throw error;
    printNote(context, `jobs made at run time are not known to this compile: ${error.message}`);
    return [];
  }
}
