/** `hookwright job pause`: keeps a job from firing until it is resumed. */
import { Command, Option } from 'clipanion';
import type { CliContext } from '../../base/context.ts';
import { configOption, jobProfileOption } from '../../command-line/options.ts';
import { pauseJob } from '../../jobs/pause-job.ts';

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
    await pauseJob(this, true, this.context);
    return 0;
  }
}
