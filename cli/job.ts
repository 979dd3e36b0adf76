/** `hookwright job`: creates, lists, changes and runs scheduled prompts. */

import { DEFAULT_PROFILE } from '../base/names.ts';
import type { Paint } from '../base/paint.ts';
import { createPaint } from '../base/paint.ts';
import { destinationInTable } from '../runtime/deliver/http/link-variant.ts';
import type { Job } from '../runtime/dispatch/scheduler/job.ts';
import type { JobTick } from '../runtime/store/records.ts';
import { isJobPaused, NO_STATE } from '../runtime/store/records.ts';
import { amountsText } from '../runtime/store/usage.ts';
import type { JobReport } from '../schemas/built/operations/types.ts';
import type { CliContext } from './base/context.ts';
import { CliError, UsageError } from './base/errors.ts';
import { argument, command, text, withDefault } from './command-line/command.ts';
import { arrayOption, byOption, configOption, jsonOption, pauseOption } from './command-line/options.ts';
import {
  chooseTimezone,
  configFromFlags,
  createJob,
  JOB_OPTIONS,
  misfireOption,
  namesOption,
  noteUnserved,
  printJob,
} from './jobs/draft-job.ts';
import { editJob, routesOf } from './jobs/edit-job.ts';
import type { JobDetails, JobReference } from './jobs/open-jobs.ts';
import { fireJob, openJob, openJobs, readHistory, readJobs, recordOf, reportJob } from './jobs/open-jobs.ts';
import { printJson, printLine, printNote, visible } from './output/print.ts';
import type { Column } from './output/table.ts';
import {
  describeAction,
  describePause,
  formatDuration,
  formatInstant,
  pausedUntil,
  printList,
} from './output/table.ts';
import { makeStore, useStore } from './store/use-store.ts';

/** Jobs of several profiles may have the same name. */
const jobProfileOption = text('profile', 'Profile of the job');

/** `hookwright job create`: creates a scheduled job outside the config. */
export const jobCreateCommand = command({
  options: {
    ...JOB_OPTIONS,
    profile: withDefault(DEFAULT_PROFILE, text('profile', 'Profile of the job')),
    by: byOption,
    config: configOption,
    json: jsonOption,
  },
  args: { name: argument('name') },
  async run(context, given) {
    const { schedule, prompt } = given;
    if (schedule === undefined) throw new UsageError('--schedule is missing', "for instance --schedule '0 8 * * 1-5'");
    if (prompt === undefined) throw new UsageError('--prompt is missing');
    const open = await openJobs(context, given.config);
    const timezone = chooseTimezone(given.timezone, open.table.gateway.timezone ?? context.timezone);
    const config = { ...configFromFlags(given), schedule, prompt, timezone };
    const createdJob = await makeStore(context, (store) =>
      createJob({ name: given.name, profile: given.profile, config, blueprint: null }, { store, open, context }),
    );
    printJob(context, { ...createdJob, verb: 'created', open }, given.json);
  },
});

