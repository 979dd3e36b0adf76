/** `hookwright blueprint link`: the application link that sets a blueprint up with the given values. */

import { argument, command, restArguments, text } from '../../../../../cli/command-line/command.ts';
import { configOption } from '../../../../../cli/command-line/options.ts';
import { printLine } from '../../../../../cli/output/print.ts';
import { printLink } from '../../../compiler/link.ts';
import { triggerFromWords } from '../../fill-from-words.ts';
import { openCatalog } from '../../open-catalog.ts';

export default command({
  summary: 'Print the application link of a blueprint with these values',
  details: 'Fields that are not given have their default. A chat command is turned into a link.',
  examples: [
    ['With one value changed', '$0 blueprint link morning-brief time=06:30'],
    ['From a command', `$0 blueprint link '/blueprint custom-reminder what="call home"'`],
  ],
  options: {
    appScheme: text('scheme', 'URL scheme of the link. Default: app_scheme of the config'),
    config: configOption,
  },
  args: { key: argument('key'), values: restArguments('name=value') },
  async run(context, given) {
    const catalog = await openCatalog(context, { configs: given.config, appScheme: given.appScheme });
    const { trigger } = await triggerFromWords(context, catalog, given);
    printLine(context, printLink(trigger, catalog.appScheme));
  },
});
