/** `hookwright job list`: every job, when it runs next and how its last run ended. */
import { command, text } from '../../command-line/command.ts';
import { arrayOption, configOption } from '../../command-line/options.ts';
import type { JobReport } from '../../jobs/describe-job.ts';
import { readHistory, reportJob } from '../../jobs/describe-job.ts';
import { openJobs } from '../../jobs/open-jobs.ts';
import { printJson } from '../../output/print.ts';
import { printTable } from '../../output/table.ts';
import { formatDuration, formatInstant } from '../../output/time.ts';
import { useStore } from '../../store/use-store.ts';

export default command({
  summary: 'List the jobs: when each runs next, and how its last run ended',
  examples: [
    ['All of them', '$0 job list'],
    ['For a program', '$0 job list --json'],
  ],
  options: { profile: text('profile', 'Only jobs of this profile'), config: configOption, json: arrayOption },
  async run(context, given) {
    const { profile } = given;
    const open = await openJobs(context, given.config);
    const now = context.clock.now();
    const jobs = [...open.jobs.values()]
      .filter((job) => profile === undefined || job.profile === profile)
      .sort((a, b) => (a.name < b.name ? -1 : 1));
    const options = { now, next: 1, runs: 1, targets: open.table.targets };
    const histories = await useStore(context, async (store) => {
      const stored = await store.read({ kind: 'jobs' });
      return Promise.all(jobs.map((job) => readHistory(store, job, stored, options.runs)));
    });
    const reports = jobs.map((job, index) => reportJob(job, histories?.[index] ?? null, options));
    if (given.json) printJson(context, reports.map(describeJson));
    else
      printTable(
        context,
        reports,
        columns(now),
        'no jobs; make one: hookwright job create, or hookwright blueprint create',
      );
    return 0;
  },
});

function describeJson({ next_runs, runs, ticks, ...rest }: JobReport): unknown {
  return { ...rest, next_run: next_runs[0] ?? null, last_run: runs[0] ?? null };
}

function columns(now: number) {
  return [
    { title: 'NAME', value: ({ name }: JobReport) => name, whole: true as const },
    { title: 'ID', value: ({ id }: JobReport) => id, whole: true as const },
    { title: 'STATE', value: ({ state }: JobReport) => state },
    { title: 'RUNS', value: ({ schedule_human }: JobReport) => schedule_human, wrap: true as const },
    {
      title: 'NEXT',
      value: ({ next_runs: [next], timezone }: JobReport) =>
        next === undefined ? '' : formatInstant(Date.parse(next), timezone),
      wrap: true as const,
    },
    {
      title: 'LAST',
      value: ({ runs: [last] }: JobReport) =>
        last === undefined ? '' : `${last.state}, ${formatDuration(now - Date.parse(last.started_at))} ago`,
      wrap: true as const,
    },
    { title: 'DELIVER', value: ({ deliver }: JobReport) => deliver.join(','), whole: true as const },
    { title: 'PROFILE', value: ({ profile }: JobReport) => profile, usual: 'default' },
  ];
}
