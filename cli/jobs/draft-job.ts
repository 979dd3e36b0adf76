/** Turns the user's description of a job into its record, checked by the rules for jobs in the configuration. */
import type { Problem } from '../../compiler/diagnostics/problem.ts';
import { isError } from '../../compiler/diagnostics/rule.ts';
import { checkShape } from '../../compiler/schema/validate.ts';
import { compileJob } from '../../compiler/stages/compile-job.ts';
import { homeTarget } from '../../runtime/dispatch/scheduler/job-dispatch.ts';
import type { JobRecord } from '../../runtime/store/job-mutations.ts';
import type { JobConfig, JobPlan, ProfilePlan } from '../../schemas/generated/types.ts';
import { CliError, UsageError } from '../base/errors.ts';
import { parseBudgetFlag, parseChoice, parseList } from '../command-line/values.ts';
import type { OpenTable } from '../subscriptions/open-table.ts';

export interface JobDraft {
  readonly name: string;
  readonly profile: string;
  /** As it would be written in a config. */
  readonly config: JobConfig & { readonly timezone: string };
}

/** A job that was made or changed. */
export interface SavedJob {
  readonly record: JobRecord;
  readonly warnings: readonly string[];
}

export type DraftTable = Pick<OpenTable, 'table' | 'facts' | 'rules'>;

const NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;

function describe({ path, message, hint, rule }: Problem): string {
  const place = path.length === 0 ? '' : `${path.join('.')}: `;
  return `${place}${message} (${rule})${hint === undefined ? '' : `; ${hint}`}`;
}

function profileOf({ table }: DraftTable, name: string): ProfilePlan {
  const profile = Object.hasOwn(table.profiles, name) ? table.profiles[name] : undefined;
  if (profile !== undefined) return profile;
  throw new CliError(`there is no profile "${name}"`, `there are: ${Object.keys(table.profiles).join(', ')}`);
}

/** `origin` without a home channel is allowed but rarely intended. */
function homeWarning({ deliver }: JobPlan, profile: ProfilePlan): string[] {
  if (!deliver.some(({ target }) => target === 'origin') || homeTarget(profile) !== null) return [];
  return ['deliver: no enabled target has a home_channel, so `origin` only saves the result'];
}

/** @throws CliError listing every error; UsageError for an invalid name. */
export function checkDraft(
  { name, profile, config }: JobDraft,
  open: DraftTable,
): Omit<SavedJob, 'record'> & { readonly plan: JobPlan } {
  if (!NAME.test(name)) {
    throw new UsageError(`"${name}" is no job name`, 'names are lower-case letters, digits, `_` and `-`, at most 64');
  }
  const plan = profileOf(open, profile);
  const refuse = (problems: readonly Problem[]): never => {
    throw new CliError(`job "${name}" is refused, nothing was stored`, ...problems.filter(isError).map(describe));
  };
  const misshapen = checkShape('profile', { jobs: { [name]: config } });
  if (misshapen.length > 0) return refuse(misshapen.map((problem) => ({ ...problem, path: problem.path.slice(2) })));
  const scope = { ...open, payloads: null, invalidNames: new Set<string>() };
  const compiled = compileJob({ name, config, profile: plan, at: { file: '', line: 0 } }, scope);
  if (compiled.plan === null) return refuse(compiled.problems);
  return { plan: compiled.plan, warnings: [...compiled.problems.map(describe), ...homeWarning(compiled.plan, plan)] };
}

/** The record of a checked draft. @param toolsets null: those that the profile has when the job runs */
export function recordOfPlan(
  plan: JobPlan,
  rest: Pick<JobRecord, 'id' | 'created_at' | 'blueprint' | 'toolsets' | 'timezone'>,
): JobRecord {
  const { name, profile, description, schedule, prompt, deliver, agent, skills, misfire, budget } = plan;
  const limited = budget === undefined ? {} : { budget };
  return { ...rest, name, profile, description, schedule, prompt, deliver, agent, skills, misfire, ...limited };
}

type JobFlag =
  | 'schedule'
  | 'prompt'
  | 'deliver'
  | 'deliverChatId'
  | 'agent'
  | 'skills'
  | 'toolsets'
  | 'misfire'
  | 'budget'
  | 'description';
type JobFlags = Readonly<Record<JobFlag, string | undefined>> & { readonly approve: boolean | undefined };

const MISFIRES = ['skip', 'once'] as const;

function deliverOf({ deliver, deliverChatId }: JobFlags): Pick<JobConfig, 'deliver' | 'deliver_extra'> {
  const [first, ...others] = parseList(deliver ?? '');
  return {
    ...(first === undefined ? {} : { deliver: others.length === 0 ? first : [first, ...others] }),
    ...(deliverChatId === undefined ? {} : { deliver_extra: { chat_id: deliverChatId } }),
  };
}

/** The keys of a job that the flags give; the others are left out. @throws UsageError */
export function configFromFlags(flags: JobFlags): Partial<JobConfig> {
  const { schedule, prompt, agent, skills, toolsets, misfire, budget, description, approve } = flags;
  return {
    ...(schedule === undefined ? {} : { schedule }),
    ...(prompt === undefined ? {} : { prompt }),
    ...deliverOf(flags),
    ...(approve === undefined ? {} : { approve }),
    ...(agent === undefined || agent === '' ? {} : { agent }),
    ...(skills === undefined ? {} : { skills: parseList(skills) }),
    ...(toolsets === undefined ? {} : { toolsets: parseList(toolsets) }),
    ...(misfire === undefined ? {} : { misfire: parseChoice(misfire, '--misfire', MISFIRES) }),
    ...(budget === undefined || budget === '' ? {} : { budget: parseBudgetFlag(budget) }),
    ...(description === undefined ? {} : { description }),
  };
}
