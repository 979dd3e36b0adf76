/** `hookwright deliveries replay`: repeats dispatches, named or chosen by their state. */
import { createIds } from '../../../runtime/platform/ids.ts';
import type { DispatchSummary, QueryResults, StoredDispatch } from '../../../runtime/store/queries.ts';
import { replay, whyNotReplay } from '../../../runtime/store/replay.ts';
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
import { printJson, printLine, printNote } from '../../output/print.ts';
import { createProgress } from '../../output/progress.ts';
import { findDispatch, useStore } from '../../store/use-store.ts';

interface Replayed {
  readonly id: string;
  readonly replay_of: string;
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
  dryRun: flag('Print which ones, and repeat nothing'),
  config: configOption,
  json: arrayOption,
};
const args = { ids: restArguments('id') };

type Given = GivenBy<typeof options> & GivenBy<typeof args>;

export default command({
  summary: 'Repeat deliveries: each becomes a new one that names the old',
  details:
    'An answer that could not be delivered is delivered again without a second run; everything else runs again.\nA running gateway begins with the new ones at once; without one they wait for the next start.',
  examples: [
    ['Repeat one', '$0 deliveries replay 0mb3k9x2c00a7f01c3b9d2e4'],
    ['Repeat what was given up since yesterday', '$0 deliveries replay --state dead --since 24h'],
    ['Only see what that would be', '$0 deliveries replay --state dead --since 24h --dry-run'],
  ],
  options,
  args,
  async run(context, given) {
    if ((given.ids.length === 0) === (given.state === undefined)) {
      throw new UsageError('name deliveries by id, or all of one state with --state');
    }
    const filter = parseDeliveryFilter(given, context.clock.now());
    const limit = given.limit ?? Number.MAX_SAFE_INTEGER;
    const done = await useStore(context, async (store) => {
      const ids = given.ids.length > 0 ? await named(given, store) : await chosen(store, filter, limit);
      return given.dryRun ? ids.map((id) => ({ id: '', replay_of: id })) : repeat(context, given, store, ids);
    });
    if (done === null) throw new CliError('nothing has been stored in this home yet');
    report(context, given, done);
    return 0;
  },
});

/** All or none: a mistyped id must not leave half of them repeated. */
async function named(given: Given, store: Store): Promise<readonly string[]> {
  const found = await Promise.all(given.ids.map((id) => findDispatch(store, id)));
  for (const stored of found) {
    const why = whyNotReplay(stored);
    if (why !== null) throw new CliError(`${stored.id} cannot be repeated: ${why}`);
  }
  return [...new Set(found.map(({ id }) => id))];
}

async function repeat(
  context: CliContext,
  given: Given,
  store: Store,
  ids: readonly string[],
): Promise<readonly Replayed[]> {
  const { clock, random } = context;
  const create = createIds(random);
  const progress = createProgress(context, ids.length, 'repeated');
  const done: Replayed[] = [];
  try {
    for (let start = 0; start < ids.length; start += BATCH) {
      const named = ids.slice(start, start + BATCH);
      const batch = await Promise.all(named.map((id) => store.read({ kind: 'find', id })));
      const writes = batch.flatMap(repeatable).map(async (stored) => {
        const id = create.dispatch(clock.now());
        await store.write(replay(stored, { id, now: clock.now(), rerun: given.rerun }));
        done.push({ id, replay_of: stored.id });
      });
      await Promise.all(writes);
      progress.update(start + batch.length);
    }
  } finally {
    progress.end();
  }
  return done;
}

function report(context: CliContext, given: Given, done: readonly Replayed[]): void {
  if (given.json) {
    printJson(context, given.dryRun ? done.map(({ replay_of }) => ({ replay_of })) : done);
    return;
  }
  for (const { id, replay_of } of done) printLine(context, given.dryRun ? replay_of : `${replay_of} -> ${id}`);
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

/** One that has meanwhile been removed or resumed is left out. */
const repeatable = (found: QueryResults['find']): readonly StoredDispatch[] =>
  found.kind === 'found' && whyNotReplay(found.dispatch) === null ? [found.dispatch] : [];
