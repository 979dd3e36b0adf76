/** Finds and describes jobs of the configuration and of the store. */

import { join } from 'node:path';
import { targetLabel } from '../../base/text.ts';
import { createMachineFacts } from '../../compiler/node/machine-facts.ts';
import { nodeFiles } from '../../compiler/node/node-files.ts';
import { rulesInForce } from '../../compiler/rules/registry.ts';
import { describeSchedule } from '../../compiler/schedule/describe-schedule.ts';
import { nextRuns } from '../../compiler/schedule/parse-schedule.ts';
import type { Files } from '../../compiler/source/files.ts';
import { searchConfig } from '../../compiler/source/search-config.ts';
import type { Job } from '../../runtime/dispatch/scheduler/job.ts';
import { listJobs, manualDispatch } from '../../runtime/dispatch/scheduler/job.ts';
import { createIds } from '../../runtime/platform/ids.ts';
import type { OperatedService } from '../../runtime/service/options.ts';
import { readActions } from '../../runtime/store/actions.ts';
import type { Store } from '../../runtime/store/contract.ts';
import type { DispatchSummary } from '../../runtime/store/queries.ts';
import type { JobRecord, JobState, JobTick } from '../../runtime/store/records.ts';
import { isJobPaused, NO_STATE, pauseEnd } from '../../runtime/store/records.ts';
import type { JobReport, JobRun } from '../../schemas/built/operations/types.ts';
import type { CliContext } from '../base/context.ts';
import { CliError, findName } from '../base/errors.ts';
import { compileRequest, createCompileRequest } from '../compile/compile-files.ts';
import { loadRules } from '../compile/compiler-parts.ts';
import { readStoredJobs } from '../store/use-store.ts';
import type { OpenTable } from '../subscriptions/routes.ts';
import { openTable } from '../subscriptions/routes.ts';
import type { DraftTable } from './draft-job.ts';

/** The jobs of the configuration and of the store, as the scheduler sees them. */
interface OpenJobs extends OpenTable {
  /** The jobs of the store. */
  readonly records: readonly JobRecord[];
  /** All jobs by id. */
  readonly jobs: ReadonlyMap<string, Job>;
}

/** A home without a config can have jobs: it is treated as if it had an empty config. */
function withEmptyConfig(path: string): Files {
  return {
    ...nodeFiles,
    stat: (asked) => (asked === path ? { kind: 'file', size: 0, mode: 0o600 } : nodeFiles.stat(asked)),
    read: (asked) => (asked === path ? new Uint8Array() : nodeFiles.read(asked)),
  };
}

async function openTableOrEmpty(context: CliContext, configs: readonly string[] | undefined): Promise<OpenTable> {
  const path = join(context.home, 'config.yaml');
  if (configs !== undefined || searchConfig(nodeFiles, context).root !== null) {
    return openTable(context, configs);
  }
  const request = await createCompileRequest(context, { configs: [path] });
  const { output } = compileRequest(request, withEmptyConfig(path));
  if (output === null) throw new Error('an empty config does not compile');
  const facts = createMachineFacts(context, request.jobs);
  return { table: output.table, facts, rules: rulesInForce(request.modules), url: null };
}

/** @throws CliError if the config has errors or the store cannot be read */
export async function openJobs(context: CliContext, configs: readonly string[] | undefined): Promise<OpenJobs> {
  const open = await openTableOrEmpty(context, configs);
  const records = await readStoredJobs(context);
  return { ...open, records, jobs: listJobs(open.table, records, context.timezone) };
}

/** The job that a command line names. */
export interface JobReference {
  /** A name or an id. */
  readonly reference: string;
  readonly profile: string | undefined;
  readonly config: readonly string[] | undefined;
}

/** All jobs, and the named one. @throws CliError if there is no such job, or as `openJobs` */
export async function openJob(
  context: CliContext,
  { reference, profile, config }: JobReference,
): Promise<{ readonly open: OpenJobs; readonly job: Job }> {
  const open = await openJobs(context, config);
  return { open, job: findJob(open, reference, profile) };
}

/** Finds a job by id or name, or a prefix; a name in several profiles needs `profile`. @throws CliError */
export function findJob({ jobs }: Pick<OpenJobs, 'jobs'>, reference: string, profile?: string): Job {
  const all = [...jobs.values()].filter((job) => profile === undefined || job.profile === profile);
  const named = all.filter(({ id, name }) => name === reference && id !== reference);
  if (named.length > 1 && !all.some(({ id }) => id === reference)) {
    const ids = named.map((job) => `${job.id} (profile ${job.profile})`);
    throw new CliError(`${ids.length} jobs are called "${reference}"`, `choose one by its id: ${ids.join(', ')}`);
  }
  const known = [...all.map((job) => [job.id, job] as const), ...all.map((job) => [job.name, job] as const)];
  return findName({ kind: 'job', name: reference, known, listedBy: 'hookwright job list' });
}

