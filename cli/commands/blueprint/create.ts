/** `hookwright blueprint create`: makes the job that a blueprint, a chat command or an application link describes. */
import { Command, Option } from 'clipanion';
import { DEFAULT_PROFILE } from '../../../base/profiles.ts';
import type { CliContext } from '../../base/context.ts';
import { fillFromWords } from '../../blueprints/fill-from-words.ts';
import { openCatalog } from '../../blueprints/open-catalog.ts';
import { chooseTimezone } from '../../blueprints/timezone.ts';
import { configOption, jsonOption } from '../../command-line/options.ts';
import { createBlueprintJob } from '../../jobs/create-job.ts';
import { openJobs } from '../../jobs/open-jobs.ts';
import { printMade } from '../../jobs/print-job.ts';
import { makeStore } from '../../store/use-store.ts';

export class BlueprintCreateCommand extends Command<CliContext> {
  static override paths = [['blueprint', 'create']];
  static override usage = Command.Usage({
    description: 'Make the job that a blueprint describes, from values, a command or a link',
    details:
      'Every field needs a value; at a terminal, without any, it asks for them. `deliver=origin` is the home channel here.',
    examples: [
      ['With values', '$0 blueprint create morning-brief time=06:30 deliver=telegram'],
      ['From a chat command', `$0 blueprint create '/blueprint morning-brief time=06:30'`],
      ['From a link', `$0 blueprint create 'hookwright://blueprint/morning-brief?time=06%3A30&deliver=local'`],
    ],
  });

  name = Option.String('--name', { description: "<name> Name of the job. Default: the blueprint's key" });
  defaults = Option.Boolean('--defaults', false, { description: 'Take the default of every field that is not given' });
  timezone = Option.String('--timezone', { description: '<zone> IANA zone of the job. Default: gateway.timezone' });
  profile = Option.String('--profile', DEFAULT_PROFILE, { description: '<profile> Profile that runs it' });
  config = configOption();
  json = jsonOption();
  key = Option.String({ name: 'key' });
  values = Option.Rest({ name: 'name=value' });

  async execute(): Promise<number> {
    const { context, name, profile } = this;
    const catalog = await openCatalog(context, { configs: this.config });
    const { filled } = await fillFromWords(context, catalog, {
      words: [this.key, ...this.values],
      withDefaults: this.defaults,
    });
    const open = await openJobs(context, this.config);
    const timezone = chooseTimezone(this.timezone, open.table.gateway.timezone ?? context.timezone);
    const made = await makeStore(context, (store) =>
      createBlueprintJob(filled, { name, profile, timezone, origin: null }, { store, open, context }),
    );
    printMade(context, { ...made, verb: 'created', open }, this.json);
    return 0;
  }
}
