/** `hookwright session show`: the turns of a chat's session. */
import { CliError } from '../../base/errors.ts';
import { argument, command, text } from '../../command-line/command.ts';
import { jsonOption } from '../../command-line/options.ts';
import { printJson, printLine, visible } from '../../output/print.ts';
import { openChat, useSessions } from '../../sessions/open-chat.ts';

export default command({
  summary: "Show the turns of a chat's session",
  examples: [
    ['Read it', '$0 session show telegram -1001234'],
    ['As it is stored', '$0 session show telegram -1001234 --json'],
  ],
  options: { profile: text('profile', 'Whose session; default: `default`'), json: jsonOption },
  args: { target: argument('target'), chatId: argument('chat id') },
  async run(context, given) {
    const chat = await openChat(context, given);
    const turns = await useSessions(context, (sessions) => sessions.read(chat));
    if (turns === null) {
      const make = `make one: hookwright session open ${given.target} ${given.chatId}`;
      throw new CliError(`the chat ${given.chatId} of ${given.target} has no session`, make);
    }
    if (given.json) printJson(context, turns);
    else {
      for (const { at, role, content } of turns) {
        printLine(context, `${visible(at)}  ${visible(role)}`);
        for (const line of content.split('\n')) printLine(context, `  ${visible(line)}`);
      }
    }
  },
});
