/** The sessions, for a command: files of the home, or rows of the database that the configuration names. */
import { profileHome } from '../../base/profiles.ts';
import { fileSessions } from '../../runtime/deliver/sessions/file-sessions.ts';
import type { Sessions } from '../../runtime/store/sessions.ts';
import type { Store } from '../../runtime/store/store.ts';
import { StoreUnavailable } from '../../runtime/store/store.ts';
import type { CliContext } from '../base/context.ts';
import { configuredStore, openDatabase, StoreOutOfReach } from '../store/configured-store.ts';

/**
 * Null: the database has no tables, and none are to be made.
 * @throws CliError when the configuration or the database cannot be used
 */
export async function useSessions<T>(
  context: CliContext,
  use: (sessions: Sessions) => Promise<T>,
  { create }: { readonly create: boolean } = { create: false },
): Promise<T | null> {
  const plan = await configuredStore(context);
  if (plan.kind === 'sqlite') return use(fileSessions((profile) => profileHome(context.home, profile)));
  const store = await openDatabase(context, plan, { create });
  return store === null ? null : useAndClose(store, use);
}

async function useAndClose<T>(store: Store, use: (sessions: Sessions) => Promise<T>): Promise<T> {
  try {
    if (store.state === null) throw new Error('a database keeps sessions');
    return await use(store.state.sessions);
  } catch (error) {
    if (error instanceof StoreUnavailable) throw new StoreOutOfReach(error.message);
    throw error;
  } finally {
    await store.close();
  }
}
