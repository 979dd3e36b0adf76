/** `hookwright job list`: every job, when it runs next and how its last run ended. */
import type { JobReport } from '../../../schemas/built/operations/types.ts';
import { command, text } from '../../command-line/command.ts';
import { arrayOption, configOption } from '../../command-line/options.ts';
import { readHistory, reportJob } from '../../jobs/describe-job.ts';
import { openJobs } from '../../jobs/open-jobs.ts';
import { describePause } from '../../output/pause.ts';
import type { Column } from '../../output/table.ts';
import { printList } from '../../output/table.ts';
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
    printList(context, reports, {
      json: given.json,
      toJson: ({ next_runs, runs, ticks, ...rest }) => ({
        ...rest,
        next_run: next_runs[0] ?? null,
        last_run: runs[0] ?? null,
      }),
      columns: columns(now),
      empty: 'no jobs; make one: hookwright job create, or hookwright blueprint create',
    });
  },
});

function columns(now: number): readonly Column<JobReport>[] {
  return [
    { title: 'NAME', value: ({ name }) => name, whole: true },
    { title: 'ID', value: ({ id }) => id, whole: true },
    {
      title: 'STATE',
      value: ({ state, paused_until }) => (state === 'paused' ? describePause(true, msOf(paused_until)) : state),
    },
    { title: 'RUNS', value: ({ schedule_human }) => schedule_human, wrap: true },
    { title: 'NEXT', value: nextRun, wrap: true },
    { title: 'LAST', value: (job) => lastRun(job, now), wrap: true },
    { title: 'DELIVER', value: ({ deliver }) => deliver.join(','), whole: true },
    { title: 'PROFILE', value: ({ profile }) => profile, usual: 'default' },
  ];
}

const msOf = (instant: string | null): number | null => (instant === null ? null : Date.parse(instant));

const nextRun = ({ next_runs: [next], timezone }: JobReport): string =>
  next === undefined ? '' : formatInstant(Date.parse(next), timezone);

const lastRun = ({ runs: [last] }: JobReport, now: number): string =>
  last === undefined ? '' : `${last.state}, ${formatDuration(now - Date.parse(last.started_at))} ago`;
