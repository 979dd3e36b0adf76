/** `hookwright job create`: a scheduled job that needs no config file. */
import { Command, Option } from 'clipanion';
import { DEFAULT_PROFILE } from '../../../base/profiles.ts';
import type { CliContext } from '../../base/context.ts';
import { UsageError } from '../../base/errors.ts';
import { chooseTimezone } from '../../blueprints/timezone.ts';
import {
  chatIdOption,
  configOption,
  descriptionOption,
  jsonOption,
  promptOption,
  scheduleOption,
} from '../../command-line/options.ts';
import { createJob } from '../../jobs/create-job.ts';
import { configFromFlags } from '../../jobs/job-flags.ts';
import { openJobs } from '../../jobs/open-jobs.ts';
import { printMade } from '../../jobs/print-job.ts';
import { makeStore } from '../../store/use-store.ts';

export class JobCreateCommand extends Command<CliContext> {
  static override paths = [['job', 'create']];
  static override usage = Command.Usage({
    description: 'Make a scheduled job',
    details:
      'It is kept beside the config, in the home, and checked by the rules for jobs of a config. A running gateway takes it in within a second.',
    examples: [
      [
        'A report every morning',
        "$0 job create report --schedule '0 8 * * 1-5' --prompt 'Write the report.' --deliver telegram",
      ],
      [
        'To a group, in a zone',
        "$0 job create tea --schedule '0 16 * * *' --prompt 'Tea!' --deliver telegram --deliver-chat-id -100200 --timezone Europe/London",
      ],
    ],
  });

  name = Option.String({ name: 'name' });
  schedule = scheduleOption();
  prompt = promptOption();
  deliver = Option.String('--deliver', {
    description: '<target> origin, local or a target; several by comma. Default: log',
  });
  deliverChatId = chatIdOption();
  skills = Option.String('--skills', { description: '<names> Skills of each run, by comma' });
  toolsets = Option.String('--toolsets', {
    description: "<names> Toolsets of each run, by comma. Default: the profile's",
  });
  timezone = Option.String('--timezone', {
    description: "<zone> IANA zone of the schedule. Default: gateway.timezone, else the machine's",
  });
  misfire = Option.String('--misfire', {
    description: '<rule> Runs missed while no gateway was running: skip (default) or once',
  });
  description = descriptionOption();
  profile = Option.String('--profile', DEFAULT_PROFILE, { description: '<profile> Profile that runs it' });
  config = configOption();
  json = jsonOption();

  async execute(): Promise<number> {
    const { schedule, prompt, context } = this;
    if (schedule === undefined) throw new UsageError('--schedule is needed', "such as --schedule '0 8 * * 1-5'");
    if (prompt === undefined) throw new UsageError('--prompt is needed');
    const open = await openJobs(context, this.config);
    const timezone = chooseTimezone(this.timezone, open.table.gateway.timezone ?? context.timezone);
    const config = { ...configFromFlags(this), schedule, prompt, timezone };
    const made = await makeStore(context, (store) =>
      createJob({ name: this.name, profile: this.profile, config, blueprint: null }, { store, open, context }),
    );
    printMade(context, { ...made, verb: 'created', open }, this.json);
    return 0;
  }
}
