/** `hookwright blueprint fill`: the job a blueprint would make, without making it. */
import { Command, Option } from 'clipanion';
import { stringify } from 'yaml';
import type { FilledBlueprint } from '../../../compiler/blueprints/fill.ts';
import { nextRuns } from '../../../compiler/schedule/next-runs.ts';
import type { CliContext } from '../../base/context.ts';
import { fillFromWords } from '../../blueprints/fill-from-words.ts';
import { openCatalog } from '../../blueprints/open-catalog.ts';
import { chooseTimezone } from '../../blueprints/timezone.ts';
import { configOption, jsonOption } from '../../command-line/options.ts';
import { printJson } from '../../output/print.ts';

const RUNS = 5;

export class BlueprintFillCommand extends Command<CliContext> {
  static override paths = [['blueprint', 'fill']];
  static override usage = Command.Usage({
    description: 'Show the job a blueprint would make with these values; nothing is created',
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
  });

  json = jsonOption();
  defaults = Option.Boolean('--defaults', false, { description: 'Take the default of every field that is not given' });
  timezone = Option.String('--timezone', { description: '<zone> IANA zone of the job. Default: gateway.timezone' });
  config = configOption();
  key = Option.String({ name: 'key' });
  values = Option.Rest({ name: 'name=value' });

  async execute(): Promise<number> {
    const catalog = await openCatalog(this.context, { configs: this.config });
    const { filled } = await fillFromWords(this.context, catalog, {
      words: [this.key, ...this.values],
      withDefaults: this.defaults,
    });
    const timezone = chooseTimezone(this.timezone, catalog.timezone);
    if (this.json) {
      const runs = nextRuns({ schedule: filled.schedule, timezone, from: this.context.clock.now(), count: RUNS });
      printJson(this.context, { ...filled, timezone, next_runs: runs.map((at) => new Date(at).toISOString()) });
    } else this.context.stdout.write(printJobsSection(filled, timezone));
    return 0;
  }
}

/** As a static job of the config; keys that would hold their default are left out. */
function printJobsSection(filled: FilledBlueprint, timezone: string): string {
  const { blueprint, title, schedule, prompt, deliver, skills } = filled;
  const job = { description: title, schedule, timezone, prompt, deliver, ...(skills.length > 0 ? { skills } : {}) };
  return stringify({ jobs: { [blueprint]: job } }, { lineWidth: 0 });
}
