/** `hookwright session open`: gives a chat a session, so that deliveries are mirrored into it. */
import { argument, command, text } from '../../command-line/command.ts';
import { configOption } from '../../command-line/options.ts';
import { printLine, printNote, visible } from '../../output/print.ts';
import { openChat, useSessions } from '../../sessions/open-chat.ts';

export default command({
  summary: 'Give a chat a session, into which deliveries can be mirrored',
  details:
    'Routes with `mirror_to_session` append what they deliver to the session of the chat, one JSON object per line. A chat without a session is passed over. Prints the path of the file, or the chat id where the store is a database; a session that exists is left as it is.',
  examples: [
    ['The session of a group', '$0 session open telegram -1001234'],
    ['In a profile', '$0 session open slack C0123 --profile work'],
  ],
  options: { profile: text('profile', 'Whose session; default: `default`'), config: configOption },
  args: { target: argument('target'), chatId: argument('chat id') },
  async run(context, given) {
    const chat = await openChat(context, given);
    const opened = await useSessions(context, (sessions) => sessions.open(chat), { create: true });
    printLine(context, opened?.path ?? visible(chat.chatId));
    if (opened?.created === false) printNote(context, 'the session was there already');
  },
});
