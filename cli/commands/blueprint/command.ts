/** `hookwright blueprint command`: the chat command that sets a blueprint up with the given values. */
import { Command, Option } from 'clipanion';
import { printCommand } from '../../../compiler/blueprints/command.ts';
import type { CliContext } from '../../base/context.ts';
import { openCatalog } from '../../blueprints/open-catalog.ts';
import { triggerFromWords } from '../../blueprints/trigger-from-words.ts';
import { configOption } from '../../command-line/options.ts';
import { printLine } from '../../output/print.ts';

export class BlueprintCommandCommand extends Command<CliContext> {
  static override paths = [['blueprint', 'command']];
  static override usage = Command.Usage({
    description: 'Print the chat command of a blueprint with these values',
    details: 'Fields that are not given have their default. A link is turned into a command.',
    examples: [
      ['With one value changed', '$0 blueprint command morning-brief time=06:30'],
      ['From a link', `$0 blueprint command 'hookwright://blueprint/morning-brief?time=06%3A30'`],
    ],
  });

  config = configOption();
  key = Option.String({ name: 'key' });
  values = Option.Rest({ name: 'name=value' });

  async execute(): Promise<number> {
    const catalog = await openCatalog(this.context, { configs: this.config });
    const { plan, trigger } = await triggerFromWords(this.context, catalog, [this.key, ...this.values]);
    printLine(this.context, printCommand(trigger, plan.fields));
    return 0;
  }
}
