/** `hookwright session list`: the sessions of a profile. */
import { knownName } from '../../blueprints/open-catalog.ts';
import { command, text } from '../../command-line/command.ts';
import { jsonOption } from '../../command-line/options.ts';
import { printNote, visible } from '../../output/print.ts';
import { printList } from '../../output/table.ts';
import { sessionProfile, useSessions } from '../../sessions/open-chat.ts';

export default command({
  summary: 'List the sessions of a profile',
  examples: [
    ['List them', '$0 session list'],
    ['For scripts', '$0 session list --profile work --json'],
  ],
  options: { profile: text('profile', 'Whose sessions; default: `default`'), json: jsonOption },
  async run(context, given) {
    const profile = sessionProfile(context, given.profile);
    const stored = (await useSessions(context, (all) => all.list(profile))) ?? [];
    const { targets } = await context.catalog();
    const sessions = stored.map((session) => ({ ...session, target: knownName(session.target, targets) }));
    for (const { target, chat_id, problem } of given.json ? [] : sessions) {
      if (problem !== null) printNote(context, `${visible(`${target} ${chat_id}`)}: ${visible(problem)}`);
    }
    printList(context, sessions, {
      json: given.json,
      toJson: (session) => ({ id: session.chat_id, name: `${session.target} ${session.chat_id}`, ...session }),
      columns: [
        { title: 'TARGET', value: ({ target }) => target, whole: true },
        { title: 'CHAT', value: ({ chat_id }) => chat_id, whole: true },
        { title: 'TURNS', value: ({ turns }) => turns ?? '-', align: 'right' },
        { title: 'CHANGED', value: ({ changed_at }) => changed_at },
      ],
      empty: 'no chat has a session; make one: hookwright session open',
    });
  },
});
