/** `hookwright blueprint show`: one blueprint, its fields, and when it would run. */
import { createPaint } from '../../../../../base/paint.ts';
import type { CliContext } from '../../../../../cli/base/context.ts';
import { CliError } from '../../../../../cli/base/errors.ts';
import { argument, command, restArguments, text } from '../../../../../cli/command-line/command.ts';
import { configOption, jsonOption } from '../../../../../cli/command-line/options.ts';
import { chooseTimezone } from '../../../../../cli/jobs/timezone.ts';
import { printJson, printLine, visible } from '../../../../../cli/output/print.ts';
import { formatInstant } from '../../../../../cli/output/time.ts';
import { nextRuns } from '../../../../../compiler/schedule/next-runs.ts';
import type { BlueprintPlan } from '../../../../../schemas/generated/types.ts';
import { printCommand } from '../../../compiler/command.ts';
import { defaultValues } from '../../../compiler/expand.ts';
import type { FilledBlueprint } from '../../../compiler/fill.ts';
import { describeField, fillBlueprint } from '../../../compiler/fill.ts';
import { printLink } from '../../../compiler/link.ts';
import { publish } from '../../../compiler/publish.ts';
import { readTrigger } from '../../fill-from-words.ts';
import { findBlueprint, openCatalog } from '../../open-catalog.ts';

const RUNS = 5;

export default command({
  summary: 'Show a blueprint: its fields, its command and link, its next five runs',
  examples: [
    ['With the default values', '$0 blueprint show morning-brief'],
    ['When it would run with others', '$0 blueprint show morning-brief time=06:30 --timezone Europe/Berlin'],
  ],
  options: {
    json: jsonOption,
    timezone: text('zone', 'IANA zone of the runs. Default: that of new jobs'),
    config: configOption,
  },
  args: { key: argument('key'), values: restArguments('name=value') },
  async run(context, given) {
    const catalog = await openCatalog(context, { configs: given.config });
    const trigger = readTrigger(given, catalog.appScheme);
    const plan = findBlueprint(catalog, trigger.key);
    const filled = fillBlueprint(plan, { ...defaultValues(plan.fields), ...trigger.values });
    if (!filled.ok) {
      const [first = '', ...others] = filled.problems.map((problem) => problem.message);
      throw new CliError(first, ...others);
    }
    const timezone = chooseTimezone(given.timezone, catalog.timezone);
    const { schedule } = filled.filled;
    const runs = nextRuns({ schedule, timezone, from: context.clock.now(), count: RUNS });
    const shown = { appScheme: catalog.appScheme, plan, timezone, runs, filled: filled.filled };
    if (!given.json) {
      for (const line of describe(context, shown)) printLine(context, line);
      return;
    }
    // The published entry, and what these values make of it.
    const [entry] = publish([plan], catalog.appScheme);
    const { schedule_human, values } = filled.filled;
    const next_runs = runs.map((at) => new Date(at).toISOString());
    printJson(context, { ...entry, values, cron: schedule, schedule_human, timezone, next_runs });
  },
});

interface Shown {
  readonly appScheme: string;
  readonly plan: BlueprintPlan;
  readonly timezone: string;
  readonly runs: readonly number[];
  /** With the values given, and the defaults for the others. */
  readonly filled: FilledBlueprint;
}

function describe(context: CliContext, { appScheme, plan, timezone, runs, filled }: Shown): string[] {
  const paint = createPaint(context.colour.stdout);
  const trigger = { key: plan.key, values: filled.values };
  const fields = plan.fields.flatMap((field) => [
    `  ${paint('bold', field.name)}  ${visible(field.label)}`,
    `      ${describeField(field)}; default: ${visible(field.default)}`,
    ...(field.help === '' ? [] : [`      ${paint('dim', visible(field.help))}`]),
  ]);
  return [
    `${paint('bold', visible(plan.title))} (${plan.key}, ${plan.category})`,
    visible(plan.description),
    '',
    'Fields:',
    ...fields,
    '',
    `Command:  ${visible(printCommand(trigger, plan.fields))}`,
    `Link:     ${visible(printLink(trigger, appScheme))}`,
    '',
    `Runs ${filled.schedule_human} (cron ${filled.schedule}), in ${timezone}. Next:`,
    ...runs.map((at) => `  ${formatInstant(at, timezone)}`),
  ];
}
