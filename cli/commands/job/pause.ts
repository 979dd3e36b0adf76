/** `hookwright job pause`: keeps a job from firing until it is resumed. */
import { argument, command } from '../../command-line/command.ts';
import { configOption, jobProfileOption, pauseOption } from '../../command-line/options.ts';
import { pauseJob } from '../../jobs/edit-job.ts';

export default command({
  summary: 'Keep a job from firing, for a time or until it is resumed; events for it are dropped',
  details: 'Works for jobs of the config too. A run under way goes on.',
  examples: [
    ['Until further notice', '$0 job pause report'],
    ['For an hour', '$0 job pause report --for 1h'],
  ],
  options: { for: pauseOption, profile: jobProfileOption, config: configOption },
  args: { reference: argument('job') },
  run: (context, given) => pauseJob(given, true, context),
});
