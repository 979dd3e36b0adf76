/** `hookwright deliveries replay`: sends dispatches again, or runs them again, named or chosen by their state. */
import { createIds } from '../../../runtime/platform/ids.ts';
import type { MutationResults } from '../../../runtime/store/mutations.ts';
import type { DispatchSummary, StoredDispatch } from '../../../runtime/store/queries.ts';
import { DELIVERED, replay, whyNotReplay } from '../../../runtime/store/replay.ts';
import type { Store } from '../../../runtime/store/store.ts';
import type { CliContext } from '../../base/context.ts';
import { CliError, UsageError } from '../../base/errors.ts';
import type { GivenBy } from '../../command-line/command.ts';
import { command, flag, parsed, restArguments, text } from '../../command-line/command.ts';
import {
  arrayOption,
  configOption,
  jobFilterOption,
  routeFilterOption,
  sinceOption,
} from '../../command-line/options.ts';
import type { Filter } from '../../deliveries/filter.ts';
import { parseDeliveryFilter, parseLimit } from '../../deliveries/filter.ts';
import { namedFilter } from '../../deliveries/named-filter.ts';
import { printJson, printLine, printNote } from '../../output/print.ts';
import { createProgress } from '../../output/progress.ts';
import { findDispatch, useStore } from '../../store/use-store.ts';

interface Replayed {
  readonly id: string;
  /** Null: the row itself goes on. */
  readonly replay_of: string | null;
}

interface Outcome {
  readonly done: readonly Replayed[];
  /** A line for each that was left out. */
  readonly refused: readonly string[];
}

/** Repeats stored in one transaction. */
const BATCH = 100;

const options = {
  state: text('name', 'All in this state: done, dead or skipped'),
  route: routeFilterOption,
  job: jobFilterOption,
  since: sinceOption,
  limit: parsed('count', 'At most this many, the newest', parseLimit),
  rerun: flag('Run the agent again even where its answer is stored'),
  again: flag('Send the stored text to all targets, also to those that have got it'),
  dryRun: flag('Print which ones, and repeat nothing'),
  config: configOption,
  json: arrayOption,
};
const args = { ids: restArguments('id') };

type Given = GivenBy<typeof options> & GivenBy<typeof args>;

export default command({
  summary: 'Send deliveries that were given up once more, or run them again',
  details:
    'A message or an answer goes on under its id, to the targets that have not got it; its delivery id is claimed. Everything else\nruns again, as a new delivery that names the old. A running gateway begins at once; without one they wait for the next start.',
  examples: [
    ['Repeat one', '$0 deliveries replay 0mb3k9x2c00a7f01c3b9d2e4'],
    ['Repeat what was given up since yesterday', '$0 deliveries replay --state dead --since 24h'],
    ['Send one to all its targets, although it is done', '$0 deliveries replay 0mb3k9x2c00a7f01c3b9d2e4 --again'],
    ['Only see what that would be', '$0 deliveries replay --state dead --since 24h --dry-run'],
  ],
  options,
  args,
  async run(context, given) {
    if ((given.ids.length === 0) === (given.state === undefined)) {
      throw new UsageError('name deliveries by id, or all of one state with --state');
    }
    const filter = await namedFilter(context, parseDeliveryFilter(given, context.clock.now()), given.config);
    const limit = given.limit ?? Number.MAX_SAFE_INTEGER;
    if (given.rerun && given.again) throw new UsageError('--again sends the stored text, --rerun makes a new one');
    const outcome = await useStore(context, async (store) => {
      const ids = given.ids.length > 0 ? await named(given, store) : await chosen(store, filter, limit);
      return repeat(context, given, store, ids);
    });
    if (outcome === null) throw new CliError('nothing has been stored in this home yet');
    report(context, given, outcome);
    return outcome.refused.length === 0 ? 0 : 1;
  },
});

/** All or none: a mistyped id must not leave half of them repeated. */
async function named(given: Given, store: Store): Promise<readonly string[]> {
  const found = await Promise.all(given.ids.map((id) => findDispatch(store, id)));
  for (const stored of found) {
    const why = whyNotReplay(stored, given.again);
    if (why !== null) throw new CliError(`${stored.id} cannot be repeated: ${why}`);
  }
  return [...new Set(found.map(({ id }) => id))];
}

async function repeat(context: CliContext, given: Given, store: Store, ids: readonly string[]): Promise<Outcome> {
  const { clock, random } = context;
  const create = createIds(random);
  const progress = createProgress(context, ids.length, 'repeated');
  const done: Replayed[] = [];
  const refused: string[] = [];
  const one = async (stored: StoredDispatch): Promise<void> => {
    const id = create.dispatch(clock.now());
    const why = whyNotReplay(stored, given.again);
    const change = replay(stored, { id, now: clock.now(), ...given });
    const isNew = change.kind === 'accept';
    const result = why !== null || given.dryRun ? null : await store.write(change);
    const reason = why ?? (result === null || result.kind === 'stored' ? null : await explain(store, result));
    if (reason === null) done.push(isNew ? { id, replay_of: stored.id } : { id: stored.id, replay_of: null });
    else refused.push(`${stored.id} is not repeated: ${reason}`);
  };
  try {
    for (let start = 0; start < ids.length; start += BATCH) {
      const named = ids.slice(start, start + BATCH);
      const batch = await Promise.all(named.map((id) => store.read({ kind: 'find', id })));
      // One that has meanwhile been removed is left out.
      await Promise.all(batch.flatMap((found) => (found.kind === 'found' ? one(found.dispatch) : [])));
      progress.update(start + batch.length);
    }
  } finally {
    progress.end();
  }
  return { done, refused };
}

type Refused = Exclude<MutationResults['accept'] | MutationResults['resend'], { readonly kind: 'stored' }>;

async function explain(store: Store, result: Refused): Promise<string> {
  if (result.kind === 'done') return DELIVERED;
  if (result.kind !== 'superseded') return 'it has been resumed or removed meanwhile';
  const by = await store.read({ kind: 'load', ref: result.by });
  return `the event went on as ${by?.id ?? 'another delivery'}`;
}

function report(context: CliContext, given: Given, { done, refused }: Outcome): void {
  for (const line of refused) printNote(context, line);
  if (given.json) {
    printJson(context, given.dryRun ? done.map(({ id, replay_of }) => ({ replay_of: replay_of ?? id })) : done);
    return;
  }
  for (const { id, replay_of } of done) {
    const isNew = replay_of !== null && !given.dryRun;
    printLine(context, isNew ? `${replay_of} -> ${id}` : (replay_of ?? id));
  }
  const count = `${done.length} ${done.length === 1 ? 'delivery' : 'deliveries'}`;
  printNote(context, given.dryRun ? `${count} would be repeated` : `${count} repeated`);
}

async function chosen(store: Store, filter: Filter, limit: number): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let before: number | undefined; ids.length < limit; ) {
    const slice = { ...(before === undefined ? {} : { before }), limit: Math.min(1000, limit - ids.length) };
    const page: readonly DispatchSummary[] = await store.read({ kind: 'list', filter: { ...filter, ...slice } });
    ids.push(...page.map(({ id }) => id));
    before = page.at(-1)?.ref;
    if (before === undefined) break;
  }
  return ids;
}
