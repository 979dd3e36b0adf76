/**
 * Opens the store for a command: through the running gateway of the home, or else directly. The configuration names a
 * database or the home's file; commands that start at the same time wait for the file.
 */
import { existsSync, statSync } from 'node:fs';
import { nodeFiles } from '../../compiler/node/node-files.ts';
import { searchConfig } from '../../compiler/source/search-config.ts';
import type { AskStore } from '../../runtime/control/control-client.ts';
import { callControl, createRemoteStore } from '../../runtime/control/control-client.ts';
import { actor, storeAs } from '../../runtime/store/actor.ts';
import type { Store } from '../../runtime/store/contract.ts';
import { StoreInDoubt, StoreRefused, StoreUnavailable } from '../../runtime/store/contract.ts';
import { StoreDamaged } from '../../runtime/store/decode.ts';
import { findDelivery, withDeliveryId } from '../../runtime/store/find-delivery.ts';
import type { StoredDispatch } from '../../runtime/store/queries.ts';
import type { JobRecord } from '../../runtime/store/records.ts';
import type { SharedState } from '../../runtime/store/shared.ts';
import { hasStore, lockHolder, lockPath, servedPath, storePath } from '../../runtime/store/store-path.ts';
import type { StorePlan } from '../../schemas/generated/types.ts';
import type { CliContext } from '../base/context.ts';
import { openHome } from '../base/context.ts';
import { ambiguousName, CliError, refusalOf } from '../base/errors.ts';
import type { DatabaseContext, PostgresPlan, SharedText } from '../base/module.ts';
import { loadPart, runtimeParts } from '../base/module.ts';
import { controlFailure, isGatewayRunning, pathsOf } from '../gateway/ask-gateway.ts';
import { printNote } from '../output/print.ts';

/** Timeout of a store operation, in ms; the audit of a large store is slow. */
const ANSWER_MS = 60_000;
/** How long a command waits for the process that holds the store, and the delay between attempts, in ms. */
const PATIENCE_MS = 15_000;
const LOOK_MS = 50;

interface Opening {
  /** Whether to create the home and the store if they are missing. */
  readonly create: boolean;
  /** Default: `--config`. */
  readonly configs?: readonly string[] | undefined;
}

/** The person at the command line: `--by`, or the user. */
export const personAt = ({ by, env: { SUDO_USER, USER, LOGNAME } }: CliContext): string =>
  actor('cli', by ?? SUDO_USER ?? USER ?? LOGNAME ?? null);

/** Null if nothing has ever been stored. @throws CliError if the store cannot be used */
export const useStore = <T>(
  context: CliContext,
  use: (store: Store) => Promise<T>,
  configs?: readonly string[],
): Promise<T | null> => withStore(context, use, { create: false, configs });

/** Creates the home and the store if they are missing. @throws CliError if the store cannot be used */
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
    return await use(storeAs(store, personAt(context)));
  } catch (error) {
    if (error instanceof StoreInDoubt)
      throw new CliError(error.message, 'check whether the change took effect before you repeat the command');
    if (error instanceof StoreUnavailable) throw new StoreOutOfReach(`the store is unavailable: ${error.message}`);
    if (error instanceof StoreDamaged)
      throw new CliError(error.message, 'to repair a damaged file: hookwright docs backups');
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

/** The store of the gateway that serves this home; null if none answers. */
async function findRemote(context: CliContext): Promise<Store | null> {
  if (!(await isGatewayRunning(context))) return null;
  const ask: AskStore = (name, input) => callControl(pathsOf(context).socket, name, input, ANSWER_MS);
  return createRemoteStore(ask);
}

/** Waits for the process that holds the file: a command, or a gateway that is starting. Null if there is none. */
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

/** Null if another process holds it. @throws StoreOutOfReach; CliError if the file has another version */
export async function tryOpenFile({ home, modules }: CliContext): Promise<Store | null> {
  // Loaded on demand: opening a database is not free.
  const { tryOpenOfflineStore } = await import('../../runtime/store/sqlite/open-store.ts');
  const { findPart, loadChanges } = await import('../../runtime/module.ts');
  const added = runtimeParts(modules);
  try {
    const [rescue, parts] = await Promise.all([findPart(added, 'rescue'), loadChanges(added)]);
    return await tryOpenOfflineStore(storePath(home), { rescue, parts });
  } catch (error) {
    if (error instanceof StoreRefused) throw refusalOf(error);
    if (error instanceof StoreUnavailable) throw new StoreOutOfReach(error.message);
    throw error;
  }
}

/** @throws CliError if a gateway holds the store for longer than a start takes: without its socket it never answers */
function refuseUnreachable({ home, clock }: CliContext): void {
  const lock = servedPath(storePath(home));
  const pid = lockHolder(lock);
  if (pid === null || clock.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? 0) < PATIENCE_MS) return;
  throw new CliError(
    `the gateway (pid ${pid}) holds the store of ${home}, but its control socket is missing or does not answer`,
    `end it, then start it again: kill ${pid}`,
  );
}

function heldBy(context: CliContext): CliError {
  const pid = lockHolder(lockPath(storePath(context.home)));
  return new CliError(
    `${pid === null ? 'another process' : `process ${pid}`} holds the store of ${context.home}, and no gateway answers`,
    'wait until that process ends, or end it',
  );
}

