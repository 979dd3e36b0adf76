/** `hookwright session show`: the turns of a chat's session. */
import { Command, Option } from 'clipanion';
import type { CliContext } from '../../base/context.ts';
import { CliError } from '../../base/errors.ts';
import { jsonOption } from '../../command-line/options.ts';
import { printJson, printLine, visible } from '../../output/print.ts';
import { openChat } from '../../sessions/open-chat.ts';
import { useSessions } from '../../sessions/use-sessions.ts';

export class SessionShowCommand extends Command<CliContext> {
  static override paths = [['session', 'show']];
  static override usage = Command.Usage({
    description: "Show the turns of a chat's session",
    examples: [
      ['Read it', '$0 session show telegram -1001234'],
      ['As it is stored', '$0 session show telegram -1001234 --json'],
    ],
  });

  target = Option.String({ name: 'target' });
  chatId = Option.String({ name: 'chat id' });
  profile = Option.String('--profile', { description: '<profile> Whose session; default: `default`' });
  json = jsonOption();

  async execute(): Promise<number> {
    const chat = await openChat(this.context, this);
    const turns = await useSessions(this.context, (sessions) => sessions.read(chat));
    if (turns === null) {
      const make = `make one: hookwright session open ${this.target} ${this.chatId}`;
      throw new CliError(`the chat ${this.chatId} of ${this.target} has no session`, make);
    }
    if (this.json) printJson(this.context, turns);
    else {
      for (const { at, role, content } of turns) {
        printLine(this.context, `${visible(at)}  ${visible(role)}`);
        for (const line of content.split('\n')) printLine(this.context, `  ${visible(line)}`);
      }
    }
    return 0;
  }
}
