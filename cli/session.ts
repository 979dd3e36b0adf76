/** `hookwright session`: opens, lists, shows and resets conversations of chats and agents. */

import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { DEFAULT_PROFILE, PROFILE_NAME, profileHome } from '../base/names.ts';
import { lowerTargetNames } from '../compiler/lower/targets.ts';
import { fileSessions } from '../runtime/deliver/sessions.ts';
import { conversationFolder } from '../runtime/dispatch/agents/work-folders.ts';
import { readResets } from '../runtime/store/actions.ts';
import { resetSession } from '../runtime/store/listed-rows.ts';
import type { BusySession, DispatchSummary, SaidTurn } from '../runtime/store/queries.ts';
import { sessionName } from '../runtime/store/records.ts';
import type { Chat, SessionSummary, Sessions, Turn } from '../runtime/store/shared.ts';
import type { CliContext } from './base/context.ts';
import { CliError, findTarget } from './base/errors.ts';
import type { ValuesOf } from './command-line/command.ts';
import { argument, command, optionalArgument, text } from './command-line/command.ts';
import { byOption, configOption, jsonOption } from './command-line/options.ts';
import { printBeside, printJson, printLine, printNote, visible } from './output/print.ts';
import { describeAction, formatDuration, printList } from './output/table.ts';
import { configuredStore, personAt, useSharedState, useStore } from './store/use-store.ts';

const ofProfile = { profile: text('profile', 'Profile of the session'), config: configOption };

/** `hookwright session open`: creates the session of a chat, to which deliveries are mirrored. */
export const sessionOpenCommand = command({
  options: ofProfile,
  args: { target: argument('target'), chatId: argument('chat id') },
  async run(context, given) {
    const chat = await openChat(context, given);
    const opened = await useSessions(context, (sessions) => sessions.open(chat), { create: true });
    printLine(context, opened?.path ?? visible(chat.chatId));
    if (opened?.created === false) printNote(context, 'the session already exists');
  },
});

type Row = { readonly chat: SessionSummary } | { readonly busy: BusySession };

/** `hookwright session list`: the chat sessions and busy agent sessions of a profile. */
export const sessionListCommand = command({
  options: { profile: text('profile', 'Profile of the sessions'), config: configOption, json: jsonOption },
  async run(context, given) {
    const profile = sessionProfile(context, given.profile);
    const chats = (await useSessions(context, (all) => all.list(profile))) ?? [];
    const busy = (await useStore(context, (store) => store.read({ kind: 'sessions', profile }))) ?? [];
    for (const { target, chat_id, problem } of given.json ? [] : chats) {
      if (problem !== null) printNote(context, `${visible(`${target} ${chat_id}`)}: ${visible(problem)}`);
    }
    const rows: readonly Row[] = [...chats.map((chat) => ({ chat })), ...busy.map((session) => ({ busy: session }))];
    printList(context, rows, {
      json: given.json,
      toJson: (row) =>
        'busy' in row
          ? agentSessionJson(profile, row.busy.session, row.busy)
          : { kind: 'chat', id: row.chat.chat_id, name: `${row.chat.target} ${row.chat.chat_id}`, ...row.chat },
      columns: [
        { title: 'KIND', value: (row) => ('busy' in row ? 'agent' : 'chat') },
        { title: 'TARGET', value: (row) => ('busy' in row ? '' : row.chat.target), whole: true },
        { title: 'CHAT OR ID', value: (row) => ('busy' in row ? row.busy.session : row.chat.chat_id), whole: true },
        { title: 'TURNS', value: (row) => ('busy' in row ? '' : (row.chat.turns ?? '-')), align: 'right' },
        { title: 'HAS THE TURN', value: (row) => ('busy' in row ? holderText(row.busy) : ''), whole: true },
        { title: 'WAITING', value: (row) => ('busy' in row ? row.busy.waiting : ''), align: 'right' },
        { title: 'CHANGED', value: (row) => ('busy' in row ? '' : row.chat.changed_at) },
      ],
      empty: 'no chat sessions and no busy agent sessions; to create one for a chat: hookwright session open',
    });
  },
});

const options = { ...ofProfile, json: jsonOption };

/** The most turns of an agent session that are shown. */
const SHOWN = 20;

/** `hookwright session show`: the turns of a chat session or an agent session. */
export const sessionShowCommand = command({
  details: `For an agent session it shows the current run, the number of waiting runs, and the latest ${SHOWN} prompts and answers.`,
  options,
  args: { target: argument('target or session id'), chatId: optionalArgument('chat id') },
  run: async (context, { chatId, ...given }) =>
    chatId === undefined ? showAgent(context, given, given.target) : showChat(context, { ...given, chatId }),
});

type Options = ValuesOf<typeof options>;

async function showChat(
  context: CliContext,
  given: Options & { readonly target: string; readonly chatId: string },
): Promise<void> {
  const chat = await openChat(context, given);
  const turns = await useSessions(context, (sessions) => sessions.read(chat));
  if (turns === null) {
    const make = `create one: hookwright session open ${given.target} ${given.chatId}`;
    throw new CliError(`chat ${given.chatId} of ${given.target} has no session`, make);
  }
  if (given.json) printJson(context, turns);
  else for (const turn of turns) printTurn(context, turn);
}

