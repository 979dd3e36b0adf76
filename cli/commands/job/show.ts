/** `hookwright job show`: one job, its next five runs, its last ones, and what was missed. */

import type { Paint } from '../../../base/paint.ts';
import { createPaint } from '../../../base/paint.ts';
import type { Job } from '../../../runtime/dispatch/scheduler/job.ts';
import { budgetAmounts } from '../../../runtime/store/budget.ts';
import type { JobTick } from '../../../runtime/store/job-mutations.ts';
import { argument, command } from '../../command-line/command.ts';
import { configOption, jobProfileOption, jsonOption } from '../../command-line/options.ts';
import type { JobDetails } from '../../jobs/describe-job.ts';
import { readHistory, reportJob } from '../../jobs/describe-job.ts';
import { openJob } from '../../jobs/open-jobs.ts';
import { describePause } from '../../output/pause.ts';
import { printJson, printLine, visible } from '../../output/print.ts';
import { formatInstant } from '../../output/time.ts';
import { useStore } from '../../store/use-store.ts';

const NEXT = 5;
const RUNS = 5;
const TICKS = 5;

export default command({
  summary: 'Show a job: its prompt, its next five runs, its last ones, and what was missed',
  examples: [['By name or id', '$0 job show report']],
  options: { profile: jobProfileOption, config: configOption, json: jsonOption },
  args: { reference: argument('job') },
  async run(context, given) {
    const { open, job } = await openJob(context, given);
    const options = { now: context.clock.now(), next: NEXT, runs: RUNS, targets: open.table.targets };
    const history = await useStore(context, async (store) =>
      readHistory(store, job, await store.read({ kind: 'jobs' }), RUNS),
    );
    const report = reportJob(job, history, options);
    const { prompt, skills, toolsets, budget = null } = job;
    const blueprint = open.records.find(({ id }) => id === job.id)?.blueprint ?? null;
    if (given.json) printJson(context, { ...report, prompt, skills, toolsets, budget, blueprint });
    else for (const line of describe(job, report, createPaint(context.colour.stdout))) printLine(context, line);
  },
});

function describe(job: Job, report: JobDetails, paint: Paint): string[] {
  const { id, name, profile, kind, state, timezone, deliver, misfire } = report;
  const field = (label: string, text: string): string => `  ${label.padEnd(10)} ${visible(text)}`;
  const at = (iso: string): string => formatInstant(Date.parse(iso), timezone);
  return [
    `${paint('bold', name)} (${id}) is ${state === 'paused' ? describePause(true, report.paused_until === null ? null : Date.parse(report.paused_until)) : state}`,
    ...(job.description === null ? [] : [`  ${visible(job.description)}`]),
    field('schedule', `${report.schedule_human} (${report.schedule}) in ${timezone}`),
    field('deliver', deliver.join(', ')),
    field('missed', misfire === 'once' ? 'runs once after a downtime' : 'skipped'),
    ...(job.budget === undefined ? [] : [field('budget', `${budgetAmounts(job.budget)} per ${job.budget.per}`)]),
    field('profile', profile),
    field('kept in', kind === 'static' ? 'the config' : 'the store'),
    ...list('skills', job.skills),
    ...list('toolsets', job.toolsets),
    '',
    'Prompt:',
    ...job.prompt
      .trimEnd()
      .split('\n')
      .map((line) => `  ${visible(line)}`),
    ...section(
      'Next runs:',
      report.next_runs.map((next) => `  ${at(next)}`),
    ),
    ...section(
      'Last runs:',
      report.runs.map(
        ({ started_at, event, state: ended, reason }) =>
          `  ${at(started_at)}  ${event}: ${ended}${reason === null ? '' : ` (${visible(reason)})`}`,
      ),
    ),
    ...section(
      `Not run (${report.missed} missed):`,
      report.ticks.slice(0, TICKS).map((tick) => `  ${describeTick(tick, timezone)}`),
    ),
  ];
}

const list = (label: string, names: readonly string[]): string[] =>
  names.length === 0 ? [] : [`  ${label.padEnd(10)} ${visible(names.join(', '))}`];

const section = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : ['', title, ...lines];

function describeTick({ due_at, outcome, missed }: JobTick, timezone: string): string {
  const at = formatInstant(due_at, timezone);
  if (outcome === 'budget') return `${at}  a budget was full`;
  if (outcome === 'overlapped') return `${at}  the run before was still under way`;
  const before = outcome === 'fired' ? 'before it ' : 'up to it ';
  return `${at}  ${before}${missed} missed: no gateway was running`;
}
