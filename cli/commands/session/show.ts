/** `hookwright session show`: the turns of a session, of a chat or of an agent's runs. */

import type { Turn } from '../../../runtime/store/sessions.ts';
import type { CliContext } from '../../base/context.ts';
import { CliError } from '../../base/errors.ts';
import type { GivenBy } from '../../command-line/command.ts';
import { argument, command, optionalArgument, text } from '../../command-line/command.ts';
import { configOption, jsonOption } from '../../command-line/options.ts';
import { printBeside, printJson, printLine, visible } from '../../output/print.ts';
import { agentSessionJson, holderText, turnsOf } from '../../sessions/agent-sessions.ts';
import { openChat, sessionProfile, useSessions } from '../../sessions/open-chat.ts';
import { useStore } from '../../store/use-store.ts';

const options = {
  profile: text('profile', 'Whose session; default: `default`'),
  config: configOption,
  json: jsonOption,
};

/** Most turns of an agent's session that are shown. */
const SHOWN = 20;

export default command({
  summary: 'Show the turns of a session: of a chat, or of an agent whose runs take turns',
  details: `Of an agent's session: which run has the turn, how many wait, and the latest ${SHOWN} prompts with their answers.`,
  examples: [
    ['Of a chat', '$0 session show telegram -1001234'],
    ['As it is stored', '$0 session show telegram -1001234 --json'],
    ['Of an agent', '$0 session show webhook:review:acme/shop%2342'],
  ],
  options,
  args: { target: argument('target or session id'), chatId: optionalArgument('chat id') },
  run: async (context, { chatId, ...given }) =>
    chatId === undefined ? showAgent(context, given, given.target) : showChat(context, { ...given, chatId }),
});

type Given = GivenBy<typeof options>;

async function showChat(
  context: CliContext,
  given: Given & { readonly target: string; readonly chatId: string },
): Promise<void> {
  const chat = await openChat(context, given);
  const turns = await useSessions(context, (sessions) => sessions.read(chat));
  if (turns === null) {
    const make = `make one: hookwright session open ${given.target} ${given.chatId}`;
    throw new CliError(`the chat ${given.chatId} of ${given.target} has no session`, make);
  }
  if (given.json) printJson(context, turns);
  else for (const turn of turns) printTurn(context, turn);
}

async function showAgent(context: CliContext, given: Given, session: string): Promise<void> {
  const profile = sessionProfile(context, given.profile);
  const of = { profile, session };
  const found = await useStore(context, async (store) => ({
    busy: (await store.read({ kind: 'sessions', profile })).find((one) => one.session === session) ?? null,
    said: await store.read({ kind: 'said', of, turns: SHOWN, chars: Number.MAX_SAFE_INTEGER }),
  }));
  if (found === null || (found.busy === null && found.said.length === 0)) {
    throw new CliError(
      `nothing was said in a session "${session}", and no run waits there`,
      'hookwright session list shows the busy ones; that of a chat needs its target and its id',
    );
  }
  const { busy, said } = found;
  if (given.json) return printJson(context, { ...agentSessionJson(profile, session, busy), said });
  printBeside(context, 'session  ', visible(session));
  printBeside(context, 'turn     ', busy === null ? 'nobody' : visible(holderText(busy)));
  printBeside(context, 'waiting  ', String(busy?.waiting ?? 0));
  printLine(context);
  for (const turn of said.flatMap(turnsOf)) printTurn(context, turn);
}

function printTurn(context: CliContext, { at, role, content }: Turn): void {
  printLine(context, `${visible(at)}  ${visible(role)}`);
  for (const line of content.split('\n')) printLine(context, `  ${visible(line)}`);
}
