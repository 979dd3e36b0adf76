/** Makes the job of a filled blueprint, for `blueprint create` and the running gateway. */
import type { JobMaker } from '../../../cli/jobs/create-job.ts';
import { createJob } from '../../../cli/jobs/create-job.ts';
import type { JobDraft, SavedJob } from '../../../cli/jobs/draft-job.ts';
import type { JobConfig } from '../../../schemas/generated/types.ts';
import type { FilledBlueprint } from '../compiler/fill.ts';

export interface BlueprintJobOptions {
  /** Default: the blueprint's key, with a number behind it when that is taken. */
  readonly name?: string | undefined;
  readonly profile: string;
  readonly timezone: string;
  /** The chat that `deliver: origin` means; null: the home channel. */
  readonly origin: { readonly target: string; readonly extra: Readonly<Record<string, string>> } | null;
}

function configOf(filled: FilledBlueprint, { timezone, origin }: BlueprintJobOptions): JobDraft['config'] {
  const { title, schedule, prompt, skills, deliver } = filled;
  const base = { description: title, schedule, timezone, prompt, skills: [...skills] };
  if (deliver !== 'origin' || origin === null) return { ...base, deliver };
  const deliver_extra: NonNullable<JobConfig['deliver_extra']> = { ...origin.extra };
  return { ...base, deliver: origin.target, deliver_extra };
}

/** @throws CliError when the job cannot be made; nothing is stored then. */
export function createFilledJob(
  filled: FilledBlueprint,
  options: BlueprintJobOptions,
  maker: JobMaker,
): Promise<SavedJob> {
  const { profile } = options;
  const name = options.name ?? filled.blueprint;
  const blueprint = { key: filled.blueprint, values: filled.values };
  const job = { name, profile, config: configOf(filled, options), blueprint };
  return createJob(job, maker, options.name === undefined);
}
