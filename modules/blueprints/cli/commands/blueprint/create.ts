/** `hookwright blueprint create`: makes the job that a blueprint, a chat command or an application link describes. */
import { DEFAULT_PROFILE } from '../../../../../base/profiles.ts';
import { argument, command, flag, restArguments, text, withDefault } from '../../../../../cli/command-line/command.ts';
import { configOption, jsonOption } from '../../../../../cli/command-line/options.ts';
import { openJobs } from '../../../../../cli/jobs/open-jobs.ts';
import { printMade } from '../../../../../cli/jobs/print-job.ts';
import { chooseTimezone } from '../../../../../cli/jobs/timezone.ts';
import { makeStore } from '../../../../../cli/store/use-store.ts';
import { createFilledJob } from '../../create-filled-job.ts';
import { fillFromWords } from '../../fill-from-words.ts';
import { openCatalog } from '../../open-catalog.ts';

export default command({
  summary: 'Make the job that a blueprint describes, from values, a command or a link',
  details:
    'Every field needs a value; at a terminal, without any, it asks for them. `deliver=origin` is the home channel here.',
  examples: [
    ['With values', '$0 blueprint create morning-brief time=06:30 deliver=telegram'],
    ['From a chat command', `$0 blueprint create '/blueprint morning-brief time=06:30'`],
    ['From a link', `$0 blueprint create 'hookwright://blueprint/morning-brief?time=06%3A30&deliver=local'`],
  ],
  options: {
    name: text('name', "Name of the job. Default: the blueprint's key"),
    defaults: flag('Take the default of every field that is not given'),
    timezone: text('zone', 'IANA zone of the job. Default: gateway.timezone'),
    profile: withDefault(DEFAULT_PROFILE, text('profile', 'Profile that runs it')),
    config: configOption,
    json: jsonOption,
  },
  args: { key: argument('key'), values: restArguments('name=value') },
  async run(context, given) {
    const { name, profile } = given;
    const catalog = await openCatalog(context, { configs: given.config });
    const { filled } = await fillFromWords(context, catalog, given, given.defaults);
    const open = await openJobs(context, given.config);
    const timezone = chooseTimezone(given.timezone, open.table.gateway.timezone ?? context.timezone);
    const made = await makeStore(context, (store) =>
      createFilledJob(filled, { name, profile, timezone, origin: null }, { store, open, context }),
    );
    printMade(context, { ...made, verb: 'created', open }, given.json);
  },
});
