/** Changes a stored job: the settings that the flags name, or whether it fires. */
import { jobSignature } from '../../runtime/dispatch/scheduler/job.ts';
import type { JobRecord } from '../../runtime/store/job-mutations.ts';
import type { Store } from '../../runtime/store/store.ts';
import type { BudgetConfig, BudgetPlan, JobConfig } from '../../schemas/generated/types.ts';
import type { CliContext } from '../base/context.ts';
import { CliError } from '../base/errors.ts';
import { describePause, pausedUntil } from '../output/pause.ts';
import { printLine } from '../output/print.ts';
import { makeStore } from '../store/use-store.ts';
import type { DraftTable, SavedJob } from './draft-job.ts';
import { checkDraft, recordOfPlan } from './draft-job.ts';
import type { JobReference } from './open-jobs.ts';
import { openJob } from './open-jobs.ts';

export interface JobChange {
  readonly name: string | undefined;
  readonly timezone: string | undefined;
  readonly config: Partial<JobConfig>;
  /** The budget goes. */
  readonly unlimited: boolean;
}

/** Addresses that are not changed are kept as they were lowered, but for how long they wait: a target may have gone since. */
function applyChange(record: JobRecord, { name, timezone, config, unlimited }: JobChange, open: DraftTable): SavedJob {
  const { description, schedule, prompt, misfire, profile } = record;
  const draft = {
    name: name ?? record.name,
    profile,
    config: {
      ...{ schedule, prompt, misfire, skills: [...record.skills], timezone: timezone ?? record.timezone },
      ...(description === null ? {} : { description }),
      ...(typeof record.agent === 'string' ? { agent: record.agent } : {}),
      ...(record.budget === undefined || unlimited ? {} : { budget: budgetConfig(record.budget) }),
      ...(record.deliver[0]?.approve_ms === undefined ? {} : { approve: true }),
      ...config,
    },
  };
  const { plan, warnings } = checkDraft(draft, open);
  const isMoved = config.deliver !== undefined || config.deliver_extra !== undefined;
  const toolsets = config.toolsets === undefined ? record.toolsets : plan.toolsets;
  const { id, created_at, blueprint } = record;
  const edited = recordOfPlan(plan, { id, created_at, blueprint, toolsets, timezone: draft.config.timezone });
  const approve = plan.deliver[0]?.approve_ms === undefined ? {} : { approve_ms: plan.deliver[0].approve_ms };
  const deliver = record.deliver.map(({ approve_ms: _, ...delivery }) => ({ ...delivery, ...approve }));
  return { record: isMoved ? edited : { ...edited, deliver }, warnings };
}

/** As it would be written. */
const budgetConfig = ({ per, ...limits }: BudgetPlan): BudgetConfig => ({
  ...Object.fromEntries(Object.entries(limits).filter(([, limit]) => limit !== null)),
  per,
});

/** @throws CliError when the change cannot be made; nothing is stored then. */
export async function editJob(
  record: JobRecord,
  change: JobChange,
  { store, open, now }: { readonly store: Store; readonly open: DraftTable; readonly now: number },
): Promise<SavedJob> {
  const edited = applyChange(record, change, open);
  const stored = await store.write({ kind: 'put_job', job: edited.record, expect: 'old' });
  if (stored.kind === 'name_taken') throw new CliError(`there is a job "${edited.record.name}" already`);
  if (stored.kind === 'unknown') throw new CliError(`the job "${record.name}" was removed meanwhile`);
  const signature = jobSignature(edited.record);
  // With another schedule it counts from now on: an earlier time of today has not been missed.
  if (signature !== jobSignature(record)) await store.write({ kind: 'watch_job', job: record.id, signature, now });
  return edited;
}

/** @throws CliError when there is no such job */
export async function pauseJob(
  reference: JobReference & { readonly for?: number | undefined },
  paused: boolean,
  context: CliContext,
): Promise<void> {
  const { id, name } = (await openJob(context, reference)).job;
  const now = context.clock.now();
  const until = pausedUntil(reference.for, now);
  await makeStore(context, (store) => store.write({ kind: 'pause_job', job: id, paused, until, now }));
  printLine(context, `job ${name} (${id}) ${describePause(paused, until)}`);
}
