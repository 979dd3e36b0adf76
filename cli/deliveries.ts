/** `hookwright deliveries`: lists, shows and retries accepted events. */

import type { Store } from '../runtime/store/contract.ts';
import type { StoredDispatch } from '../runtime/store/queries.ts';
import type { Moment, ShownOutput } from '../runtime/store/timeline.ts';
import {
  deliveryLabel,
  runFacts,
  shownOutputs,
  timeline,
  whyNotReplay,
  withLabels,
} from '../runtime/store/timeline.ts';
import type { Usage } from '../runtime/store/usage.ts';
import { tokensOf } from '../runtime/store/usage.ts';
import type { ReplayedDeliveries } from '../schemas/built/operations/types.ts';
import type { CliContext } from './base/context.ts';
import { CliError, UsageError } from './base/errors.ts';
import type { ValuesOf } from './command-line/command.ts';
import { argument, command, flag, parsed, restArguments, text, withDefault } from './command-line/command.ts';
import { arrayOption, byOption, configOption, routeFilterOption } from './command-line/options.ts';
import {
  chooseDeliveries,
  jobText,
  ownerText,
  parseDeliveryFilter,
  parseLimit,
  storeReplays,
} from './deliveries/filter.ts';
import { namedFilter } from './deliveries/named-filter.ts';
import { printBeside, printJson, printLine, printNote, visible } from './output/print.ts';
import { createProgress } from './output/prompter.ts';
import { formatDuration, formatRunTime, printList } from './output/table.ts';
import { waitText } from './session.ts';
import { findDispatch, unknownDispatch, useStore } from './store/use-store.ts';

const jobFilterOption = text('id', 'Only runs of this job');

const sinceOption = text('time', 'Only events accepted since then: 30min, 12h or 7d ago, or a date');

/** `hookwright deliveries list`: accepted events and their states, newest first. */
export const deliveriesListCommand = command({
  options: {
    state: text('name', 'Only this state'),
    route: routeFilterOption,
    job: jobFilterOption,
    since: sinceOption,
    all: flag('Also list messages of the gateway itself: alerts, requests for approval'),
    limit: withDefault('50', parsed('count', 'List at most this many (default 50)', parseLimit)),
    config: configOption,
    json: arrayOption,
  },
  async run(context, given) {
    const now = context.clock.now();
    const named = await namedFilter(context, parseDeliveryFilter(given, now), given.config);
    const filter = { ...named, limit: given.limit, ...(given.all ? {} : { hide_own: true as const }) };
    const rows = (await useStore(context, (store) => store.read({ kind: 'list', filter }))) ?? [];
    printList(context, rows, {
      json: given.json,
      // Internal fields are not printed.
      toJson: ({ ref, ready_at, ...rest }) => rest,
      columns: [
        { title: 'ID', value: ({ id }) => id, whole: true },
        { title: 'ROUTE', value: ownerText, whole: true },
        { title: 'EVENT', value: ({ event }) => event, whole: true },
        { title: 'STATE', value: ({ state }) => state },
        { title: 'DURATION', value: ({ duration_ms }) => formatRunTime(duration_ms), align: 'right' },
        { title: 'AGE', value: ({ accepted_at }) => formatDuration(now - accepted_at), align: 'right' },
        { title: 'DELIVERY ID', value: ({ delivery_id }) => delivery_id, whole: true },
        { title: 'AGENT', value: ({ agent }) => agent ?? '', whole: true },
        { title: 'SESSION', value: ({ session }) => session ?? '', whole: true },
        { title: 'TURN', value: ({ turn }) => turn ?? '', align: 'right' },
        { title: 'WAITS FOR', value: (row) => waitText(row, now) },
        { title: 'TOKENS', value: ({ usage }) => (usage === null ? '' : tokensOf(usage)), align: 'right' },
        { title: 'REASON', value: ({ reason }) => reason ?? '' },
      ],
      empty: 'no matching deliveries',
    });
  },
});

const showOptions = {
  config: configOption,
  full: flag('Also print prompt and answer'),
  json: flag('Print one JSON object'),
};

type ShowValues = ValuesOf<typeof showOptions>;

/** `hookwright deliveries show <id>`: one dispatch with all its states and attempts. */
export const deliveriesShowCommand = command({
  options: showOptions,
  args: { id: argument('id') },
  async run(context, given) {
    const stored = await useStore(context, (store) => findDispatch(store, given.id));
    if (stored === null) throw unknownDispatch(given.id);
    const { ref, ready_at, program, ...shown } = stored;
    if (given.json)
      printJson(context, {
        ...shown,
        dispatch: withLabels(shown.dispatch),
        ...runFacts(stored),
        outputs: shownOutputs(stored),
        timeline: timeline(stored),
      });
    else print(context, given, stored);
  },
});

