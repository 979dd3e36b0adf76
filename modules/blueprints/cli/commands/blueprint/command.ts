/** `hookwright blueprint command`: the chat command that sets a blueprint up with the given values. */

import { argument, command, restArguments } from '../../../../../cli/command-line/command.ts';
import { configOption } from '../../../../../cli/command-line/options.ts';
import { printLine } from '../../../../../cli/output/print.ts';
import { printCommand } from '../../../compiler/command.ts';
import { triggerFromWords } from '../../fill-from-words.ts';
import { openCatalog } from '../../open-catalog.ts';

export default command({
  summary: 'Print the chat command of a blueprint with these values',
  details: 'Fields that are not given have their default. A link is turned into a command.',
  examples: [
    ['With one value changed', '$0 blueprint command morning-brief time=06:30'],
    ['From a link', `$0 blueprint command 'hookwright://blueprint/morning-brief?time=06%3A30'`],
  ],
  options: { config: configOption },
  args: { key: argument('key'), values: restArguments('name=value') },
  async run(context, given) {
    const catalog = await openCatalog(context, { configs: given.config });
    const { plan, trigger } = await triggerFromWords(context, catalog, given);
    printLine(context, printCommand(trigger, plan.fields));
  },
});
