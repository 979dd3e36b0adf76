/** `hookwright job resume`: lets a paused job fire again, from now on. */
import { argument, command } from '../../command-line/command.ts';
import { configOption, jobProfileOption } from '../../command-line/options.ts';
import { pauseJob } from '../../jobs/edit-job.ts';

export default command({
  summary: 'Let a paused job fire again, from now on',
  details: 'What was due meanwhile is not made up for. Also for a job that the config pauses.',
  examples: [['Go on', '$0 job resume report']],
  options: { profile: jobProfileOption, config: configOption },
  args: { reference: argument('job') },
  run: (context, given) => pauseJob(given, false, context),
});
