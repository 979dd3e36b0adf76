/**
 * The store of a running gateway, for commands: they ask over the control socket instead of opening the file, so that the
 * server stays the only process that writes it. Both ends are here: what the server answers, and a `Store` that asks.
 */
import type { FireJob, PauseJob, PutJob, RemoveJob, WatchJob } from '../store/job-mutations.ts';
import type { Accept, Mutation, MutationResults } from '../store/mutations.ts';
import type { Query, QueryKind, QueryResults } from '../store/queries.ts';
import type { Store } from '../store/store.ts';
import { StoreUnavailable } from '../store/store.ts';
import { ControlError } from './control-error.ts';

/** The changes that commands make; the others belong to the server's own work. */
export type CommandMutation = Accept | FireJob | PutJob | RemoveJob | PauseJob | WatchJob;

const COMMAND_MUTATIONS: Readonly<Record<CommandMutation['kind'], true>> = {
  accept: true,
  fire_job: true,
  put_job: true,
  remove_job: true,
  pause_job: true,
  watch_job: true,
};

export interface StoreOperations {
  /** A question to the store. */
  store_read: { input: Query; output: QueryResults[QueryKind] };
  /** A change to the store; what it makes due is begun at once. */
  store_write: { input: CommandMutation; output: MutationResults[CommandMutation['kind']] };
}

export interface StoreHandlers {
  readonly store_read: (query: Query) => Promise<QueryResults[QueryKind]>;
  readonly store_write: (mutation: CommandMutation) => Promise<MutationResults[CommandMutation['kind']]>;
}

/** Code of a refusal that means: try again, the store cannot take it now. */
const UNAVAILABLE = 'store_unavailable';

const isCommandMutation = ({ kind }: { readonly kind: unknown }): boolean =>
  typeof kind === 'string' && Object.hasOwn(COMMAND_MUTATIONS, kind);

/** @param changed called after each change: there may be work */
export function createStoreHandlers(store: () => Store, changed: () => void): StoreHandlers {
  return {
    store_read: (query) => refusing(() => store().read(query)),
    async store_write(mutation) {
      if (!isCommandMutation(mutation)) {
        throw new ControlError('refused', 'only a gateway itself makes a change of this kind');
      }
      const result = await refusing(() => store().write(mutation));
      changed();
      return result;
    },
  };
}

async function refusing<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof StoreUnavailable) throw new ControlError(UNAVAILABLE, error.message);
    throw error;
  }
}

/** Sends one operation to the gateway. */
export type AskStore = <Name extends keyof StoreOperations>(
  name: Name,
  input: StoreOperations[Name]['input'],
) => Promise<StoreOperations[Name]['output']>;

/** The store of a running gateway. */
export function createRemoteStore(ask: AskStore): Store {
  return {
    read: <Q extends Query>(query: Q) => ask('store_read', query) as Promise<QueryResults[Q['kind']]>,
    async write<M extends Mutation>(mutation: M) {
      try {
        return (await ask('store_write', mutation as CommandMutation)) as MutationResults[M['kind']];
      } catch (error) {
        if (error instanceof ControlError && error.code === UNAVAILABLE) throw new StoreUnavailable(error.message);
        throw error;
      }
    },
    problem: () => null,
    shared: null,
    state: null,
    close: () => Promise.resolve(),
  };
}