/** `hookwright job list`: all jobs with their next run and last result. */
export const jobListCommand = command({
  options: { profile: text('profile', 'Only jobs of this profile'), config: configOption, json: arrayOption },
  async run(context, given) {
    const { profile } = given;
    const open = await openJobs(context, given.config);
    const now = context.clock.now();
    const jobs = [...open.jobs.values()]
      .filter((job) => profile === undefined || job.profile === profile)
      .sort((a, b) => (a.name < b.name ? -1 : 1));
    const options = { now, next: 1, runs: 1 };
    const histories = await useStore(context, async (store) => {
      const stored = await readJobs(store);
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
      empty: 'no jobs; to create one: hookwright job create, or hookwright blueprint create',
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

const NEXT = 5;
const RUNS = 5;
const TICKS = 5;

/** `hookwright job show`: one job with its next five runs, its last runs, and missed runs. */
export const jobShowCommand = command({
  options: { profile: jobProfileOption, config: configOption, json: jsonOption },
  args: { reference: argument('job') },
  async run(context, given) {
    const { open, job } = await openJob(context, given);
    const options = { now: context.clock.now(), next: NEXT, runs: RUNS };
    const history = await useStore(context, async (store) => readHistory(store, job, await readJobs(store), RUNS));
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
    `${paint('bold', name)} (${id}) is ${state === 'paused' ? describePause(true, msOf(report.paused_until)) : state}`,
    ...(job.description === null ? [] : [`  ${visible(job.description)}`]),
    field('schedule', `${report.schedule_human} (${report.schedule}) in ${timezone}`),
    field('deliver', deliver.join(', ')),
    field('missed', misfire === 'once' ? 'run once after a downtime' : 'skipped'),
    ...(job.budget === undefined ? [] : [field('budget', `${amountsText(job.budget)} per ${job.budget.per}`)]),
    ...(report.last_action === null ? [] : [field('last', describeAction(report.last_action))]),
    ...(report.changed_by === null ? [] : [field('changed by', report.changed_by)]),
    field('profile', profile),
    field('stored in', kind === 'static' ? 'the config' : 'the store'),
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
  if (outcome === 'budget') return `${at}  a budget was used up`;
  if (outcome === 'overlapped') return `${at}  the previous run was in progress`;
  const before = outcome === 'fired' ? 'before it ' : 'up to it ';
  return `${at}  ${before}${missed} missed: no gateway was running`;
}

/** `hookwright job edit`: changes a job that was created at run time. */
export const jobEditCommand = command({
  options: {
    name: text('name', 'New name; the id stays'),
    ...JOB_OPTIONS,
    deliver: text('target', 'Targets, separated by commas; `origin`: a home channel; `local`: only store the answer'),
    skills: namesOption('Skills, separated by commas; empty for none'),
    toolsets: namesOption('Toolsets by comma'),
    timezone: text('zone', 'IANA time zone'),
    misfire: misfireOption('What happens to missed runs: skip or once'),
    profile: jobProfileOption,
    by: byOption,
    config: configOption,
    json: jsonOption,
  },
  args: { reference: argument('job') },
  async run(context, given) {
    const config = configFromFlags(given);
    if (config.deliver_extra !== undefined && config.deliver === undefined) {
      throw new UsageError('--deliver-chat-id needs --deliver', 'add the target of the chat: --deliver <target>');
    }
    const unlimited = given.budget === '';
    if (!unlimited && Object.keys(config).length === 0 && given.name === undefined && given.timezone === undefined) {
      throw new UsageError('nothing to change', 'to list the options: hookwright job edit --help');
    }
    const { open, job } = await openJob(context, given);
    const record = recordOf(open, job);
    const timezone = given.timezone === undefined ? undefined : chooseTimezone(given.timezone, '');
    const change = { name: given.name, timezone, config, unlimited };
    const edited = await makeStore(context, (store) => editJob(record, change, { store, open, context }));
    printJob(context, { ...edited, verb: 'changed', open }, given.json);
  },
});

/** `hookwright job pause`: pauses a job for a time or until it is resumed. */
export const jobPauseCommand = command({
  options: { for: pauseOption, profile: jobProfileOption, by: byOption, config: configOption },
  args: { reference: argument('job') },
  run: (context, given) => pauseJob(given, true, context),
});

/** `hookwright job resume`: resumes a paused job. */
export const jobResumeCommand = command({
  options: { profile: jobProfileOption, by: byOption, config: configOption },
  args: { reference: argument('job') },
  run: (context, given) => pauseJob(given, false, context),
});

/** `hookwright job remove`: removes a job that was created at run time. */
export const jobRemoveCommand = command({
  options: { profile: jobProfileOption, by: byOption, config: configOption },
  args: { reference: argument('job') },
  async run(context, given) {
    const { open, job } = await openJob(context, given);
    const { id, name, profile } = recordOf(open, job);
    const removed = await makeStore(context, (store) => store.write({ kind: 'remove_job', id }));
    if (!removed) throw new CliError(`the job "${name}" was removed already`);
    printLine(context, `job ${name} (${id}) removed`);
    for (const route of routesOf({ id, profile }, Object.values(open.table.routes)))
      printNote(context, `warning: route ${route} still fires this job; its events are now ignored`);
  },
});

/** `hookwright job run`: runs a job now, regardless of its schedule. */
export const jobRunCommand = command({
  options: { profile: jobProfileOption, by: byOption, config: configOption, json: jsonOption },
  args: { reference: argument('job') },
  async run(context, given) {
    const { open, job } = await openJob(context, given);
    const table = { ...open.table, place: destinationInTable(open.table) };
    const id = await makeStore(context, (store) => fireJob(store, job, table, context));
    if (id === null) throw new CliError(`job "${job.name}" is running`, `to see it: hookwright job show ${job.name}`);
    if (given.json) printJson(context, { job: job.id, dispatch: id });
    else printLine(context, `job ${job.name} (${job.id}) runs as ${id}; to see it: hookwright deliveries show ${id}`);
    noteUnserved(context, open, 'runs');
  },
});

/** @throws CliError when there is no such job */
export async function pauseJob(
  reference: JobReference & { readonly for?: number | undefined },
  paused: boolean,
  context: CliContext,
): Promise<void> {
  const { id, name, paused: configured } = (await openJob(context, reference)).job;
  const now = context.clock.now();
  const until = pausedUntil(reference.for, now);
  const isChange = await makeStore(context, async (store) => {
    const { states } = await store.read({ kind: 'jobs' });
    if (!paused && !isJobPaused(states[id] ?? NO_STATE, configured, now)) return false;
    await store.write({ kind: 'pause_job', job: id, paused, until, now });
    return true;
  });
  printLine(context, `job ${name} (${id}) ${isChange ? describePause(paused, until) : 'was not paused'}`);
}
