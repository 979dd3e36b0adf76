/** `hookwright deliveries replay`: repeats dispatches, named or chosen by their state. */
import { Command, Option } from 'clipanion';
import { createIds } from '../../../runtime/platform/ids.ts';
import type { DispatchSummary, QueryResults, StoredDispatch } from '../../../runtime/store/queries.ts';
import { replay, whyNotReplay } from '../../../runtime/store/replay.ts';
import type { Store } from '../../../runtime/store/store.ts';
import type { CliContext } from '../../base/context.ts';
import { CliError, UsageError } from '../../base/errors.ts';
import {
  arrayOption,
  configOption,
  jobFilterOption,
  routeFilterOption,
  sinceOption,
} from '../../command-line/options.ts';
import { parsedBy } from '../../command-line/values.ts';
import type { Filter } from '../../deliveries/filter.ts';
import { parseDeliveryFilter, parseLimit } from '../../deliveries/filter.ts';
import { printJson, printLine, printNote } from '../../output/print.ts';
import { createProgress } from '../../output/progress.ts';
import { findDispatch } from '../../store/find-dispatch.ts';
import { useStore } from '../../store/use-store.ts';

interface Replayed {
  readonly id: string;
  readonly replay_of: string;
}

/** Repeats stored in one transaction. */
const BATCH = 100;

export class DeliveriesReplayCommand extends Command<CliContext> {
  static override paths = [['deliveries', 'replay']];
  static override usage = Command.Usage({
    description: 'Repeat deliveries: each becomes a new one that names the old',
    details: `An answer that could not be delivered is delivered again without a second run; everything else runs again.
      A running gateway begins with the new ones at once; without one they wait for the next start.`,
    examples: [
      ['Repeat one', '$0 deliveries replay 0mb3k9x2c00a7f01c3b9d2e4'],
      ['Repeat what was given up since yesterday', '$0 deliveries replay --state dead --since 24h'],
      ['Only see what that would be', '$0 deliveries replay --state dead --since 24h --dry-run'],
    ],
  });

  ids = Option.Rest({ name: 'id' });
  state = Option.String('--state', { description: '<name> All in this state: done, dead or skipped' });
  route = routeFilterOption();
  job = jobFilterOption();
  since = sinceOption();
  limit = Option.String('--limit', {
    description: '<count> At most this many, the newest',
    validator: parsedBy('--limit', parseLimit),
  });
  rerun = Option.Boolean('--rerun', false, { description: 'Run the agent again even where its answer is stored' });
  dryRun = Option.Boolean('--dry-run', false, { description: 'Print which ones, and repeat nothing' });
  config = configOption();
  json = arrayOption();

  async execute(): Promise<number> {
    if ((this.ids.length === 0) === (this.state === undefined)) {
      throw new UsageError('name deliveries by id, or all of one state with --state');
    }
    const filter = parseDeliveryFilter(this, this.context.clock.now());
    const limit = this.limit ?? Number.MAX_SAFE_INTEGER;
    const done = await useStore(this.context, async (store) => {
      const ids = this.ids.length > 0 ? await this.named(store) : await chosen(store, filter, limit);
      return this.dryRun ? ids.map((id) => ({ id: '', replay_of: id })) : this.repeat(store, ids);
    });
    if (done === null) throw new CliError('nothing has been stored in this home yet');
    this.report(done);
    return 0;
  }

  /** All or none: a mistyped id must not leave half of them repeated. */
  private async named(store: Store): Promise<readonly string[]> {
    const found = await Promise.all(this.ids.map((id) => findDispatch(store, id)));
    for (const stored of found) {
      const why = whyNotReplay(stored);
      if (why !== null) throw new CliError(`${stored.id} cannot be repeated: ${why}`);
    }
    return [...new Set(found.map(({ id }) => id))];
  }

  private async repeat(store: Store, ids: readonly string[]): Promise<readonly Replayed[]> {
    const { clock, random } = this.context;
    const create = createIds(random);
    const progress = createProgress(this.context, ids.length, 'repeated');
    const done: Replayed[] = [];
    try {
      for (let start = 0; start < ids.length; start += BATCH) {
        const named = ids.slice(start, start + BATCH);
        const batch = await Promise.all(named.map((id) => store.read({ kind: 'find', id })));
        const writes = batch.flatMap(repeatable).map(async (stored) => {
          const id = create.dispatch(clock.now());
          await store.write(replay(stored, { id, now: clock.now(), rerun: this.rerun }));
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

  private report(done: readonly Replayed[]): void {
    if (this.json) {
      printJson(this.context, this.dryRun ? done.map(({ replay_of }) => ({ replay_of })) : done);
      return;
    }
    for (const { id, replay_of } of done) printLine(this.context, this.dryRun ? replay_of : `${replay_of} -> ${id}`);
    const count = `${done.length} ${done.length === 1 ? 'delivery' : 'deliveries'}`;
    printNote(this.context, this.dryRun ? `${count} would be repeated` : `${count} repeated`);
  }
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
