/** `hookwright session open`: gives a chat a session, so that deliveries are mirrored into it. */
import { Command, Option } from 'clipanion';
import type { CliContext } from '../../base/context.ts';
import { printLine, printNote, visible } from '../../output/print.ts';
import { openChat } from '../../sessions/open-chat.ts';
import { useSessions } from '../../sessions/use-sessions.ts';

export class SessionOpenCommand extends Command<CliContext> {
  static override paths = [['session', 'open']];
  static override usage = Command.Usage({
    description: 'Give a chat a session, into which deliveries can be mirrored',
    details:
      'Routes with `mirror_to_session` append what they deliver to the session of the chat, one JSON object per line. A chat without a session is passed over. Prints the path of the file, or the chat id where the store is a database; a session that exists is left as it is.',
    examples: [
      ['The session of a group', '$0 session open telegram -1001234'],
      ['In a profile', '$0 session open slack C0123 --profile work'],
    ],
  });

  target = Option.String({ name: 'target' });
  chatId = Option.String({ name: 'chat id' });
  profile = Option.String('--profile', { description: '<profile> Whose session; default: `default`' });

  async execute(): Promise<number> {
    const chat = await openChat(this.context, this);
    const opened = await useSessions(this.context, (sessions) => sessions.open(chat), { create: true });
    printLine(this.context, opened?.path ?? visible(chat.chatId));
    if (opened?.created === false) printNote(this.context, 'the session was there already');
    return 0;
  }
}