/** The record of a job created at run time. @throws CliError with the position of a job of the config */
export function recordOf({ records, table }: Pick<OpenJobs, 'records' | 'table'>, job: Job): JobRecord {
  const record = records.find(({ id }) => id === job.id);
  if (job.kind === 'dynamic' && record !== undefined) return record;
  const at = table.jobs[job.id]?.at;
  const place = at === undefined ? 'in the config' : `${at.file}:${at.line}`;
  throw new CliError(`"${job.name}" is a job of the config`, `change it there: ${place}`);
}

/** What a new or changed job is checked against in a running gateway. */
export async function servedTable(
  context: CliContext,
  { table, jobs }: Pick<OperatedService, 'table' | 'jobs'>,
): Promise<DraftTable> {
  return { table, facts: createMachineFacts(context, jobs), rules: await loadRules(context.modules) };
}

/** Runs a job now, regardless of its schedule and a pause. @returns the id of the run; null while another is in progress */
export async function fireJob(
  store: Store,
  job: Job,
  table: Parameters<typeof manualDispatch>[1],
  { clock, random }: Pick<CliContext, 'clock' | 'random'>,
): Promise<string | null> {
  const now = clock.now();
  const dispatch = manualDispatch(job, table, { id: createIds(random).dispatch(now), now });
  const firing = { job: job.id, paused: job.paused, now, dispatch, claim: null, even_paused: true };
  const fired = await store.write({ kind: 'fire_job', ...firing });
  return fired.kind === 'stored' ? dispatch.id : null;
}

interface ReportOptions {
  readonly now: number;
  /** Number of next runs to include. */
  readonly next: number;
  readonly runs: number;
}

/** A job's state in the store. */
interface JobHistory extends Pick<JobReport, 'last_action'> {
  readonly state: JobState;
  /** Newest first. */
  readonly runs: readonly DispatchSummary[];
  readonly ticks: readonly JobTick[];
}

/** With the times at which it did not fire. */
export type JobDetails = JobReport & Pick<JobHistory, 'ticks'>;

const NO_HISTORY: JobHistory = { state: NO_STATE, last_action: null, runs: [], ticks: [] };

const iso = (ms: number): string => new Date(ms).toISOString();
/** Number of ticks that are searched for missed runs. */
const TICKS = 200;

function describeRun({ id, accepted_at, delivery_id, event, state, reason }: DispatchSummary): JobRun {
  const due = event === 'schedule' ? (delivery_id.split('@').at(-1) ?? null) : null;
  return { id, started_at: iso(accepted_at), due_at: due, event, state, reason };
}

/** The stored jobs and their states, with the latest actions of people. */
export async function readJobs(store: Store) {
  const of = [{ kind: 'jobs' }, { kind: 'guard_rows', of: 'action' }] as const;
  const [jobs, actions] = await Promise.all([store.read(of[0]), store.read(of[1])]);
  return { ...jobs, actions: readActions(actions) };
}

type ReadJobs = Awaited<ReturnType<typeof readJobs>>;

/** Reads the state of a job from the store. @param runs number of its latest runs */
export async function readHistory(store: Store, { id }: Job, jobs: ReadJobs, runs: number): Promise<JobHistory> {
  const [latest, ticks] = await Promise.all([
    store.read({ kind: 'list', filter: { job: id, limit: Math.max(1, runs) } }),
    store.read({ kind: 'job_ticks', job: id, limit: TICKS }),
  ]);
  return { state: jobs.states[id] ?? NO_STATE, last_action: jobs.actions.get(id) ?? null, runs: latest, ticks };
}

/** @param history null if nothing has ever been stored */
export function reportJob(job: Job, history: JobHistory | null, { now, next, runs }: ReportOptions): JobDetails {
  const { id, name, profile, kind, description, schedule, timezone, misfire } = job;
  const known = history ?? NO_HISTORY;
  const paused = isJobPaused(known.state, job.paused, now);
  const ends = paused ? pauseEnd(known.state) : null;
  const work = known.runs[0]?.state;
  const idle = paused ? 'paused' : 'active';
  const state = work === 'pending' ? 'queued' : work === 'running' ? 'running' : idle;
  // Times up to the cursor are not repeated if the clock was set back.
  const from = Math.max(now, known.state.cursor ?? now, ends ?? now);
  return {
    id,
    name,
    profile,
    kind,
    description,
    state,
    paused,
    schedule,
    paused_until: ends === null ? null : iso(ends),
    last_action: known.last_action,
    changed_by: job.by ?? null,
    schedule_human: describeSchedule(schedule),
    timezone,
    deliver: job.deliver.map(targetLabel),
    misfire,
    next_runs: paused && ends === null ? [] : nextRuns({ schedule, timezone, from, count: next }).map(iso),
    runs: known.runs.slice(0, runs).map(describeRun),
    missed: known.ticks.reduce((sum, tick) => sum + tick.missed, 0),
    ticks: known.ticks.filter(({ outcome, missed }) => outcome !== 'fired' || missed > 0),
  };
}
