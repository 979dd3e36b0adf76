/** `hookwright deliveries replay`: sends dispatches again, or runs them again, named or chosen by their state. */

import { whyNotReplay } from '../../../runtime/store/replay.ts';
import type { Store } from '../../../runtime/store/store.ts';
import type { ReplayedDeliveries } from '../../../schemas/built/operations/types.ts';
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
import { parseDeliveryFilter, parseLimit } from '../../deliveries/filter.ts';
import { namedFilter } from '../../deliveries/named-filter.ts';
import { chooseDeliveries, repeatDeliveries } from '../../deliveries/repeat.ts';
import { printJson, printLine, printNote } from '../../output/print.ts';
import { createProgress } from '../../output/progress.ts';
import { findDispatch, useStore } from '../../store/use-store.ts';

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
    'A message or an answer goes on under its id, to the targets that have not got it; its delivery id is claimed. Everything else runs again, as a new delivery that names the old. A running gateway begins at once; without one they wait for the next start.',
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
      const ids = given.ids.length > 0 ? await named(given, store) : await chooseDeliveries(store, filter, limit);
      const progress = createProgress(context, ids.length, 'repeated');
      const { clock, random } = context;
      const repeating = { clock, random, ...given, onProgress: progress.update };
      return repeatDeliveries(store, ids, repeating).finally(progress.end);
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

function report(context: CliContext, given: Given, { done, refused }: ReplayedDeliveries): void {
  for (const { id, reason } of refused) printNote(context, `${id} is not repeated: ${reason}`);
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
