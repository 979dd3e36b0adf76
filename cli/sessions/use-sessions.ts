/** The sessions, for a command: files of the home, or rows of the database that the configuration names. */
import { profileHome } from '../../base/profiles.ts';
import { fileSessions } from '../../runtime/deliver/sessions/file-sessions.ts';
import type { Sessions } from '../../runtime/store/sessions.ts';
import type { CliContext } from '../base/context.ts';
import { configuredStore } from '../store/configured-store.ts';
import { useSharedState } from '../store/use-shared-state.ts';

/**
 * Null: the database has no tables, and none are to be made.
 * @throws CliError when the configuration or the database cannot be used
 */
export async function useSessions<T>(
  context: CliContext,
  use: (sessions: Sessions) => Promise<T>,
  options: { readonly create: boolean } = { create: false },
): Promise<T | null> {
  const plan = await configuredStore(context);
  if (plan.kind === 'sqlite') return use(fileSessions((profile) => profileHome(context.home, profile)));
  return useSharedState(context, plan, options, ({ sessions }) => use(sessions));
}