export const unknownDispatch = (id: string): CliError =>
  new CliError(`there is no delivery "${id}"`, 'to list the ids: hookwright deliveries list');

/** @throws CliError if none or several match */
export async function findDispatch(store: Store, id: string): Promise<StoredDispatch> {
  const found = await findDelivery(store, id);
  if (found.kind === 'found') return found.dispatch;
  if (found.kind === 'unknown') throw unknownDispatch(id);
  const newest = await store.read({ kind: 'list', filter: { limit: SEARCHED } });
  const begin = newest.map((each) => each.id).filter((each) => each.startsWith(id));
  const candidates = begin.length > 0 ? begin : (await withDeliveryId(store, id)).map((each) => each.id);
  throw ambiguousName('delivery', id, candidates, 'hookwright deliveries list');
}

/** Number of the newest deliveries that are searched for candidates. */
const SEARCHED = 1000;

/** The configuration names no store: it cannot be read, or the URL of the database is not set. */
export class UnknownStore extends CliError {}

/** The store cannot be opened now: its disk is full, read-only or failing, or the database is unavailable or rejects the login. */
export class StoreOutOfReach extends CliError {}

/** Context for opening the store that the configuration names. */
export type OpeningContext = DatabaseContext & Pick<CliContext, 'modules'>;

/** @param configs default: `--config` @throws UnknownStore if the configuration cannot be read */
export async function configuredStore(
  context: CliContext,
  configs: readonly string[] = context.configs ?? [],
): Promise<StorePlan> {
  // A home without a configuration does not need the parser.
  if (configs.length === 0 && searchConfig(nodeFiles, context).root === null) return { kind: 'sqlite' };
  const { readStorePlan } = await import('../../compiler/source/read-store-plan.ts');
  const { cwd, home, allowed } = context;
  const plan = readStorePlan({ files: nodeFiles, cwd, home, allowed, configs });
  if (plan !== null) return plan;
  if (existsSync(storePath(context.home))) return { kind: 'sqlite' };
  throw new UnknownStore(
    'the location of the store is unknown because the configuration has errors',
    'to see them: hookwright lint',
  );
}

/**
 * Opens the database as a client, which runs no work. Null if it has no tables and none may be created.
 * @throws StoreOutOfReach if it is unavailable or unusable; UnknownStore
 */
export async function openDatabase(
  context: OpeningContext,
  plan: PostgresPlan,
  opening: { readonly create: boolean },
): Promise<Store | null> {
  const { loadChanges } = await import('../../runtime/module.ts');
  const parts = await loadChanges(runtimeParts(context.modules));
  return (await loadPart(context.modules, 'database')).open(context, plan, { create: opening.create, parts });
}

/**
 * Opens the database, and closes it after `use`. Null if it has no tables and none may be created.
 * @throws StoreOutOfReach if it is unavailable; CliError if it cannot be used
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
    if (store.state === null) throw new Error('a database has no shared state');
    return await use(store.state);
  } catch (error) {
    if (error instanceof StoreUnavailable) throw new StoreOutOfReach(error.message);
    if (error instanceof StoreRefused) throw refusalOf(error);
    throw error;
  } finally {
    await store.close();
  }
}

/** Updates the home's copy of the subscriptions if gateways share them; otherwise does nothing. */
export async function refreshCopy(context: CliContext, configs: readonly string[] | undefined): Promise<void> {
  const plan = await configuredStore(context, configs).catch((error: unknown) => {
    if (error instanceof UnknownStore) return null;
    throw error;
  });
  if (plan?.kind !== 'postgres') return;
  await (await loadPart(context.modules, 'database')).refreshSubscriptions(context, plan);
}

/** Null if the store is a file of the home. @throws CliError if the database cannot be used */
export async function useSharedText<T>(
  context: CliContext,
  use: (read: () => Promise<SharedText>) => Promise<T>,
): Promise<T | null> {
  const plan = await configuredStore(context);
  if (plan.kind === 'sqlite') return null;
  return (await loadPart(context.modules, 'database')).useSubscriptions(context, plan, use);
}

/**
 * Reads without a lock if the store is closed, so that commands that only read do not wait for each other. This also works
 * on a full or read-only disk, where a gateway must be able to start.
 * @param configs default: `--config`
 * @throws StoreOutOfReach, UnknownStore; CliError if the jobs cannot be read
 */
export async function readStoredJobs(context: CliContext, configs?: readonly string[]): Promise<readonly JobRecord[]> {
  const path = storePath(context.home);
  // Loaded only if there is a file: opening a database is not free.
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

/** The same for a compile, which continues without the database: in CI, and before a gateway that waits for the database. */
export async function readJobsToCompile(
  context: CliContext,
  configs: readonly string[] | undefined,
): Promise<readonly JobRecord[]> {
  try {
    return await readStoredJobs(context, configs);
  } catch (error) {
    if (error instanceof UnknownStore) return [];
    if (!(error instanceof StoreOutOfReach)) throw error;
    printNote(context, `this compile does not know the jobs created at run time: ${error.message}`);
    return [];
  }
}
