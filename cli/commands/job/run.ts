/** `hookwright job run`: runs a job now, outside of its schedule. */
import { placeInTable } from '../../../runtime/deliver/http/shown-place.ts';
import { manualDispatch } from '../../../runtime/dispatch/scheduler/job-dispatch.ts';
import { createIds } from '../../../runtime/platform/ids.ts';
import { CliError } from '../../base/errors.ts';
import { argument, command } from '../../command-line/command.ts';
import { configOption, jobProfileOption, jsonOption } from '../../command-line/options.ts';
import { openJob } from '../../jobs/open-jobs.ts';
import { noteUnserved } from '../../jobs/print-job.ts';
import { printJson, printLine } from '../../output/print.ts';
import { makeStore } from '../../store/use-store.ts';

export default command({
  summary: 'Run a job now, whatever its schedule says',
  details: 'Also when it is paused. Does nothing when a run of it is under way. The run itself is made by the gateway.',
  examples: [['Try it out', '$0 job run report']],
  options: { profile: jobProfileOption, config: configOption, json: jsonOption },
  args: { reference: argument('job') },
  async run(context, given) {
    const { open, job } = await openJob(context, given);
    const now = context.clock.now();
    const dispatch = manualDispatch(
      job,
      { ...open.table, place: placeInTable(open.table) },
      { id: createIds(context.random).dispatch(now), now },
    );
    const fired = await makeStore(context, (store) =>
      store.write({
        ...{ kind: 'fire_job', job: job.id, paused: job.paused, now, dispatch, claim: null },
        ...{ even_paused: true },
      }),
    );
    if (fired.kind !== 'stored')
      throw new CliError(`job "${job.name}" is running already`, `hookwright job show ${job.name}`);
    if (given.json) printJson(context, { job: job.id, dispatch: dispatch.id });
    else
      printLine(
        context,
        `job ${job.name} (${job.id}) runs as ${dispatch.id}; hookwright deliveries show ${dispatch.id}`,
      );
    noteUnserved(context, open, 'runs');
  },
});
