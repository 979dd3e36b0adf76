/** `hookwright deliveries list`: what was accepted, newest first, and what became of it. */
import { Command, Option } from 'clipanion';
import type { DispatchSummary } from '../../../runtime/store/queries.ts';
import type { CliContext } from '../../base/context.ts';
import {
  arrayOption,
  configOption,
  jobFilterOption,
  routeFilterOption,
  sinceOption,
} from '../../command-line/options.ts';
import { parsedBy } from '../../command-line/values.ts';
import { parseDeliveryFilter, parseLimit } from '../../deliveries/filter.ts';
import { printJson } from '../../output/print.ts';
import type { Column } from '../../output/table.ts';
import { printTable } from '../../output/table.ts';
import { formatDuration } from '../../output/time.ts';
import { useStore } from '../../store/use-store.ts';

export class DeliveriesListCommand extends Command<CliContext> {
  static override paths = [['deliveries', 'list']];
  static override usage = Command.Usage({
    description: 'List accepted events, newest first, and their states',
    details:
      'States: pending, running, delivering, done, dead (given up), skipped (nothing to deliver, or superseded).',
    examples: [
      ['The newest 50', '$0 deliveries list'],
      ['What was given up today', '$0 deliveries list --state dead --since 24h'],
      ['One route, for a program', '$0 deliveries list --route alerts --json'],
    ],
  });

  state = Option.String('--state', { description: '<name> Only this state' });
  route = routeFilterOption();
  job = jobFilterOption();
  since = sinceOption();
  limit = Option.String('--limit', '50', {
    description: '<count> At most this many (default 50)',
    validator: parsedBy('--limit', parseLimit),
  });
  config = configOption();
  json = arrayOption();

  async execute(): Promise<number> {
    const now = this.context.clock.now();
    const filter = { ...parseDeliveryFilter(this, now), limit: this.limit };
    const rows = (await useStore(this.context, (store) => store.read({ kind: 'list', filter }))) ?? [];
    if (this.json) printJson(this.context, rows.map(toJson));
    else printTable(this.context, rows, columns(now), 'nothing of that kind is stored');
    return 0;
  }
}

/** The store's internal number is not shown. */
const toJson = ({ ref, ...rest }: DispatchSummary) => rest;

function columns(now: number): readonly Column<DispatchSummary>[] {
  return [
    { title: 'ID', value: ({ id }) => id, whole: true },
    { title: 'ROUTE', value: ({ route, job }) => route ?? `job ${job}`, whole: true },
    { title: 'EVENT', value: ({ event }) => event, whole: true },
    { title: 'STATE', value: ({ state }) => state },
    { title: 'AGE', value: ({ accepted_at }) => formatDuration(now - accepted_at), align: 'right' },
    { title: 'DELIVERY ID', value: ({ delivery_id }) => delivery_id, whole: true },
    { title: 'REASON', value: ({ reason }) => reason ?? '' },
  ];
}
