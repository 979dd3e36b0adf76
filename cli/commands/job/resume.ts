/** `hookwright job resume`: lets a paused job fire again, from now on. */
import { Command, Option } from 'clipanion';
import type { CliContext } from '../../base/context.ts';
import { configOption, jobProfileOption } from '../../command-line/options.ts';
import { pauseJob } from '../../jobs/pause-job.ts';

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
    await pauseJob(this, false, this.context);
    return 0;
  }
}
