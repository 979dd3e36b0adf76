/** What operators do with a running gateway from its console. What is refused to them is a ControlError. */

import type { CliContext } from '../../../cli/base/context.ts';
import { CliError } from '../../../cli/base/errors.ts';
import type { ServedGateway } from '../../../cli/base/module.ts';
import { loadPart } from '../../../cli/base/module.ts';
import { chooseDeliveries, repeatDeliveries } from '../../../cli/deliveries/repeat.ts';
import { findJob } from '../../../cli/jobs/open-jobs.ts';
import { useSessions } from '../../../cli/sessions/open-chat.ts';
import { routePath } from '../../../cli/subscriptions/address.ts';
import { leavingMessages } from '../../../cli/subscriptions/leaving-messages.ts';
import { signTestEvent } from '../../../cli/subscriptions/sign-test-event.ts';
import { knownName } from '../../../compiler/text/common-name.ts';
import { ControlError } from '../../../runtime/control/control-error.ts';
import type {
  ControlContract,
  ProfileChat,
  ReplayedDeliveries,
  ReplayRequest,
  RouteTestReport,
  RouteTestRequest,
} from '../../../runtime/control/operations.ts';
import { listJobs } from '../../../runtime/dispatch/scheduler/job.ts';
import { manualDispatch } from '../../../runtime/dispatch/scheduler/job-dispatch.ts';
import type { KeptRequest } from '../../../runtime/intake/kept-request.ts';
import { createIds } from '../../../runtime/platform/ids.ts';
import { createSecrets } from '../../../runtime/platform/secrets/machine-secrets.ts';
import { SecretError } from '../../../runtime/platform/secrets/secrets.ts';
import type { Service } from '../../../runtime/service/service.ts';
import { LinkError } from '../../../runtime/table/link-context.ts';
import { partsOf } from '../../../runtime/verify/request.ts';
import { SignError } from '../../../runtime/verify/sign-body.ts';
import type { Explanation, RoutePlan } from '../../../schemas/generated/types.ts';

type Parts = ServedGateway<CliContext>;

const refuse = (message: string): ControlError => new ControlError('refused', message);

const REFUSALS = [SecretError, SignError, LinkError];

/** What the compiler and the commands refuse, as a refusal. */
async function refusing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof CliError) throw refuse([error.message, ...error.hints].join('; '));
    if (REFUSALS.some((kind) => error instanceof kind)) throw refuse((error as Error).message);
    throw error;
  }
}

/** @throws ControlError when there is no such route in service */
function routeNamed({ table, subscriptions }: Service, name: string, profile?: string): RoutePlan {
  const isMeant = (plan: RoutePlan): boolean => plan.name === name && plan.profile === (profile ?? plan.profile);
  const found = Object.values(table.routes).find(isMeant) ?? subscriptions.routes.find(isMeant);
  if (found === undefined) throw new ControlError('unknown', `this gateway serves no route "${name}"`);
  return found;
}

/** Through the stages of the public server, from this machine. */
export const testRoute = (parts: Parts, asked: RouteTestRequest): Promise<RouteTestReport> =>
  refusing(async () => {
    const { context, service } = parts;
    const { route, event, payload, confirmed = false } = asked;
    const plan = routeNamed(service, route);
    const { table } = service;
    const payloads = await loadPart(context.modules, 'payloads');
    const now = context.clock.now();
    const signed = signTestEvent({
      ...{ plan, table, event, source: undefined, key: null, now, random: context.random },
      body: payload === undefined ? null : Buffer.from(payload, 'utf8'),
      sample: (scheme, named) => payloads.sample(plan, named, scheme, now),
      secrets: createSecrets(context),
    });
    const path = routePath(plan) + signed.query;
    if (payload === undefined && !confirmed) {
      const request = partsOf('POST', path, Object.entries(signed.headers), signed.body);
      const explain = await loadPart(context.modules, 'explain');
      const messages = leavingMessages(
        plan,
        table,
        await explain(context, { plan, table, request, event: signed.event }),
      );
      if (messages.length > 0)
        throw new ControlError('would_leave', `a made-up event would send a message to ${messages.join(', and to ')}`);
    }
    const body = new Uint8Array(signed.body);
    const request = new Request(`http://localhost${path}`, { method: 'POST', headers: signed.headers, body });
    const answer = await service.handle(request, { address: '127.0.0.1' });
    const text = await answer.text();
    return { status: answer.status, answer: text, event: signed.event, payload: signed.body.toString('utf8') };
  });

export const runJob = (
  { context, service }: Parts,
  { reference, profile }: ControlContract['job_run']['input'],
): Promise<ControlContract['job_run']['output']> =>
  refusing(async () => {
    const { table, store } = service;
    const job = findJob({ jobs: listJobs(table, service.jobs, context.timezone) }, reference, profile);
    const now = context.clock.now();
    const dispatch = manualDispatch(job, table, { id: createIds(context.random).dispatch(now), now });
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

async function keptNamed({ service }: Parts, id: string): Promise<KeptRequest> {
  const found = await (await service.requests()).load(id);
  if (found.kind === 'found') return found.request;
  throw new ControlError(found.kind, `${found.kind} request "${id}"`);
}

export const explainKept = (parts: Parts, id: string): Promise<Explanation> =>
  refusing(async () => {
    const { context, service } = parts;
    const kept = await keptNamed(parts, id);
    const tools = await loadPart(context.modules, 'kept');
    const plan = routeNamed(service, kept.route, kept.profile);
    return tools.explain(context, kept, { plan, table: service.table });
  });

export const printKept = (parts: Parts, id: string, form: 'curl' | 'test'): Promise<{ readonly text: string }> =>
  refusing(async () => {
    const { context, service, url } = parts;
    const kept = await keptNamed(parts, id);
    const tools = await loadPart(context.modules, 'kept');
    return { text: form === 'curl' ? tools.asCurl(kept, url) : await tools.asTest(context, kept, service.table) };
  });

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
