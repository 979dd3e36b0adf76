/** `hookwright deliveries list`: what was accepted, newest first, and what became of it. */
import { tokensOf } from '../../../runtime/store/usage.ts';
import { command, parsed, text, withDefault } from '../../command-line/command.ts';
import {
  arrayOption,
  configOption,
  jobFilterOption,
  routeFilterOption,
  sinceOption,
} from '../../command-line/options.ts';
import { parseDeliveryFilter, parseLimit } from '../../deliveries/filter.ts';
import { namedFilter } from '../../deliveries/named-filter.ts';
import { ownerText } from '../../deliveries/owner-text.ts';
import { printList } from '../../output/table.ts';
import { formatDuration, formatRunTime } from '../../output/time.ts';
import { waitText } from '../../sessions/agent-sessions.ts';
import { useStore } from '../../store/use-store.ts';

export default command({
  summary: 'List accepted events, newest first, and their states',
  details:
    'States: pending, running, delivering, waiting (a person has to approve it), done, dead (given up), skipped (nothing to deliver, superseded, or rejected by a person). A pending run may wait for its turn in its session, for a run of its agent to end, or for a budget.',
  examples: [
    ['The newest 50', '$0 deliveries list'],
    ['What was given up today', '$0 deliveries list --state dead --since 24h'],
    ['One route, for a program', '$0 deliveries list --route alerts --json'],
  ],
  options: {
    state: text('name', 'Only this state'),
    route: routeFilterOption,
    job: jobFilterOption,
    since: sinceOption,
    limit: withDefault('50', parsed('count', 'At most this many (default 50)', parseLimit)),
    config: configOption,
    json: arrayOption,
  },
  async run(context, given) {
    const now = context.clock.now();
    const named = await namedFilter(context, parseDeliveryFilter(given, now), given.config);
    const filter = { ...named, limit: given.limit };
    const rows = (await useStore(context, (store) => store.read({ kind: 'list', filter }))) ?? [];
    printList(context, rows, {
      json: given.json,
      // What only this program needs is not shown.
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
      empty: 'nothing of that kind is stored',
    });
  },
});