function print(context: CliContext, given: ShowValues, stored: StoredDispatch): void {
  const { dispatch } = stored;
  const run = runFacts(stored);
  const facts: readonly (readonly [string, string | null])[] = [
    ['id', stored.id],
    ['state', stored.reason === null ? stored.state : `${stored.state}: ${stored.reason}`],
    ['profile', stored.profile],
    stored.route === null ? ['job', jobText(stored)] : ['route', stored.route],
    ['event', stored.event],
    ['delivery id', stored.delivery_id],
    ['agent', stored.agent],
    ['session', stored.session],
    ['turn', stored.turn === null ? null : String(stored.turn)],
    ['waits for', stored.waits_for === null ? null : waitText(stored, context.clock.now())],
    ['targets', dispatch.deliveries.map(deliveryLabel).join(', ')],
    ['posted', linksOf(stored)],
    ['dropped', droppedText(dispatch)],
    ['noop', dispatch.noop ?? null],
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
    ...shownOutputs(stored).map((output) => [outputTitle(output), outputText(output)] as const),
    ['stderr', run.stderr.trimEnd() || null],
    ['stdout', run.stdout.trimEnd() || null],
    ['prompt', given.full ? dispatch.prompt : null],
    ['answer', given.full ? stored.answer : null],
  ] as const) {
    // Untrusted text: line breaks are kept, and control characters are made visible.
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

const outputTitle = ({ name, target, address, delivered, reason, message_id }: ShownOutput): string => {
  const to = [target, ...Object.entries(address).map(([field, value]) => `${field}=${value}`)].join(' ');
  return visible(
    `output ${name} to ${to}, ${delivered ? (message_id ?? 'delivered') : ['not delivered', ...(reason === null ? [] : [reason])].join(': ')}`,
  );
};

const outputText = ({ content, text }: ShownOutput): string =>
  [...Object.entries(content).map(([field, value]) => `${field}: ${value}`), ...(text === '' ? [] : [text])].join('\n');

/** Links to what was posted. */
function linksOf({ steps }: StoredDispatch): string | null {
  const links = steps.flatMap(({ message_id }) => (message_id?.startsWith('https://') === true ? [message_id] : []));
  return links.length === 0 ? null : links.join(', ');
}

/** Outputs of the agent that were rejected. */
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

const replayOptions = {
  state: text('name', 'Replay deliveries in this state: done, dead or skipped'),
  route: routeFilterOption,
  job: jobFilterOption,
  since: sinceOption,
  limit: parsed('count', 'Replay at most this many, the newest ones', parseLimit),
  rerun: flag('Run the agent again even if its answer is stored'),
  again: flag('Send the stored text to all targets, including those that have received it'),
  dryRun: flag('Only print what would be replayed'),
  by: byOption,
  config: configOption,
  json: arrayOption,
};
const args = { ids: restArguments('id') };

type ReplayValues = ValuesOf<typeof replayOptions> & ValuesOf<typeof args>;

/** `hookwright deliveries replay`: sends or runs dispatches again, chosen by id or by state. */
export const deliveriesReplayCommand = command({
  options: replayOptions,
  args,
  async run(context, given) {
    if ((given.ids.length === 0) === (given.state === undefined)) {
      throw new UsageError('name deliveries by id, or choose a state with --state');
    }
    const filter = await namedFilter(context, parseDeliveryFilter(given, context.clock.now()), given.config);
    const limit = given.limit ?? Number.MAX_SAFE_INTEGER;
    if (given.rerun && given.again) throw new UsageError('--again sends the stored text: it excludes --rerun');
    const outcome = await useStore(context, async (store) => {
      const ids = given.ids.length > 0 ? await named(given, store) : await chooseDeliveries(store, filter, limit);
      const progress = createProgress(context, ids.length, 'repeated');
      const { clock, random } = context;
      const repeating = { clock, random, ...given, onProgress: progress.update };
      return storeReplays(store, ids, repeating).finally(progress.end);
    });
    if (outcome === null) throw new CliError('nothing has been stored in this home yet');
    report(context, given, outcome);
    return outcome.refused.length === 0 ? 0 : 1;
  },
});

/** All or none, so that a mistyped id does not leave half of them replayed. */
async function named(given: ReplayValues, store: Store): Promise<readonly string[]> {
  const dispatches = await Promise.all(given.ids.map((id) => findDispatch(store, id)));
  for (const stored of dispatches) {
    const why = whyNotReplay(stored, given.again);
    if (why !== null) throw new CliError(`${stored.id} cannot be replayed: ${why}`);
  }
  return [...new Set(dispatches.map(({ id }) => id))];
}

function report(context: CliContext, given: ReplayValues, { done, refused }: ReplayedDeliveries): void {
  for (const { id, reason } of refused) printNote(context, `${id} was not replayed: ${reason}`);
  if (given.json) {
    printJson(context, given.dryRun ? done.map(({ id, replay_of }) => ({ replay_of: replay_of ?? id })) : done);
    return;
  }
  for (const { id, replay_of } of done) {
    const isNew = replay_of !== null && !given.dryRun;
    printLine(context, isNew ? `${replay_of} -> ${id}` : (replay_of ?? id));
  }
  const count = `${done.length} ${done.length === 1 ? 'delivery' : 'deliveries'}`;
  printNote(context, given.dryRun ? `${count} would be replayed` : `${count} replayed`);
}
