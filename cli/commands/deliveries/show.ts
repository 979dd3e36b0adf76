/** `hookwright deliveries show <id>`: one dispatch with every state and attempt. */
import type { StoredDispatch } from '../../../runtime/store/queries.ts';
import { runFacts } from '../../../runtime/store/run-facts.ts';
import type { Moment } from '../../../runtime/store/timeline.ts';
import { deliveryLabel, timeline, withLabels } from '../../../runtime/store/timeline.ts';
import type { Usage } from '../../../runtime/store/usage.ts';
import type { CliContext } from '../../base/context.ts';
import type { GivenBy } from '../../command-line/command.ts';
import { argument, command, flag } from '../../command-line/command.ts';
import { configOption } from '../../command-line/options.ts';
import { printBeside, printJson, printLine, visible } from '../../output/print.ts';
import { formatRunTime } from '../../output/time.ts';
import { waitText } from '../../sessions/agent-sessions.ts';
import { findDispatch, unknownDispatch, useStore } from '../../store/use-store.ts';

const options = {
  config: configOption,
  full: flag('Also print the prompt and the answer'),
  json: flag('Print everything as one object'),
};

type Given = GivenBy<typeof options>;

export default command({
  summary: 'Show one delivery: every state and attempt, how it ended, and what its agent wrote to stderr',
  examples: [
    ['Its timeline', '$0 deliveries show 0mb3k9x2c00a7f01c3b9d2e4'],
    ['With prompt and answer', '$0 deliveries show 0mb3k9x2c00a7f01c3b9d2e4 --full'],
  ],
  options,
  args: { id: argument('id') },
  async run(context, given) {
    const stored = await useStore(context, (store) => findDispatch(store, given.id));
    if (stored === null) throw unknownDispatch(given.id);
    const { ref, ready_at, ...rest } = stored;
    const { program, ...shown } = rest;
    if (given.json)
      printJson(context, {
        ...shown,
        dispatch: withLabels(shown.dispatch),
        ...runFacts(stored),
        timeline: timeline(stored),
      });
    else print(context, given, stored);
  },
});

function print(context: CliContext, given: Given, stored: StoredDispatch): void {
  const { dispatch } = stored;
  const run = runFacts(stored);
  const facts: readonly (readonly [string, string | null])[] = [
    ['id', stored.id],
    ['state', stored.reason === null ? stored.state : `${stored.state}: ${stored.reason}`],
    ['profile', stored.profile],
    stored.route === null ? ['job', stored.job] : ['route', stored.route],
    ['event', stored.event],
    ['delivery id', stored.delivery_id],
    ['agent', stored.agent],
    ['session', stored.session],
    ['turn', stored.turn === null ? null : String(stored.turn)],
    ['waits for', stored.waits_for === null ? null : waitText(stored, context.clock.now())],
    ['targets', dispatch.deliveries.map(deliveryLabel).join(', ')],
    ['dropped', droppedText(dispatch)],
    ['superseded', dispatch.superseded === 0 ? null : String(dispatch.superseded)],
    ['replay of', stored.replay_of],
    ['attempts', run.attempts === 0 ? null : String(run.attempts)],
    ['duration', run.duration_ms === null ? null : formatRunTime(run.duration_ms)],
    ['exit code', run.exit_code === null ? null : String(run.exit_code)],
    ['signal', run.signal],
    ['denied', run.denied.length === 0 ? null : run.denied.join(', ')],
    ['usage', stored.usage === null ? null : formatUsage(stored.usage)],
  ];
  for (const [name, value] of facts) if (value !== null) printBeside(context, name.padEnd(12), visible(value));
  printLine(context);
  for (const moment of timeline(stored)) printBeside(context, `${formatTime(moment.at)}  `, formatMoment(moment));
  for (const [title, text] of [
    ['stderr', run.stderr === '' ? null : run.stderr.trimEnd()],
    ['prompt', given.full ? dispatch.prompt : null],
    ['answer', given.full ? stored.answer : null],
  ] as const) {
    // A text of strangers: line breaks are kept, whatever could drive the terminal is made visible.
    const lines = text === null ? [] : text.split('\n').map(visible);
    if (text !== null) printLine(context, `\n${title}:\n${lines.join('\n')}`);
  }
}

function formatUsage({ input_tokens, output_tokens, cost }: Usage): string {
  const parts = [
    [input_tokens, 'input tokens'],
    [output_tokens, 'output tokens'],
    [cost, 'cost'],
  ] as const;
  return parts.flatMap(([value, what]) => (value === null ? [] : [`${value} ${what}`])).join(', ');
}

/** What the agent handed over and was not taken. */
function droppedText({ dropped = [] }: StoredDispatch['dispatch']): string | null {
  const lines = dropped.map(({ output, reason, detail }) => `${output ?? 'a line'}: ${reason} (${detail})`);
  return lines.length === 0 ? null : `${lines.length} output${lines.length === 1 ? '' : 's'}: ${lines.join('; ')}`;
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
