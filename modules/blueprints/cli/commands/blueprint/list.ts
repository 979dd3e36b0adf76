/** `hookwright blueprint list`: every blueprint, shipped and the user's own. */

import { command, flag, text } from '../../../../../cli/command-line/command.ts';
import { configOption } from '../../../../../cli/command-line/options.ts';
import { printList } from '../../../../../cli/output/table.ts';
import { publish } from '../../../compiler/publish.ts';
import { openCatalog } from '../../open-catalog.ts';

export default command({
  summary: 'List the blueprints: recurring tasks ready to be set up',
  examples: [
    ['List them', '$0 blueprint list'],
    ['Only the weekly ones', '$0 blueprint list --category weekly'],
  ],
  options: {
    json: flag('Print the entries as JSON, as they are published'),
    category: text('name', 'Only this category or tag'),
    config: configOption,
  },
  async run(context, given) {
    const { plans, appScheme } = await openCatalog(context, { configs: given.config });
    const { category } = given;
    const entries = publish(plans.values(), appScheme).filter(
      (entry) => category === undefined || entry.category === category || entry.tags.includes(category),
    );
    printList(context, entries, {
      json: given.json,
      columns: [
        { title: 'KEY', value: ({ key }) => key, whole: true },
        { title: 'CATEGORY', value: ({ category }) => category },
        { title: 'WHEN', value: ({ scheduleHuman }) => scheduleHuman },
        { title: 'DESCRIPTION', value: ({ description }) => description },
      ],
      empty: 'no blueprint is in that category',
    });
  },
});
