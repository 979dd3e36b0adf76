/** `hookwright job pause`: keeps a job from firing until it is resumed. */
import { Command, Option } from 'clipanion';
import type { CliContext } from '../../base/context.ts';
import { configOption, jobProfileOption } from '../../command-line/options.ts';
import { findJob, openJobs } from '../../jobs/open-jobs.ts';
import { printLine } from '../../output/print.ts';
import { makeStore } from '../../store/use-store.ts';

export class JobPauseCommand extends Command<CliContext> {
  static override paths = [['job', 'pause']];
  static override usage = Command.Usage({
    description: 'Keep a job from firing; events for it are dropped',
    details: 'Works for jobs of the config too. A run under way goes on.',
    examples: [['Until further notice', '$0 job pause report']],
  });

  reference = Option.String({ name: 'job' });
  profile = jobProfileOption();
  config = configOption();

  async execute(): Promise<number> {
    const { context } = this;
    const open = await openJobs(context, this.config);
    const job = findJob(open, this.reference, this.profile);
    const now = context.clock.now();
    await makeStore(context, (store) => store.write({ kind: 'pause_job', job: job.id, paused: true, now }));
    printLine(context, `job ${job.name} (${job.id}) paused`);
    return 0;
  }
}