async function showAgent(context: CliContext, given: Options, session: string): Promise<void> {
  const profile = sessionProfile(context, given.profile);
  const of = { profile, session };
  const found = await useStore(context, async (store) => ({
    busy: (await store.read({ kind: 'sessions', profile })).find((one) => one.session === session) ?? null,
    said: await store.read({ kind: 'said', of, turns: SHOWN, chars: Number.MAX_SAFE_INTEGER }),
    last_action: (await readResets(store)).get(sessionName(of)) ?? null,
  }));
  if (found === null || (found.busy === null && found.said.length === 0 && found.last_action === null)) {
    throw new CliError(
      `session "${session}" has no messages and no pending runs`,
      'list busy sessions with: hookwright session list; select a chat session by target and chat id',
    );
  }
  const { busy, said, last_action } = found;
  if (given.json) return printJson(context, { ...agentSessionJson(profile, session, busy), last_action, said });
  printBeside(context, 'session  ', visible(session));
  printBeside(context, 'turn     ', busy === null ? 'none' : visible(holderText(busy)));
  printBeside(context, 'waiting  ', String(busy?.waiting ?? 0));
  if (last_action !== null) printBeside(context, 'last     ', describeAction(last_action));
  printLine(context);
  for (const turn of said.flatMap(turnsIn)) printTurn(context, turn);
}

function printTurn(context: CliContext, { at, role, content }: Turn): void {
  printLine(context, `${visible(at)}  ${visible(role)}`);
  for (const line of content.split('\n')) printLine(context, `  ${visible(line)}`);
}

/** `hookwright session reset`: later runs of an agent session do not see the earlier turns. */
export const sessionResetCommand = command({
  options: { ...ofProfile, by: byOption },
  args: { session: argument('session id') },
  async run(context, given) {
    const of = { profile: sessionProfile(context, given.profile), session: given.session };
    const known = await useStore(context, (store) => resetSession(store, of, context.clock.now(), personAt(context)));
    if (known !== true) {
      throw new CliError(
        `session "${given.session}" has no messages and no pending runs`,
        'list busy sessions with: hookwright session list',
      );
    }
    await rm(conversationFolder(profileHome(context.home, of.profile), of.session), { recursive: true, force: true });
    printLine(context, `session ${visible(given.session)} reset`);
  },
});

interface ChatArguments {
  readonly target: string;
  readonly chatId: string;
  readonly profile: string | undefined;
}

/** @throws CliError if there is no such target or profile */
export async function openChat(context: CliContext, { target, chatId, profile }: ChatArguments): Promise<Chat> {
  if (chatId === '') throw new CliError('the chat id is empty');
  const owner = sessionProfile(context, profile);
  const names = await targetNames(context);
  return { profile: owner, target: findTarget(names, target), chatId };
}

/** @throws CliError if there is no such profile */
export function sessionProfile(context: CliContext, profile: string = DEFAULT_PROFILE): string {
  const home = profileHome(context.home, profile);
  if (profile !== DEFAULT_PROFILE && !(PROFILE_NAME.test(profile) && existsSync(home))) {
    throw new CliError(`there is no profile "${profile}"`, `missing folder: ${home}`);
  }
  return profile;
}

/** The targets of the configuration, or the shipped ones if it has errors. */
async function targetNames(context: CliContext): Promise<Readonly<Record<string, string>>> {
  // Loaded on demand, because it loads the compiler, which `session list` does not need.
  const { tryOpenTable } = await import('./subscriptions/routes.ts');
  const open = await tryOpenTable(context, context.configs);
  if (open !== null) return open.table.target_names;
  return lowerTargetNames((await context.catalog()).targets).plan ?? {};
}

/**
 * Null if the database has no tables and none may be created.
 * @throws CliError if the configuration or the database cannot be used
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

/** `session, 5 min`; empty if a run only waits for its time. @param now Unix ms */
export const waitText = ({ waits_for, waits_since }: DispatchSummary, now: number): string =>
  waits_for === null ? '' : `${waits_for}${waits_since === null ? '' : `, ${formatDuration(now - waits_since)}`}`;

/** The current run: `<id> running`. */
export const holderText = ({ run: { id, state, waits_for } }: BusySession): string =>
  `${id} ${waits_for === null ? state : `waits for ${waits_for}`}`;

/** An agent session for `--json`. @param busy null without pending and current runs */
export function agentSessionJson(profile: string, id: string, busy: BusySession | null): object {
  const { ref, session, turn, ready_at, ...run } = busy?.run ?? {};
  return { kind: 'agent', id, name: id, profile, run: busy === null ? null : run, waiting: busy?.waiting ?? 0 };
}

/** A turn as two turns of a chat session. */
export const turnsIn = ({ accepted_at, answered_at, prompt, answer }: SaidTurn) => [
  { role: 'user', content: prompt, at: new Date(accepted_at).toISOString() },
  { role: 'assistant', content: answer, at: new Date(answered_at).toISOString() },
];
