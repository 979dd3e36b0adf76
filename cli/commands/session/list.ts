/** `hookwright session list`: the sessions of a profile. */
import type { SessionSummary } from '../../../runtime/store/sessions.ts';
import { knownName } from '../../blueprints/open-catalog.ts';
import { command, text } from '../../command-line/command.ts';
import { jsonOption } from '../../command-line/options.ts';
import { printJson, printNote, visible } from '../../output/print.ts';
import { printTable } from '../../output/table.ts';
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
    if (given.json) {
      printJson(
        context,
        sessions.map((session) => ({ id: session.chat_id, name: `${session.target} ${session.chat_id}`, ...session })),
      );
      return;
    }
    const columns = [
      { title: 'TARGET', value: (session: SessionSummary) => session.target, whole: true as const },
      { title: 'CHAT', value: (session: SessionSummary) => session.chat_id, whole: true as const },
      { title: 'TURNS', value: (session: SessionSummary) => session.turns ?? '-', align: 'right' as const },
      { title: 'CHANGED', value: (session: SessionSummary) => session.changed_at },
    ];
    for (const { target, chat_id, problem } of sessions) {
      if (problem !== null) printNote(context, `${visible(`${target} ${chat_id}`)}: ${visible(problem)}`);
    }
    printTable(context, sessions, columns, 'no chat has a session; make one: hookwright session open');
  },
});
