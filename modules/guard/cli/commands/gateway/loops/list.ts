/** `hookwright gateway loops list`: the keys that are paused. */
import { command } from '../../../../../../cli/command-line/command.ts';
import { configOption, jsonOption } from '../../../../../../cli/command-line/options.ts';
import { visible } from '../../../../../../cli/output/print.ts';
import { printList } from '../../../../../../cli/output/table.ts';
import { formatDuration } from '../../../../../../cli/output/time.ts';
import { useStore } from '../../../../../../cli/store/use-store.ts';
import { pausedKeys } from '../../../loops/paused-keys.ts';

export default command({
  summary: 'List the keys that are paused because they have had too many runs',
  details:
    'A session or coalesce key, or the place where the answers go if a route has neither, with more than `loop_limit` runs within ten minutes is paused for an hour: its events are answered `ignored`, reason `loop`.',
  examples: [
    ['What is paused', '$0 gateway loops list'],
    ['For scripts', '$0 gateway loops list --json'],
  ],
  options: { config: configOption, json: jsonOption },
  async run(context, given) {
    const now = context.clock.now();
    const paused = (await useStore(context, (store) => pausedKeys(store, now), given.config)) ?? [];
    printList(context, paused, {
      json: given.json,
      toJson: ({ id, profile, route, key, until }) => ({ id, name: key, profile, route, key, until }),
      columns: [
        { title: 'ID', value: ({ id }) => id, whole: true },
        { title: 'ROUTE', value: ({ route }) => visible(route), whole: true },
        { title: 'LEFT', value: ({ until }) => formatDuration(until - now) },
        { title: 'KEY', value: ({ key }) => visible(key) },
      ],
      empty: 'no key is paused',
    });
  },
});
