/** What operators do with a running gateway from its console. What is refused to them is a ControlError. */

import type { CliContext } from '../../../cli/base/context.ts';
import type { ServedGateway } from '../../../cli/base/module.ts';
import { chooseDeliveries, repeatDeliveries } from '../../../cli/deliveries/repeat.ts';
import { findJob } from '../../../cli/jobs/open-jobs.ts';
import { refusing } from '../../../cli/serve/refusing.ts';
import { useSessions } from '../../../cli/sessions/open-chat.ts';
import { knownName } from '../../../compiler/text/common-name.ts';
import { ControlError } from '../../../runtime/control/control-error.ts';
import { listJobs } from '../../../runtime/dispatch/scheduler/job.ts';
import { manualDispatch } from '../../../runtime/dispatch/scheduler/job-dispatch.ts';
import { createIds } from '../../../runtime/platform/ids.ts';
import type {
  ControlContract,
  ProfileChat,
  ReplayedDeliveries,
  ReplayRequest,
} from '../../../schemas/built/operations/types.ts';

type Parts = ServedGateway<CliContext>;

const refuse = (message: string): ControlError => new ControlError('refused', message);

export const runJob = (
  { context, service }: Parts,
  { reference, profile }: ControlContract['job_run']['input'],
): Promise<ControlContract['job_run']['output']> =>
  refusing(async () => {
    const { table, store, place } = service;
    const { records } = await store.read({ kind: 'jobs' });
    const job = findJob({ jobs: listJobs(table, records, context.timezone) }, reference, profile);
    const now = context.clock.now();
    const dispatch = manualDispatch(job, { ...table, place }, { id: createIds(context.random).dispatch(now), now });
    const firing = { job: job.id, paused: job.paused, now, dispatch, claim: null, even_paused: true };
    const fired = await store.write({ kind: 'fire_job', ...firing });
    if (fired.kind !== 'stored') throw refuse(`job "${job.name}" is running already`);
    service.changed();
    return { job: job.id, dispatch: dispatch.id };
  });

export async function replayDeliveries(
  { context, service }: Parts,
  { ids, filter, limit = MOST_REPLAYED, rerun = false, again = false }: ReplayRequest,
): Promise<ReplayedDeliveries> {
  const { store } = service;
  if (ids === undefined && filter?.state === undefined) throw refuse('name deliveries by id, or all of one state');
  if (rerun && again) throw refuse('`again` sends the stored text, `rerun` makes a new one');
  const chosen = ids ?? (await chooseDeliveries(store, filter ?? {}, Math.min(limit, MOST_REPLAYED)));
  const { clock, random } = context;
  const repeating = { clock, random, rerun, again, dryRun: false, onProgress: () => {} };
  const replayed = await repeatDeliveries(store, chosen, repeating);
  service.changed();
  return replayed;
}

/** In one request; a client may ask again. */
const MOST_REPLAYED = 1000;

/** @param profile undefined: of all that are served */
export const listChats = ({ context, service }: Parts, profile?: string): Promise<readonly ProfileChat[]> =>
  refusing(async () => {
    const { targets } = await context.catalog();
    const profiles = profile === undefined ? Object.keys(service.table.profiles) : [profile];
    const listOf = async (of: string): Promise<readonly ProfileChat[]> => {
      const stored = (await useSessions(context, (all) => all.list(of))) ?? [];
      return stored.map((chat) => ({ ...chat, profile: of, target: knownName(chat.target, targets) }));
    };
    return (await Promise.all(profiles.map(listOf))).flat();
  });
