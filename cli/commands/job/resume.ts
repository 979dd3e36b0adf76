/** `hookwright job resume`: lets a paused job fire again, from now on. */
import { Command, Option } from 'clipanion';
import type { CliContext } from '../../base/context.ts';
import { configOption, jobProfileOption } from '../../command-line/options.ts';
import { findJob, openJobs } from '../../jobs/open-jobs.ts';
import { printLine } from '../../output/print.ts';
import { makeStore } from '../../store/use-store.ts';

export class JobResumeCommand extends Command<CliContext> {
  static override paths = [['job', 'resume']];
  static override usage = Command.Usage({
    description: 'Let a paused job fire again, from now on',
    details: 'What was due meanwhile is not made up for. Also for a job that the config pauses.',
    examples: [['Go on', '$0 job resume report']],
  });

  reference = Option.String({ name: 'job' });
  profile = jobProfileOption();
  config = configOption();

  async execute(): Promise<number> {
    const { context } = this;
    const open = await openJobs(context, this.config);
    const job = findJob(open, this.reference, this.profile);
    const now = context.clock.now();
    await makeStore(context, (store) => store.write({ kind: 'pause_job', job: job.id, paused: false, now }));
    printLine(context, `job ${job.name} (${job.id}) resumed`);
    return 0;
  }
}
