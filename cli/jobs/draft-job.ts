/** Creates a job on the command line: reads its options, checks, stores and prints it. */
import { targetLabel } from '../../base/text.ts';
import type { Problem } from '../../compiler/diagnostics/diagnostic.ts';
import { isError } from '../../compiler/diagnostics/rule.ts';
import { describeSchedule } from '../../compiler/schedule/describe-schedule.ts';
import { isTimeZone, nextRuns, timeZones } from '../../compiler/schedule/parse-schedule.ts';
import { checkShape } from '../../compiler/schema/validate.ts';
import { compileJob } from '../../compiler/stages/compile-route.ts';
import { present } from '../../compiler/text/plain-data.ts';
import { didYouMean } from '../../compiler/text/suggest.ts';
import { homeTarget, jobSignature } from '../../runtime/dispatch/scheduler/job.ts';
import type { Store } from '../../runtime/store/contract.ts';
import type { JobRecord } from '../../runtime/store/records.ts';
import type { SavedJobReport } from '../../schemas/built/operations/types.ts';
import type { JobConfig, JobPlan, ProfilePlan, RouteTable } from '../../schemas/generated/types.ts';
import type { CliContext } from '../base/context.ts';
import { CliError, UsageError } from '../base/errors.ts';
import type { ValuesOf } from '../command-line/command.ts';
import { parsed, text } from '../command-line/command.ts';
import { approveOption, budgetOption, chatIdOption, descriptionOption } from '../command-line/options.ts';
import { parseChoice, parseList } from '../command-line/values.ts';
import { printJson, printLine, printNote, visible } from '../output/print.ts';
import { formatInstant } from '../output/table.ts';
import type { OpenTable } from '../subscriptions/routes.ts';
import { describeProblem } from '../subscriptions/routes.ts';
import { parseBudgetFlag } from '../subscriptions/save-entry.ts';

export interface JobDraft {
  readonly name: string;
  readonly profile: string;
  /** As written in a config. */
  readonly config: JobConfig & { readonly timezone: string };
}

/** A created or changed job. */
export interface SavedJob {
  readonly record: JobRecord;
  readonly warnings: readonly string[];
}

export type DraftTable = Pick<OpenTable, 'table' | 'facts' | 'rules'>;

const NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;

const describe = (problem: Problem): string => describeProblem(problem, problem.path);

export function profileOf({ table }: DraftTable, name: string): ProfilePlan {
  const profile = Object.hasOwn(table.profiles, name) ? table.profiles[name] : undefined;
  if (profile !== undefined) return profile;
  throw new CliError(`there is no profile "${name}"`, `profiles: ${Object.keys(table.profiles).join(', ')}`);
}

/** `origin` without a home channel is allowed but rarely intended. */
function homeWarning({ deliver }: JobPlan, profile: ProfilePlan, { targets }: RouteTable): string[] {
  if (!deliver.some(({ target }) => target === 'origin') || homeTarget(profile, targets) !== null) return [];
  return ['deliver: no enabled target has a home_channel, so `origin` only stores the result'];
}

/** @throws CliError listing every error; UsageError for an invalid name. */
export function checkDraft(
  { name, profile, config }: JobDraft,
  open: DraftTable,
): Omit<SavedJob, 'record'> & { readonly plan: JobPlan } {
  if (!NAME.test(name)) {
    throw new UsageError(`invalid job name "${name}"`, 'use at most 64 lower-case letters, digits, `_` and `-`');
  }
  const plan = profileOf(open, profile);
  const refuse = (problems: readonly Problem[]): never => {
    throw new CliError(`job "${name}" is invalid; nothing was stored`, ...problems.filter(isError).map(describe));
  };
  const misshapen = checkShape('profile', { jobs: { [name]: config } });
  if (misshapen.length > 0) return refuse(misshapen.map((problem) => ({ ...problem, path: problem.path.slice(2) })));
  const scope = { ...open, payloads: null, invalidNames: new Set<string>() };
  const compiled = compileJob({ name, config, profile: plan, at: { file: '', line: 0 } }, scope);
  if (compiled.plan === null) return refuse(compiled.problems);
  return {
    plan: compiled.plan,
    warnings: [
      ...compiled.problems.filter(({ message }) => message !== '').map(describe),
      ...homeWarning(compiled.plan, plan, open.table),
    ],
  };
}

