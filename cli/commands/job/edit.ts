/** `hookwright job edit`: changes a job that was made at run time. */
import { Command, Option } from 'clipanion';
import type { CliContext } from '../../base/context.ts';
import { UsageError } from '../../base/errors.ts';
import { chooseTimezone } from '../../blueprints/timezone.ts';
import {
  chatIdOption,
  configOption,
  descriptionOption,
  jobProfileOption,
  jsonOption,
  promptOption,
  scheduleOption,
} from '../../command-line/options.ts';
import { editJob } from '../../jobs/edit-job.ts';
import { configFromFlags } from '../../jobs/job-flags.ts';
import { openJob, recordOf } from '../../jobs/open-jobs.ts';
import { printMade } from '../../jobs/print-job.ts';
import { makeStore } from '../../store/use-store.ts';

export class JobEditCommand extends Command<CliContext> {
  static override paths = [['job', 'edit']];
  static override usage = Command.Usage({
    description: 'Change a job: only what the flags say',
    details: 'A job of the config is changed where it is written. A run under way goes on as it began.',
    examples: [
      ['Later, and only on weekdays', "$0 job edit report --schedule '30 9 * * 1-5'"],
      ['Another name', '$0 job edit report --name morning-report'],
    ],
  });

  reference = Option.String({ name: 'job' });
  name = Option.String('--name', { description: '<name> Another name; the id stays' });
  schedule = scheduleOption();
  prompt = promptOption();
  deliver = Option.String('--deliver', { description: '<target> origin, local or a target; several by comma' });
  deliverChatId = chatIdOption();
  skills = Option.String('--skills', { description: '<names> Skills of each run, by comma; empty for none' });
  toolsets = Option.String('--toolsets', { description: '<names> Toolsets of each run, by comma' });
  timezone = Option.String('--timezone', { description: '<zone> IANA zone of the schedule' });
  misfire = Option.String('--misfire', { description: '<rule> skip or once' });
  description = descriptionOption();
  profile = jobProfileOption();
  config = configOption();
  json = jsonOption();

  async execute(): Promise<number> {
    const { context } = this;
    const config = configFromFlags(this);
    if (config.deliver_extra !== undefined && config.deliver === undefined) {
      throw new UsageError('--deliver-chat-id needs --deliver', 'name the target whose chat is meant');
    }
    if (Object.keys(config).length === 0 && this.name === undefined && this.timezone === undefined) {
      throw new UsageError('say what to change', 'hookwright job edit --help lists the flags');
    }
    const { open, job } = await openJob(context, this);
    const record = recordOf(open, job);
    const timezone = this.timezone === undefined ? undefined : chooseTimezone(this.timezone, '');
    const now = context.clock.now();
    const change = { name: this.name, timezone, config };
    const edited = await makeStore(context, (store) => editJob(record, change, { store, open, now }));
    printMade(context, { ...edited, verb: 'changed', open }, this.json);
    return 0;
  }
}
