/** `hookwright blueprint link`: the application link that sets a blueprint up with the given values. */
import { Command, Option } from 'clipanion';
import { printLink } from '../../../compiler/blueprints/link.ts';
import type { CliContext } from '../../base/context.ts';
import { openCatalog } from '../../blueprints/open-catalog.ts';
import { triggerFromWords } from '../../blueprints/trigger-from-words.ts';
import { configOption } from '../../command-line/options.ts';
import { printLine } from '../../output/print.ts';

export class BlueprintLinkCommand extends Command<CliContext> {
  static override paths = [['blueprint', 'link']];
  static override usage = Command.Usage({
    description: 'Print the application link of a blueprint with these values',
    details: 'Fields that are not given have their default. A chat command is turned into a link.',
    examples: [
      ['With one value changed', '$0 blueprint link morning-brief time=06:30'],
      ['From a command', `$0 blueprint link '/blueprint custom-reminder what="call home"'`],
    ],
  });

  appScheme = Option.String('--app-scheme', {
    description: '<scheme> URL scheme of the link. Default: app_scheme of the config',
  });
  config = configOption();
  key = Option.String({ name: 'key' });
  values = Option.Rest({ name: 'name=value' });

  async execute(): Promise<number> {
    const catalog = await openCatalog(this.context, { configs: this.config, appScheme: this.appScheme });
    const { trigger } = await triggerFromWords(this.context, catalog, [this.key, ...this.values]);
    printLine(this.context, printLink(trigger, catalog.appScheme));
    return 0;
  }
}
