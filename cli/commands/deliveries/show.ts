/** `hookwright deliveries show <id>`: one dispatch with every state and attempt. */
import { Command, Option } from 'clipanion';
import { targetLabel } from '../../../base/label.ts';
import type { StoredDispatch } from '../../../runtime/store/queries.ts';
import type { CliContext } from '../../base/context.ts';
import { configOption } from '../../command-line/options.ts';
import { printJson, printLine, terminalWidth, visible } from '../../output/print.ts';
import type { Moment } from '../../output/timeline.ts';
import { timeline } from '../../output/timeline.ts';
import { wrapBeside } from '../../output/wrap-words.ts';
import { findDispatch, unknownDispatch } from '../../store/find-dispatch.ts';
import { useStore } from '../../store/use-store.ts';

export class DeliveriesShowCommand extends Command<CliContext> {
  static override paths = [['deliveries', 'show']];
  static override usage = Command.Usage({
    description: 'Show one delivery: every state and attempt, and how it ended',
    examples: [
      ['Its timeline', '$0 deliveries show 0mb3k9x2c00a7f01c3b9d2e4'],
      ['With prompt and answer', '$0 deliveries show 0mb3k9x2c00a7f01c3b9d2e4 --full'],
    ],
  });

  id = Option.String({ name: 'id' });
  config = configOption();
  full = Option.Boolean('--full', false, { description: 'Also print the prompt and the answer' });
  json = Option.Boolean('--json', false, { description: 'Print everything as one object' });

  async execute(): Promise<number> {
    const stored = await useStore(this.context, (store) => findDispatch(store, this.id));
    if (stored === null) throw unknownDispatch(this.id);
    const { ref, ...rest } = stored;
    if (this.json) printJson(this.context, { ...rest, timeline: timeline(stored) });
    else this.print(stored);
    return 0;
  }

  private print(stored: StoredDispatch): void {
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
    for (const [name, value] of facts) if (value !== null) this.printWrapped(name.padEnd(12), visible(value));
    printLine(this.context);
    for (const moment of timeline(stored)) this.printWrapped(`${formatTime(moment.at)}  `, formatMoment(moment));
    if (!this.full) return;
    for (const [title, text] of [
      ['prompt', dispatch.prompt],
      ['answer', stored.answer],
    ] as const) {
      // A text of strangers: line breaks are kept, whatever could drive the terminal is made visible.
      const lines = text === null ? [] : text.split('\n').map(visible);
      if (text !== null) printLine(this.context, `\n${title}:\n${lines.join('\n')}`);
    }
  }

  private printWrapped(label: string, text: string): void {
    for (const line of wrapBeside(label, text, terminalWidth(this.context))) printLine(this.context, line);
  }
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