/** The record of a checked draft. @param toolsets null for the toolsets of the profile at each run */
export function recordOfPlan(
  plan: JobPlan,
  rest: Pick<JobRecord, 'id' | 'created_at' | 'blueprint' | 'toolsets' | 'timezone'>,
): JobRecord {
  const { name, profile, description, schedule, prompt, deliver, agent, skills, misfire, budget } = plan;
  const limited = budget === undefined ? {} : { budget };
  return { ...rest, name, profile, description, schedule, prompt, deliver, agent, skills, misfire, ...limited };
}

/** An option with a comma-separated list of names. */
export const namesOption = (description: string) => parsed('names', description, parseList);

export const misfireOption = (description: string) =>
  parsed('rule', description, (given, option) => parseChoice(given, option, ['skip', 'once'] as const));

/** The options that describe a job. */
export const JOB_OPTIONS = {
  schedule: text('cron', 'Minute, hour, day of month, month, day of week'),
  prompt: text('text', 'Prompt of each run'),
  deliver: text(
    'target',
    'Targets, separated by commas; `origin`: a home channel; `local`: only store the answer; default: log',
  ),
  deliverChatId: chatIdOption,
  approve: approveOption,
  agent: text('name', 'Agent to run, by its name in `agents`; `none`: run no agent, the prompt is the message'),
  skills: namesOption('Skills of the agent, separated by commas'),
  toolsets: namesOption("Toolsets, separated by commas; default: the profile's"),
  timezone: text('zone', "IANA time zone; default: gateway.timezone, or else the machine's"),
  misfire: misfireOption('Runs missed while no gateway ran: skip them (skip, default) or run once (once)'),
  budget: budgetOption,
  description: descriptionOption,
};

/** The keys of a job that the options set. @throws UsageError */
export function configFromFlags(flags: ValuesOf<typeof JOB_OPTIONS>): Partial<JobConfig> {
  const { schedule, prompt, deliver, deliverChatId, approve, skills, toolsets, misfire, budget, description } = flags;
  const [first, ...others] = parseList(deliver ?? '');
  return present({
    schedule,
    prompt,
    deliver: first === undefined || others.length === 0 ? first : [first, ...others],
    deliver_extra: deliverChatId === undefined ? undefined : { chat_id: deliverChatId },
    approve,
    agent: flags.agent || undefined,
    skills,
    toolsets,
    misfire,
    budget: budget ? parseBudgetFlag(budget) : undefined,
    description,
  });
}

type NewJob = JobDraft & Pick<JobRecord, 'blueprint'>;

export interface JobScope {
  readonly store: Store;
  readonly open: DraftTable;
  readonly context: Pick<CliContext, 'clock' | 'random'>;
  /** Checks the job and stores nothing. */
  readonly isDryRun?: boolean;
}

export const nameInUse = (name: string): CliError =>
  new CliError(`there is a job "${name}" already`, `change it: hookwright job edit ${name}`, 'or choose another name');

type Named = Pick<JobRecord, 'name' | 'profile'> & { readonly id?: string };

/** A name is neither the name nor the id of another job of the profile, so that it means one job. @throws CliError */
export function checkName({ id, name, profile }: Named, jobs: readonly Pick<JobRecord, 'id' | 'name' | 'profile'>[]) {
  const others = jobs.filter((job) => job.profile === profile && job.id !== id);
  if (others.some((job) => [job.id, job.name].includes(name))) throw nameInUse(name);
}

/** Easy to read aloud and to type, without similar characters. */
const ALPHABET = 'abcdefghjkmnpqrstuvwxyz23456789';
const ID_LENGTH = 6;

function newId(random: CliContext['random'], isTaken: (id: string) => boolean): string {
  for (;;) {
    const id = [...random(ID_LENGTH)].map((byte) => ALPHABET[byte % ALPHABET.length]).join('');
    if (!isTaken(id)) return id;
  }
}

