/** Opens the sessions of a profile, and finds the chat that a command names: the target by any of its names, the profile by its folder. */
import { existsSync } from 'node:fs';
import { DEFAULT_PROFILE, PROFILE_NAME, profileHome } from '../../base/profiles.ts';
import { lowerTargetNames } from '../../compiler/lower/target-names.ts';
import { fileSessions } from '../../runtime/deliver/sessions/file-sessions.ts';
import type { BusySession, DispatchSummary, SaidTurn } from '../../runtime/store/queries.ts';
import type { Chat, Sessions } from '../../runtime/store/sessions.ts';
import type { CliContext } from '../base/context.ts';
import { CliError } from '../base/errors.ts';
import { findTarget } from '../base/find-name.ts';
import { formatDuration } from '../output/time.ts';
import { configuredStore, useSharedState } from '../store/use-store.ts';

interface ChatArguments {
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
  const { tryOpenTable } = await import('../subscriptions/routes.ts');
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

/** `session, 5 min`; empty where a run waits for nothing but its time. @param now Unix ms */
export const waitText = ({ waits_for, waits_since }: DispatchSummary, now: number): string =>
  waits_for === null ? '' : `${waits_for}${waits_since === null ? '' : `, ${formatDuration(now - waits_since)}`}`;

/** Which run has the turn: `<id> running`. */
export const holderText = ({ run: { id, state, waits_for } }: BusySession): string =>
  `${id} ${waits_for === null ? state : `waits for ${waits_for}`}`;

/** One for `--json`. @param busy null: no run waits or is under way */
export function agentSessionJson(profile: string, id: string, busy: BusySession | null): object {
  const { ref, session, turn, ready_at, ...run } = busy?.run ?? {};
  return { kind: 'agent', id, name: id, profile, run: busy === null ? null : run, waiting: busy?.waiting ?? 0 };
}

/** The turns as those of a chat. */
export const turnsOf = ({ accepted_at, answered_at, prompt, answer }: SaidTurn) => [
  { role: 'user', content: prompt, at: new Date(accepted_at).toISOString() },
  { role: 'assistant', content: answer, at: new Date(answered_at).toISOString() },
];
