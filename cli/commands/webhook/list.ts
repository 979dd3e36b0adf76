/** `hookwright webhook list`: the subscriptions, with what the gateway makes of each. */
import { command, flag } from '../../command-line/command.ts';
import { configOption, jsonOption } from '../../command-line/options.ts';
import { printList } from '../../output/table.ts';
import { describeState, listRoutes } from '../../subscriptions/list-routes.ts';
import { openTable } from '../../subscriptions/open-table.ts';
import { readPauses } from '../../subscriptions/pause-route.ts';

export default command({
  summary: 'List the subscriptions and what the gateway makes of each',
  details: 'Secrets are never shown. A quarantined entry is not served, and says why; the others go on.',
  examples: [
    ['What is subscribed', '$0 webhook list'],
    ['Static routes too, for scripts', '$0 webhook list --all --json'],
  ],
  options: { all: flag('Static routes of the configuration too'), config: configOption, json: jsonOption },
  async run(context, given) {
    const open = await openTable(context, given.config);
    const routes = listRoutes(context.home, open, given.all, await readPauses(context, given.config));
    printList(context, routes, {
      json: given.json,
      columns: [
        { title: 'NAME', value: ({ name }) => name, whole: true },
        { title: 'STATE', value: describeState },
        { title: 'MODE', value: ({ mode }) => mode ?? '' },
        { title: 'SOURCE', value: ({ source }) => source ?? 'any', usual: 'any' },
        { title: 'EVENTS', value: ({ events }) => (events.length === 0 ? 'all' : events.join(',')), whole: true },
        { title: 'DELIVER', value: ({ deliver }) => deliver.join(','), whole: true },
        { title: 'PROFILE', value: ({ profile }) => profile, whole: true, usual: 'default' },
        {
          title: 'TOOLSETS',
          value: ({ toolsets }) => (toolsets === null ? 'default' : toolsets.join(',')),
          usual: 'default',
        },
        { title: 'URL', value: ({ url }) => url, whole: true },
      ],
      empty: 'no subscriptions; make one: hookwright webhook subscribe <name>',
    });
  },
});
