/** Makes a job in the store, for `job create`, `blueprint create` and the running gateway. */
import type { FilledBlueprint } from '../../compiler/blueprints/fill.ts';
import { jobSignature } from '../../runtime/dispatch/scheduler/job.ts';
import type { JobRecord } from '../../runtime/store/job-mutations.ts';
import type { Store } from '../../runtime/store/store.ts';
import type { JobConfig } from '../../schemas/generated/types.ts';
import type { CliContext } from '../context.ts';
import { CliError } from '../errors.ts';
import type { DraftTable, JobDraft } from './draft-job.ts';
import { checkDraft, recordOfPlan } from './draft-job.ts';

export interface NewJob extends JobDraft {
  readonly blueprint: JobRecord['blueprint'];
}

export interface CreatedJob {
  readonly record: JobRecord;
  readonly warnings: readonly string[];
}

export interface JobMaker {
  readonly store: Store;
  readonly open: DraftTable;
  readonly context: Pick<CliContext, 'clock' | 'random'>;
}

/** Easy to read out and to type: no letters or digits that look like others. */
const ALPHABET = 'abcdefghjkmnpqrstuvwxyz23456789';
const ID_LENGTH = 6;
const MAX_NAME = 64;

function newId(random: CliContext['random'], isTaken: (id: string) => boolean): string {
  for (;;) {
    const id = [...random(ID_LENGTH)].map((byte) => ALPHABET[byte % ALPHABET.length]).join('');
    if (!isTaken(id)) return id;
  }
}

/** Names and ids in use, of all profiles: an id must not be anybody's name. */
function namesInUse({ store, open }: Pick<JobMaker, 'store' | 'open'>, profile: string | null): ReadonlySet<string> {
  const jobs = [...Object.values(open.table.jobs), ...store.jobs.list()];
  const own = jobs.filter((job) => profile === null || job.profile === profile);
  return new Set(own.flatMap(({ id, name }) => (profile === null ? [id, name] : [name])));
}

/** @throws CliError when the job cannot be made; nothing is stored then. */
export async function createJob(job: NewJob, maker: JobMaker): Promise<CreatedJob> {
  const { store, open, context } = maker;
  const { plan, warnings } = checkDraft(job, open);
  const { blueprint, config } = job;
  const { timezone } = config;
  const isKnown = (name: string): boolean => namesInUse(maker, null).has(name);
  const taken = new CliError(
    `there is a job "${job.name}" already`,
    `change it: hookwright job edit ${job.name}`,
    'or give this one another name',
  );
  if (namesInUse(maker, job.profile).has(job.name)) throw taken;
  const now = context.clock.now();
  const toolsets = config.toolsets === undefined ? null : plan.toolsets;
  const rest = { id: newId(context.random, isKnown), created_at: now, blueprint, toolsets, timezone };
  const record = recordOfPlan(plan, rest);
  const stored = await store.write({ kind: 'put_job', job: record, expect: 'new' });
  if (stored !== 'stored') throw taken;
  // It counts from now on, also when no gateway is there to see it.
  await store.write({ kind: 'watch_job', job: record.id, signature: jobSignature(record), now });
  return { record, warnings };
}

export interface BlueprintJobOptions {
  /** Default: the blueprint's key, with a number behind it when that is taken. */
  readonly name?: string | undefined;
  readonly profile: string;
  readonly timezone: string;
  /** The chat that `deliver: origin` means; null: the home channel. */
  readonly origin: { readonly target: string; readonly extra: Readonly<Record<string, string>> } | null;
}

function freeName(key: string, taken: ReadonlySet<string>): string {
  if (!taken.has(key)) return key;
  for (let number = 2; ; number += 1) {
    const suffix = `-${number}`;
    const name = key.slice(0, MAX_NAME - suffix.length) + suffix;
    if (!taken.has(name)) return name;
  }
}

function configOf(filled: FilledBlueprint, { timezone, origin }: BlueprintJobOptions): NewJob['config'] {
  const { title, schedule, prompt, skills, deliver } = filled;
  const base = { description: title, schedule, timezone, prompt, skills: [...skills] };
  if (deliver !== 'origin' || origin === null) return { ...base, deliver };
  const deliver_extra: NonNullable<JobConfig['deliver_extra']> = { ...origin.extra };
  return { ...base, deliver: origin.target, deliver_extra };
}

/** @throws CliError when the job cannot be made; nothing is stored then. */
export function createBlueprintJob(
  filled: FilledBlueprint,
  options: BlueprintJobOptions,
  maker: JobMaker,
): Promise<CreatedJob> {
  const { profile } = options;
  const name = options.name ?? freeName(filled.blueprint, namesInUse(maker, profile));
  const blueprint = { key: filled.blueprint, values: filled.values };
  return createJob({ name, profile, config: configOf(filled, options), blueprint }, maker);
}
