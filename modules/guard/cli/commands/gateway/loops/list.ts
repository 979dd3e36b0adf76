/** `hookwright gateway loops list`: the keys that are paused. */
import { command } from '../../../../../../cli/command-line/command.ts';
import { configOption, jsonOption } from '../../../../../../cli/command-line/options.ts';
import { visible } from '../../../../../../cli/output/print.ts';
import { printList } from '../../../../../../cli/output/table.ts';
import { formatDuration } from '../../../../../../cli/output/time.ts';
import { useStore } from '../../../../../../cli/store/use-store.ts';
import { runKeyText } from '../../../../../../runtime/store/run-key.ts';
import { pausedKeys } from '../../../../runtime/paused-keys.ts';

export default command({
  summary: 'List the keys that are paused because they have had too many runs',
  details:
    'A session or coalesce key, or the place where the answers go if a route has neither, with more than `loop_limit` runs within ten minutes is paused for an hour: its events are answered `ignored`, reason `loop`. A session that routes share (`session_scope`) is paused for all of them; its key is the session id.',
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
      toJson: ({ id, of, until }) => {
        const key = runKeyText(of);
        return { id, name: key, profile: of.profile, route: of.route, key, until };
      },
      columns: [
        { title: 'ID', value: ({ id }) => id, whole: true },
        { title: 'ROUTE', value: ({ of }) => visible(of.route ?? '(session)'), whole: true },
        { title: 'LEFT', value: ({ until }) => formatDuration(until - now) },
        { title: 'KEY', value: ({ of }) => visible(runKeyText(of)) },
      ],
      empty: 'no key is paused',
    });
  },
});
