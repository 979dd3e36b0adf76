/** `hookwright session list`: the sessions of a profile. */
import { Command, Option } from 'clipanion';
import type { SessionSummary } from '../../../runtime/store/sessions.ts';
import type { CliContext } from '../../base/context.ts';
import { knownName } from '../../blueprints/named-targets.ts';
import { jsonOption } from '../../command-line/options.ts';
import { printJson, printNote, visible } from '../../output/print.ts';
import { printTable } from '../../output/table.ts';
import { sessionProfile } from '../../sessions/open-chat.ts';
import { useSessions } from '../../sessions/use-sessions.ts';

export class SessionListCommand extends Command<CliContext> {
  static override paths = [['session', 'list']];
  static override usage = Command.Usage({
    description: 'List the sessions of a profile',
    examples: [
      ['List them', '$0 session list'],
      ['For scripts', '$0 session list --profile work --json'],
    ],
  });

  profile = Option.String('--profile', { description: '<profile> Whose sessions; default: `default`' });
  json = jsonOption();

  async execute(): Promise<number> {
    const profile = sessionProfile(this.context, this.profile);
    const stored = (await useSessions(this.context, (all) => all.list(profile))) ?? [];
    const { targets } = await this.context.catalog();
    const sessions = stored.map((session) => ({ ...session, target: knownName(session.target, targets) }));
    if (this.json) {
      printJson(
        this.context,
        sessions.map((session) => ({ id: session.chat_id, name: `${session.target} ${session.chat_id}`, ...session })),
      );
      return 0;
    }
    const columns = [
      { title: 'TARGET', value: (session: SessionSummary) => session.target, whole: true as const },
      { title: 'CHAT', value: (session: SessionSummary) => session.chat_id, whole: true as const },
      { title: 'TURNS', value: (session: SessionSummary) => session.turns ?? '-', align: 'right' as const },
      { title: 'CHANGED', value: (session: SessionSummary) => session.changed_at },
    ];
    for (const { target, chat_id, problem } of sessions) {
      if (problem !== null) printNote(this.context, `${visible(`${target} ${chat_id}`)}: ${visible(problem)}`);
    }
    printTable(this.context, sessions, columns, 'no chat has a session; make one: hookwright session open');
    return 0;
  }
}