/**
 * @param numbered appends a number to a name that is in use, instead of rejecting it
 * @throws CliError if the job is invalid; nothing is stored then
 */
export async function createJob(
  job: NewJob,
  { store, open, context, isDryRun = false }: JobScope,
  numbered = false,
): Promise<SavedJob> {
  const { plan, warnings } = checkDraft(job, open);
  const { blueprint, config } = job;
  const { timezone } = config;
  const { records } = await store.read({ kind: 'jobs' });
  const configured = Object.values(open.table.jobs);
  const known = new Set([...configured, ...records].flatMap(({ id, name }) => [id, name]));
  const own = configured.filter(({ profile }) => profile === job.profile).map(({ name }) => name);
  if (!numbered) checkName(job, [...configured, ...records]);
  const now = context.clock.now();
  const toolsets = config.toolsets === undefined ? null : plan.toolsets;
  const id = newId(context.random, (candidate) => known.has(candidate));
  const record = recordOfPlan(plan, { id, created_at: now, blueprint, toolsets, timezone });
  if (isDryRun) return { record, warnings };
  const put = { kind: 'put_job', job: record, expect: 'new' } as const;
  const stored = await store.write(numbered ? { ...put, numbered_beside: own } : put);
  if (stored.kind !== 'stored') throw nameInUse(job.name);
  // The schedule applies from now on, even if no gateway is running.
  await store.write({ kind: 'watch_job', job: record.id, signature: jobSignature(record), now });
  return { record: { ...record, name: stored.name }, warnings };
}

interface PrintedJob extends SavedJob {
  /** `created`, `changed`. */
  readonly verb: string;
  readonly open: Pick<OpenTable, 'table' | 'url'>;
}

const REPORTED_RUNS = 3;

/** A created or changed job, for other programs. @param now Unix ms */
export function reportSaved({ record, warnings }: SavedJob, now: number): SavedJobReport {
  const { id, name, schedule, timezone, prompt } = record;
  const next = nextRuns({ schedule, timezone, from: now, count: REPORTED_RUNS });
  const next_runs = next.map((at) => new Date(at).toISOString());
  const deliver = record.deliver.map(targetLabel);
  const schedule_human = describeSchedule(schedule);
  return { id, name, schedule, schedule_human, timezone, deliver, prompt, next_runs, warnings };
}

/** Prints a created or changed job and its next run. */
export function printJob(context: CliContext, { record, warnings, verb, open }: PrintedJob, json: boolean): void {
  for (const warning of warnings) printNote(context, `warning: ${visible(warning)}`);
  const { id, name, timezone, schedule_human, deliver, next_runs } = reportSaved(
    { record, warnings },
    context.clock.now(),
  );
  const [next = null] = next_runs;
  if (json) {
    printJson(context, { ...record, deliver, next_run: next });
    return;
  }
  printLine(context, `job ${name} (${id}) ${verb}`);
  const at = next === null ? 'never' : formatInstant(Date.parse(next), timezone);
  printLine(context, `runs ${schedule_human} in ${timezone}; next: ${at}`);
  noteUnserved(context, open, 'fires');
}

/** Notes that no gateway is running, if so. @param verb `runs` or `fires` */
export function noteUnserved(
  context: CliContext,
  { table, url }: Pick<OpenTable, 'table' | 'url'>,
  verb: string,
): void {
  if (url !== null) return;
  printNote(
    context,
    table.gateway.store.kind === 'postgres'
      ? `no gateway is running here; the job ${verb} on one that shares the database`
      : `no gateway is running; the job ${verb} once you start one: hookwright gateway start`,
  );
}

/** @throws UsageError if it is not an IANA zone */
export function chooseTimezone(requestedZone: string | undefined, otherwise: string): string {
  if (requestedZone === undefined) return otherwise;
  if (isTimeZone(requestedZone)) return requestedZone;
  throw new UsageError(
    `unknown time zone "${requestedZone}"${didYouMean(requestedZone, timeZones())}`,
    'time zones have names such as Europe/Berlin',
  );
}
