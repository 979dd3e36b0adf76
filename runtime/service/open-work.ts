/** Opens what stands behind the server, in its order: the first table's targets and agents, the store, the keeper of requests, budgets. */
import { hostname } from 'node:os';
import { isWildcard, listenUrl } from '../../base/listen-address.ts';
import { createDeliveryContext } from '../deliver/delivery-context.ts';
import type { DispatchObserver } from '../dispatch/observer.ts';
import type { Keeper } from '../intake/keeper.ts';
import { Keeping } from '../intake/keeper.ts';
import type { OpenedStore } from '../module.ts';
import { loadTracing } from '../module.ts';
import type { SecretResolver } from '../platform/secrets/secrets.ts';
import { openServerStore } from '../store/sqlite/open-store.ts';
import type { Store } from '../store/store.ts';
import { StoreRefused } from '../store/store.ts';
import { storePath } from '../store/store-path.ts';
import { Budgets } from './budgets.ts';
import type { ServiceContext } from './context.ts';
import type { Guarding } from './guarding.ts';
import { linkWork } from './linked-work.ts';
import type { Routes } from './routes.ts';
import { Work } from './work.ts';

interface OpenParts {
  /** With the first table loaded. */
  readonly routes: Routes;
  readonly observer: DispatchObserver;
  readonly guarding: Guarding;
  /** Called when the store has ended by itself, with the reason. */
  readonly failed: (reason: string) => void;
}

/**
 * Links the first table and opens the store.
 * Rejects with TableError naming all missing credentials, with StoreRefused when the store cannot be used.
 */
export async function openWork(
  context: ServiceContext,
  { routes, observer, guarding, failed }: OpenParts,
): Promise<Work> {
  const deliveries = createDeliveryContext(context);
  try {
    const first = await linkWork(context, deliveries, routes.plan);
    const opened = await openStore(context, { routes, failed }, first.secrets);
    const keeping = new Keeping(() => openKeeper(context, routes, opened.store), context.log);
    await keeping.prepare(Object.values(routes.plan.routes));
    const budgets = new Budgets(context.modules, context.timezone);
    await budgets.prepare(routes.plan);
    const tracing = await loadTracing(context.modules);
    const work = new Work(context, { deliveries, first, opened, keeping, observer, tracing, guarding, budgets });
    await work.readJobs();
    return work;
  } catch (error) {
    await deliveries.close();
    throw error;
  }
}

/** Opens a file of the home, or the store of a module. */
async function openStore(
  context: ServiceContext,
  { routes, failed }: Pick<OpenParts, 'routes' | 'failed'>,
  secrets: SecretResolver,
): Promise<OpenedStore> {
  const { home, log, modules, version, problem } = context;
  const { store: plan, durability } = routes.plan.gateway;
  const beforeCommit = (): void => log.flush?.();
  if (plan.kind === 'sqlite') {
    const store = await openServerStore({ path: storePath(home), durability, log, beforeCommit, failed });
    return { store, forCallers: store, isPending: () => false };
  }
  const part = modules.find(({ store }) => store?.kind === plan.kind)?.store;
  if (part === undefined) throw new StoreRefused(`gateway.store: no module of this program opens a ${plan.kind} store`);
  const open = await part.load();
  const node = {
    url: () => nodeUrl(routes),
    version,
    table: () => routes.tables.status.hash,
    problem: () => problem() ?? routes.tables.status.error,
  };
  return open({ ...context, beforeCommit, node }, plan, secrets);
}

/** The URL of this gateway for operators of other gateways, with the host's name instead of a wildcard address. */
function nodeUrl(routes: Routes): string {
  const { host, port } = routes.listening?.configured ?? routes.addressFor(routes.plan.server);
  return listenUrl(isWildcard(host) ? hostname() : host, routes.listening?.bound.port ?? port);
}

async function openKeeper(context: ServiceContext, routes: Routes, { state }: Store): Promise<Keeper> {
  const { modules, home, redactor, clock, log } = context;
  const load = modules.find(({ keeper }) => keeper)?.keeper;
  if (load === undefined) throw new Error('no module of this program keeps requests');
  const open = await load();
  const rows = state?.requests ?? null;
  return open({ home, rows, table: () => routes.plan, secrets: () => redactor.secrets, clock, log });
}
