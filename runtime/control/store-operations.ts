/**
 * The store of a running gateway, for commands. They use the control socket instead of opening the file, so that only the
 * server writes it. This file has both ends: the server's handlers, and a `Store` that calls them.
 */
import type { CommandMutation, ControlContract } from '../../schemas/built/operations/types.ts';
import { StoreDamaged } from '../store/decode.ts';
import type { Mutation, MutationResults } from '../store/mutations.ts';
import type { Query, QueryKind, QueryResults } from '../store/queries.ts';
import type { Store } from '../store/store.ts';
import { StoreUnavailable } from '../store/store.ts';
import { ControlError } from './control-error.ts';

/** Code of a refusal while the store is unavailable; a retry may succeed. */
const UNAVAILABLE = 'store_unavailable';

/** @param changed called after each change, because there may be new work */
export function createStoreHandlers(store: () => Store, changed: () => void) {
  return {
    store_read: (query: Query): Promise<QueryResults[QueryKind]> => refusing(() => store().read(query)),
    async store_write(mutation: CommandMutation): Promise<MutationResults[CommandMutation['kind']]> {
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
    if (error instanceof StoreDamaged) throw new ControlError('refused', error.message);
    throw error;
  }
}

/** Calls one store operation of the gateway. */
export type AskStore = <Name extends 'store_read' | 'store_write'>(
  name: Name,
  input: ControlContract[Name]['input'],
) => Promise<unknown>;

/** The store of a running gateway, as a `Store`. */
export function createRemoteStore(ask: AskStore): Store {
  return {
    read: <Q extends Query>(query: Q) => orUnavailable(ask('store_read', query) as Promise<QueryResults[Q['kind']]>),
    write: <M extends Mutation>(mutation: M) =>
      orUnavailable(ask('store_write', mutation as CommandMutation) as Promise<MutationResults[M['kind']]>),
    problem: () => null,
    shared: null,
    state: null,
    close: () => Promise.resolve(),
  };
}

async function orUnavailable<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ControlError && error.code === UNAVAILABLE) throw new StoreUnavailable(error.message);
    throw error;
  }
}
