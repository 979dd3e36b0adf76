/** `hookwright deliveries show <id>`: one dispatch with every state and attempt. */
import { targetLabel } from '../../../base/label.ts';
import type { StoredDispatch } from '../../../runtime/store/queries.ts';
import type { CliContext } from '../../base/context.ts';
import type { GivenBy } from '../../command-line/command.ts';
import { argument, command, flag } from '../../command-line/command.ts';
import { configOption } from '../../command-line/options.ts';
import { printJson, printLine, terminalWidth, visible } from '../../output/print.ts';
import type { Moment } from '../../output/timeline.ts';
import { timeline } from '../../output/timeline.ts';
import { wrapBeside } from '../../output/wrap-words.ts';
import { findDispatch, unknownDispatch } from '../../store/find-dispatch.ts';
import { useStore } from '../../store/use-store.ts';

const options = {
  config: configOption,
  full: flag('Also print the prompt and the answer'),
  json: flag('Print everything as one object'),
};

type Given = GivenBy<typeof options>;

export default command({
  summary: 'Show one delivery: every state and attempt, and how it ended',
  examples: [
    ['Its timeline', '$0 deliveries show 0mb3k9x2c00a7f01c3b9d2e4'],
    ['With prompt and answer', '$0 deliveries show 0mb3k9x2c00a7f01c3b9d2e4 --full'],
  ],
  options,
  args: { id: argument('id') },
  async run(context, given) {
    const stored = await useStore(context, (store) => findDispatch(store, given.id));
    if (stored === null) throw unknownDispatch(given.id);
    const { ref, ...rest } = stored;
    if (given.json) printJson(context, { ...rest, timeline: timeline(stored) });
    else print(context, given, stored);
  },
});

function print(context: CliContext, given: Given, stored: StoredDispatch): void {
  const { dispatch } = stored;
  const facts: readonly (readonly [string, string | null])[] = [
    ['id', stored.id],
    ['state', stored.reason === null ? stored.state : `${stored.state}: ${stored.reason}`],
    ['profile', stored.profile],
    stored.route === null ? ['job', stored.job] : ['route', stored.route],
    ['event', stored.event],
    ['delivery id', stored.delivery_id],
    ['session', dispatch.session],
    ['targets', dispatch.deliveries.map(targetLabel).join(', ')],
    ['superseded', dispatch.superseded === 0 ? null : String(dispatch.superseded)],
    ['replay of', stored.replay_of],
  ];
  for (const [name, value] of facts) if (value !== null) printWrapped(context, name.padEnd(12), visible(value));
  printLine(context);
  for (const moment of timeline(stored)) printWrapped(context, `${formatTime(moment.at)}  `, formatMoment(moment));
  if (!given.full) return;
  for (const [title, text] of [
    ['prompt', dispatch.prompt],
    ['answer', stored.answer],
  ] as const) {
    // A text of strangers: line breaks are kept, whatever could drive the terminal is made visible.
    const lines = text === null ? [] : text.split('\n').map(visible);
    if (text !== null) printLine(context, `\n${title}:\n${lines.join('\n')}`);
  }
}

function printWrapped(context: CliContext, label: string, text: string): void {
  for (const line of wrapBeside(label, text, terminalWidth(context))) printLine(context, line);
}

const formatTime = (ms: number): string => new Date(ms).toISOString().replace('T', ' ');

function formatMoment({ at, what, target, outcome, reason, next_at }: Moment): string {
  const parts = [
    `${what}${target === null ? '' : ` (${target})`}`,
    ...(reason === null ? [] : [`${outcome === null || outcome === 'ok' ? '' : `${outcome}: `}${visible(reason)}`]),
    ...(next_at === null ? [] : [`next in ${Math.round((next_at - at) / 100) / 10} s`]),
  ];
  return parts.join('  ');
}
