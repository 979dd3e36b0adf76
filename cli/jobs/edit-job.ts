/** Changes a job that was created at run time, for `hookwright job edit` and for the console. */
import { DEFAULT_PROFILE } from '../../base/names.ts';
import { jobSignature } from '../../runtime/dispatch/scheduler/job.ts';
import type { JobRecord } from '../../runtime/store/records.ts';
import type { BudgetConfig, BudgetPlan, JobConfig, RouteConfig, RoutePlan } from '../../schemas/generated/types.ts';
import type { CliContext } from '../base/context.ts';
import { CliError } from '../base/errors.ts';
import { asEntry, updateSubscriptions } from '../subscriptions/subscription-file.ts';
import type { DraftTable, JobScope, SavedJob } from './draft-job.ts';
import { checkDraft, checkName, nameInUse, recordOfPlan } from './draft-job.ts';

export interface JobChange {
  readonly name?: string | undefined;
  readonly timezone?: string | undefined;
  readonly config: Partial<JobConfig>;
  /** Whether to remove the budget. */
  readonly unlimited?: boolean;
}

/**
 * The changed job, which is not stored. Unchanged addresses keep their compiled form except for their waiting time, because a
 * target may have been removed since. @throws CliError if the change is invalid
 */
function changedJob(
  record: JobRecord,
  { name = record.name, timezone = record.timezone, config, unlimited = false }: JobChange,
  open: DraftTable,
): SavedJob {
  const { description, schedule, prompt, misfire, profile } = record;
  const draft = {
    name,
    profile,
    config: {
      schedule,
      prompt,
      misfire,
      skills: [...record.skills],
      timezone,
      ...(description !== null && { description }),
      ...(typeof record.agent === 'string' && { agent: record.agent }),
      ...(record.budget !== undefined && !unlimited && { budget: budgetConfig(record.budget) }),
      ...(record.deliver[0]?.approve_ms !== undefined && { approve: true }),
      ...config,
    },
  };
  const { plan, warnings } = checkDraft(draft, open);
  const isMoved = config.deliver !== undefined || config.deliver_extra !== undefined;
  const toolsets = config.toolsets === undefined ? record.toolsets : plan.toolsets;
  const { id, created_at, blueprint } = record;
  const edited = recordOfPlan(plan, { id, created_at, blueprint, toolsets, timezone });
  const approve = plan.deliver[0]?.approve_ms === undefined ? {} : { approve_ms: plan.deliver[0].approve_ms };
  const deliver = record.deliver.map(({ approve_ms: _, ...delivery }) => ({ ...delivery, ...approve }));
  const fired = name === record.name ? [] : routesOf(record, Object.values(open.table.routes));
  const renamed = fired.map((route) => `route ${route} fires this job: its cron_job must be the new name or ${id}`);
  return { record: isMoved ? edited : { ...edited, deliver }, warnings: [...warnings, ...renamed] };
}

/** The job as written in a config. */
const budgetConfig = ({ per, ...limits }: BudgetPlan): BudgetConfig => ({
  ...Object.fromEntries(Object.entries(limits).filter(([, limit]) => limit !== null)),
  per,
});

/** The names of those routes that fire a job. */
export const routesOf = (
  { id, profile }: Pick<JobRecord, 'id' | 'profile'>,
  routes: readonly RoutePlan[],
): readonly string[] =>
  routes.filter((route) => route.cron_job === id && route.profile === profile).map(({ name }) => name);

/** @throws CliError if the change is invalid; nothing is stored then */
export async function editJob(
  record: JobRecord,
  change: JobChange,
  { store, open, context, isDryRun = false }: JobScope & { readonly context: CliContext },
): Promise<SavedJob> {
  const edited = changedJob(record, change, open);
  const { records } = await store.read({ kind: 'jobs' });
  checkName(edited.record, [...Object.values(open.table.jobs), ...records]);
  if (isDryRun) return edited;
  if (edited.record.name !== record.name) await nameById(context, record);
  const stored = await store.write({ kind: 'put_job', job: edited.record, expect: 'old' });
  if (stored.kind === 'name_taken') throw nameInUse(edited.record.name);
  if (stored.kind === 'unknown') throw new CliError(`the job "${record.name}" was removed in the meantime`);
  const signature = jobSignature(edited.record);
  const now = context.clock.now();
  // A new schedule applies from now on: an earlier time of today is not a missed run.
  if (signature !== jobSignature(record)) await store.write({ kind: 'watch_job', job: record.id, signature, now });
  return edited;
}

/** Lets subscriptions that name the job name it by its id. */
async function nameById(context: CliContext, { id, name, profile }: JobRecord): Promise<void> {
  const isOfJob = (entry: RouteConfig | null): entry is RouteConfig =>
    entry?.cron_job === name && (entry.profile ?? DEFAULT_PROFILE) === profile;
  await updateSubscriptions(context, (entries) => {
    const next = [...entries].map(
      ([key, entry]) => [key, isOfJob(asEntry(entry)) ? { ...asEntry(entry), cron_job: id } : entry] as const,
    );
    return { entries: new Map(next), result: null };
  });
}
