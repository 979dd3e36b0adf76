/** Creates a job from a filled blueprint, for `blueprint create` and for the control operation. */
import { DEFAULT_PROFILE } from '../../../base/names.ts';
import type { CliContext } from '../../../cli/base/context.ts';
import type { JobDraft, JobScope, SavedJob } from '../../../cli/jobs/draft-job.ts';
import { createJob, reportSaved } from '../../../cli/jobs/draft-job.ts';
import { servedTable } from '../../../cli/jobs/open-jobs.ts';
import { refusing } from '../../../cli/serve/reloader.ts';
import { isTimeZone } from '../../../compiler/schedule/parse-schedule.ts';
import { ControlError } from '../../../runtime/control/control-error.ts';
import type { OperatedService } from '../../../runtime/service/options.ts';
import { storeAs } from '../../../runtime/store/actor.ts';
import type { BlueprintJobRequest, SavedJobReport } from '../../../schemas/built/operations/types.ts';
import type { JobConfig, RouteTable } from '../../../schemas/generated/types.ts';
import type { FilledBlueprint } from '../compiler/fill.ts';
import { fillBlueprint } from '../compiler/fill.ts';

export interface BlueprintJobOptions {
  /** Default: the blueprint's key, with a number appended if it is in use. */
  readonly name?: string | undefined;
  readonly profile: string;
  readonly timezone: string;
  /** The chat for `deliver: origin`; null for the home channel. */
  readonly origin: { readonly target: string; readonly extra: Readonly<Record<string, string>> } | null;
}

function configOf(filled: FilledBlueprint, { timezone, origin }: BlueprintJobOptions): JobDraft['config'] {
  const { title, schedule, prompt, skills, deliver } = filled;
  const base = { description: title, schedule, timezone, prompt, skills: [...skills] };
  if (deliver !== 'origin' || origin === null) return { ...base, deliver };
  const deliver_extra: NonNullable<JobConfig['deliver_extra']> = { ...origin.extra };
  return { ...base, deliver: origin.target, deliver_extra };
}

/** @throws CliError if the job is invalid; nothing is stored then */
export function createFilledJob(
  filled: FilledBlueprint,
  options: BlueprintJobOptions,
  maker: JobScope,
): Promise<SavedJob> {
  const { profile } = options;
  const name = options.name ?? filled.blueprint;
  const blueprint = { key: filled.blueprint, values: filled.values };
  const job = { name, profile, config: configOf(filled, options), blueprint };
  return createJob(job, maker, options.name === undefined);
}

const refuse = (message: string): ControlError => new ControlError('refused', message);

function readOptions(request: BlueprintJobRequest, table: RouteTable, machineZone: string): BlueprintJobOptions {
  const { name, profile = DEFAULT_PROFILE, timezone = table.gateway.timezone ?? machineZone, origin } = request;
  if (!isTimeZone(timezone)) throw refuse(`\`timezone\`: \`${timezone}\` is not an IANA time zone`);
  const { target = '', ...extra } = origin ?? {};
  return { name, profile, timezone, origin: origin === undefined ? null : { target, extra } };
}

/** Creates a job from a blueprint in a running gateway, or only checks it, for clients of its control socket. */
export async function createBlueprintJob(
  context: CliContext,
  service: OperatedService,
  { by, ...request }: BlueprintJobRequest & { readonly by?: string },
): Promise<SavedJobReport> {
  const { table } = service;
  const store = storeAs(service.store, by);
  const { dry_run: isDryRun = false } = request;
  const plan = Object.hasOwn(table.blueprints, request.key) ? table.blueprints[request.key] : undefined;
  if (plan === undefined) throw refuse(`there is no blueprint "${request.key}"`);
  const filled = fillBlueprint(plan, request.values);
  if (!filled.ok) throw refuse(filled.problems.map(({ message }) => message).join('; '));
  const options = readOptions(request, table, context.timezone);
  return refusing(async () => {
    const open = await servedTable(context, service);
    const created = await createFilledJob(filled.filled, options, { store, open, context, isDryRun });
    if (!isDryRun) service.changed();
    return reportSaved(created, context.clock.now());
  });
}
