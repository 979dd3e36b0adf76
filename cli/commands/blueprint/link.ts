/** `hookwright blueprint link`: the application link that sets a blueprint up with the given values. */
import { printLink } from '../../../compiler/blueprints/link.ts';
import { triggerFromWords } from '../../blueprints/fill-from-words.ts';
import { openCatalog } from '../../blueprints/open-catalog.ts';
import { argument, command, restArguments, text } from '../../command-line/command.ts';
import { configOption } from '../../command-line/options.ts';
import { printLine } from '../../output/print.ts';

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
