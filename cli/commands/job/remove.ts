/** `hookwright job remove`: removes a job that was made at run time. */
import { CliError } from '../../base/errors.ts';
import { argument, command } from '../../command-line/command.ts';
import { configOption, jobProfileOption } from '../../command-line/options.ts';
import { openJob, recordOf } from '../../jobs/open-jobs.ts';
import { printLine, printNote } from '../../output/print.ts';
import { makeStore } from '../../store/use-store.ts';

export default command({
  summary: 'Remove a job; its history stays until its time is over',
  details: 'A job of the config is removed where it is written. A run under way goes on to its end.',
  examples: [['By name or id', '$0 job remove report']],
  options: { profile: jobProfileOption, config: configOption },
  args: { reference: argument('job') },
  async run(context, given) {
    const { open, job } = await openJob(context, given);
    const { id, name, profile } = recordOf(open, job);
    const removed = await makeStore(context, (store) => store.write({ kind: 'remove_job', id }));
    if (!removed) throw new CliError(`the job "${name}" was removed already`);
    printLine(context, `job ${name} (${id}) removed`);
    const routes = Object.values(open.table.routes).filter(
      (route) => route.cron_job === id && route.profile === profile,
    );
    for (const route of routes)
      printNote(context, `warning: route ${route.name} still names it; its events are ignored`);
  },
});
