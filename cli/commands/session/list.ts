/** `hookwright session list`: the sessions of a profile: of its chats, and those in which runs take turns. */

import { knownName } from '../../../compiler/text/common-name.ts';
import type { BusySession } from '../../../runtime/store/queries.ts';
import type { SessionSummary } from '../../../runtime/store/sessions.ts';
import { command, text } from '../../command-line/command.ts';
import { configOption, jsonOption } from '../../command-line/options.ts';
import { printNote, visible } from '../../output/print.ts';
import { printList } from '../../output/table.ts';
import { agentSessionJson, holderText } from '../../sessions/agent-sessions.ts';
import { sessionProfile, useSessions } from '../../sessions/open-chat.ts';
import { useStore } from '../../store/use-store.ts';

type Listed = { readonly chat: SessionSummary } | { readonly busy: BusySession };

export default command({
  summary: 'List the sessions of a profile: of chats, and of agents whose runs take turns',
  details:
    'A session of an agent (`session_key`) is listed while one of its runs waits or is under way; `session show <id>` shows earlier ones too.',
  examples: [
    ['List them', '$0 session list'],
    ['For scripts', '$0 session list --profile work --json'],
  ],
  options: { profile: text('profile', 'Whose sessions; default: `default`'), config: configOption, json: jsonOption },
  async run(context, given) {
    const profile = sessionProfile(context, given.profile);
    const stored = (await useSessions(context, (all) => all.list(profile))) ?? [];
    const busy = (await useStore(context, (store) => store.read({ kind: 'sessions', profile }))) ?? [];
    const { targets } = await context.catalog();
    const chats = stored.map((chat) => ({ ...chat, target: knownName(chat.target, targets) }));
    for (const { target, chat_id, problem } of given.json ? [] : chats) {
      if (problem !== null) printNote(context, `${visible(`${target} ${chat_id}`)}: ${visible(problem)}`);
    }
    const rows: readonly Listed[] = [...chats.map((chat) => ({ chat })), ...busy.map((session) => ({ busy: session }))];
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
      empty: 'no chat has a session, and no runs take turns; make one for a chat: hookwright session open',
    });
  },
});
