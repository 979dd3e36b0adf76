/** Opens the sessions of a profile, and finds the chat that a command names: the target by any of its names, the profile by its folder. */
import { existsSync } from 'node:fs';
import { DEFAULT_PROFILE, PROFILE_NAME, profileHome } from '../../base/profiles.ts';
import { lowerTargetNames } from '../../compiler/lower/target-names.ts';
import { fileSessions } from '../../runtime/deliver/sessions/file-sessions.ts';
import type { Chat, Sessions } from '../../runtime/store/sessions.ts';
import type { CliContext } from '../base/context.ts';
import { CliError } from '../base/errors.ts';
import { findTarget } from '../command-line/find-name.ts';
import { configuredStore } from '../store/configured-store.ts';
import { useSharedState } from '../store/use-shared-state.ts';

export interface ChatArguments {
  readonly target: string;
  readonly chatId: string;
  readonly profile: string | undefined;
}

/** @throws CliError when there is no such target or profile. */
export async function openChat(context: CliContext, { target, chatId, profile }: ChatArguments): Promise<Chat> {
  if (chatId === '') throw new CliError('the chat id is empty');
  const owner = sessionProfile(context, profile);
  const names = await targetNames(context);
  return { profile: owner, target: findTarget(names, target), chatId };
}

/** @throws CliError when there is no such profile. */
export function sessionProfile(context: CliContext, profile: string = DEFAULT_PROFILE): string {
  const home = profileHome(context.home, profile);
  if (profile !== DEFAULT_PROFILE && !(PROFILE_NAME.test(profile) && existsSync(home))) {
    throw new CliError(`there is no profile "${profile}"`, `its folder would be ${home}`);
  }
  return profile;
}

/** The targets of the configuration; the shipped ones when it has errors. */
async function targetNames(context: CliContext): Promise<Readonly<Record<string, string>>> {
  // Loaded on demand: it pulls in the compiler, and lists of sessions ask for no name.
  const { tryOpenTable } = await import('../subscriptions/open-table.ts');
  const open = await tryOpenTable(context, context.configs);
  if (open !== null) return open.table.target_names;
  return lowerTargetNames((await context.catalog()).targets).plan ?? {};
}

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
