/** `hookwright blueprint list`: every blueprint, shipped and the user's own. */
import { Command, Option } from 'clipanion';
import { publish } from '../../../compiler/blueprints/publish.ts';
import type { CliContext } from '../../base/context.ts';
import { openCatalog } from '../../blueprints/open-catalog.ts';
import { configOption } from '../../command-line/options.ts';
import { printJson } from '../../output/print.ts';
import { printTable } from '../../output/table.ts';

export class BlueprintListCommand extends Command<CliContext> {
  static override paths = [['blueprint', 'list']];
  static override usage = Command.Usage({
    description: 'List the blueprints: recurring tasks ready to be set up',
    examples: [
      ['List them', '$0 blueprint list'],
      ['Only the weekly ones', '$0 blueprint list --category weekly'],
    ],
  });

  json = Option.Boolean('--json', false, { description: 'Print the entries as JSON, as they are published' });
  category = Option.String('--category', { description: '<name> Only this category or tag' });
  config = configOption();

  async execute(): Promise<number> {
    const { plans, appScheme } = await openCatalog(this.context, { configs: this.config });
    const { category } = this;
    const entries = publish(plans.values(), appScheme).filter(
      (entry) => category === undefined || entry.category === category || entry.tags.includes(category),
    );
    if (this.json) printJson(this.context, entries);
    else {
      const columns = [
        { title: 'KEY', value: (entry: (typeof entries)[number]) => entry.key, whole: true as const },
        { title: 'CATEGORY', value: (entry: (typeof entries)[number]) => entry.category },
        { title: 'WHEN', value: (entry: (typeof entries)[number]) => entry.scheduleHuman },
        { title: 'DESCRIPTION', value: (entry: (typeof entries)[number]) => entry.description },
      ];
      printTable(this.context, entries, columns, 'no blueprint is in that category');
    }
    return 0;
  }
}
