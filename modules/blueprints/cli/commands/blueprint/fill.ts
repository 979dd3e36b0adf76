/** `hookwright blueprint fill`: the job a blueprint would make, without making it. */
import { stringify } from 'yaml';
import { argument, command, flag, restArguments, text } from '../../../../../cli/command-line/command.ts';
import { configOption, jsonOption } from '../../../../../cli/command-line/options.ts';
import { chooseTimezone } from '../../../../../cli/jobs/timezone.ts';
import { printJson } from '../../../../../cli/output/print.ts';
import { nextRuns } from '../../../../../compiler/schedule/next-runs.ts';
import type { FilledBlueprint } from '../../../compiler/fill.ts';
import { fillFromWords } from '../../fill-from-words.ts';
import { openCatalog } from '../../open-catalog.ts';

const RUNS = 5;

export default command({
  summary: 'Show the job a blueprint would make with these values; nothing is created',
  details:
    'Prints a `jobs:` section for hookwright.yaml. Every field needs a value; at a terminal, without any, it asks for them.',
  examples: [
    [
      'Give the values',
      "$0 blueprint fill custom-reminder what='call home' time=19:00 recurrence=weekends deliver=origin",
    ],
    ['Take the defaults for the rest', '$0 blueprint fill morning-brief time=06:30 --defaults'],
    ['From a command of the chat', `$0 blueprint fill '/blueprint morning-brief time=06:30 deliver=local'`],
  ],
  options: {
    json: jsonOption,
    defaults: flag('Take the default of every field that is not given'),
    timezone: text('zone', 'IANA zone of the job. Default: gateway.timezone'),
    config: configOption,
  },
  args: { key: argument('key'), values: restArguments('name=value') },
  async run(context, given) {
    const catalog = await openCatalog(context, { configs: given.config });
    const { filled } = await fillFromWords(context, catalog, given, given.defaults);
    const timezone = chooseTimezone(given.timezone, catalog.timezone);
    if (given.json) {
      const runs = nextRuns({ schedule: filled.schedule, timezone, from: context.clock.now(), count: RUNS });
      printJson(context, { ...filled, timezone, next_runs: runs.map((at) => new Date(at).toISOString()) });
    } else context.stdout.write(printJobsSection(filled, timezone));
  },
});

/** As a static job of the config; keys that would hold their default are left out. */
function printJobsSection(filled: FilledBlueprint, timezone: string): string {
  const { blueprint, title, schedule, prompt, deliver, skills } = filled;
  const job = { description: title, schedule, timezone, prompt, deliver, ...(skills.length > 0 ? { skills } : {}) };
  return stringify({ jobs: { [blueprint]: job } }, { lineWidth: 0 });
}
