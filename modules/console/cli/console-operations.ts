/**
 * Implements the console's control operations in a running gateway: lists of routes and jobs, and changes by operators. A
 * rejected operation throws a ControlError.
 */

import { agentLabel, agentPlan } from '../../../base/names.ts';
import { schemeLabel, targetLabel } from '../../../base/text.ts';
import type { CliContext } from '../../../cli/base/context.ts';
import { CliError } from '../../../cli/base/errors.ts';
import type { ServedGateway } from '../../../cli/base/module.ts';
import { chooseDeliveries, storeReplays } from '../../../cli/deliveries/filter.ts';
import { checkDraft, chooseTimezone, profileOf, reportSaved } from '../../../cli/jobs/draft-job.ts';
import { editJob, routesOf } from '../../../cli/jobs/edit-job.ts';
import {
  findJob,
  fireJob,
  readHistory,
  readJobs,
  recordOf,
  reportJob,
  servedTable,
} from '../../../cli/jobs/open-jobs.ts';
import { refusing } from '../../../cli/serve/reloader.ts';
import { useSessions } from '../../../cli/session.ts';
import { servedRow } from '../../../cli/subscriptions/routes.ts';
import { suggest } from '../../../compiler/text/suggest.ts';
import { ControlError } from '../../../runtime/control/control-error.ts';
import type { Job } from '../../../runtime/dispatch/scheduler/job.ts';
import { homeTarget, listJobs } from '../../../runtime/dispatch/scheduler/job.ts';
import { readRouteActions } from '../../../runtime/store/actions.ts';
import { storeAs } from '../../../runtime/store/actor.ts';
import { minuteAt } from '../../../runtime/store/figures.ts';
import { printTemplate } from '../../../runtime/table/link-template.ts';
import type {
  ControlContract,
  JobDetails,
  JobEdit,
  JobReport,
  JobsAsked,
  JobTarget,
  ProfileChat,
  ReplayedDeliveries,
  ReplayRequest,
  RouteReport,
  RouteRow,
  SavedJobReport,
} from '../../../schemas/built/operations/types.ts';
import type { RoutePlan, RouteTable } from '../../../schemas/generated/types.ts';
import { filterWords } from './filter-words.ts';

type Parts = ServedGateway<CliContext>;

const refuse = (message: string): ControlError => new ControlError('refused', message);

/** @throws CliError if there is no such job */
async function storedJob(
  { context, service: { table, store } }: Pick<Parts, 'context' | 'service'>,
  reference: string,
  profile?: string,
) {
  const { records } = await store.read({ kind: 'jobs' });
  return { records, job: findJob({ jobs: listJobs(table, records, context.timezone) }, reference, profile) };
}

export const runJob = (
  { context, service }: Parts,
  { reference, profile, by }: ControlContract['job_run']['input'],
): Promise<ControlContract['job_run']['output']> =>
  refusing(async () => {
    const { table, store, place } = service;
    const { job } = await storedJob({ context, service }, reference, profile);
    const dispatch = await fireJob(storeAs(store, by), job, { ...table, place }, context);
    if (dispatch === null) throw refuse(`job "${job.name}" is already running`);
    service.changed();
    return { job: job.id, dispatch };
  });

export async function showJob(parts: Parts, id: string): Promise<JobDetails> {
  const { table, subscriptions } = parts.service;
  const [report] = await reportJobs(parts, { id, limit: 1 });
  const { job } = await storedJob(parts, report?.id ?? id);
  const at = table.jobs[job.id]?.at;
  const routes = routesOf(job, [...Object.values(table.routes), ...subscriptions.routes]);
  return {
    ...(report as JobReport),
    prompt: job.prompt,
    place: at === undefined ? null : `${at.file}:${at.line}`,
    routes,
  };
}

export const changeJob = (
  parts: Parts,
  { id, name, timezone, dry_run: isDryRun, by, ...config }: JobEdit,
): Promise<SavedJobReport> =>
  refusing(async () => {
    const { context, service } = parts;
    const { job, records } = await storedJob(parts, id);
    const record = recordOf({ records, table: service.table }, job);
    const change = { name, config, timezone: chooseTimezone(timezone, record.timezone) };
    const open = await servedTable(context, service);
    const saved = await editJob(record, change, { store: storeAs(service.store, by), open, context, isDryRun });
    if (!isDryRun) service.changed();
    return reportSaved(saved, context.clock.now());
  });

/** Those that a job with only their name is valid with. */
export const listTargets = ({ context, service }: Parts, profile: string): Promise<readonly JobTarget[]> =>
  refusing(async () => {
    const open = await servedTable(context, service);
    const plan = profileOf(open, profile);
    const home = homeTarget(plan, service.table.targets);
    const about: Readonly<Record<string, string>> = {
      origin: home === null ? 'no home channel is set, so the answer is only stored' : `${home}, the home channel`,
      local: 'the answer is only stored',
    };
    const config = { schedule: '0 0 * * *', prompt: 'x', timezone: 'UTC', agent: 'none' };
    const isValid = (deliver: string): boolean => {
      try {
        return checkDraft({ name: 'x', profile, config: { ...config, deliver } }, open).warnings.length === 0;
      } catch (error) {
        if (error instanceof CliError) return false;
        throw error;
      }
    };
    const names = ['origin', ...Object.keys(plan.targets).filter(isValid)];
    return names.map((name) => ({ name, about: about[name] ?? null }));
  });

export async function replayDeliveries(
  { context, service }: Parts,
  { ids, filter, limit = MOST_REPLAYED, rerun = false, again = false, by }: ReplayRequest,
): Promise<ReplayedDeliveries> {
  const { store } = service;
  if (ids === undefined && filter?.state === undefined) throw refuse('name deliveries by id, or by state');
  if (rerun && again) throw refuse('use only one: `again` sends the stored text, `rerun` creates a new one');
  const chosen = ids ?? (await chooseDeliveries(store, filter ?? {}, Math.min(limit, MOST_REPLAYED)));
  const { clock, random } = context;
  const repeating = { clock, random, rerun, again, dryRun: false, onProgress: () => {} };
  const replayed = await storeReplays(storeAs(store, by), chosen, repeating);
  service.changed();
  return replayed;
}

/** Most deliveries in one request. */
const MOST_REPLAYED = 1000;

export function configuredWork(
  { service: { table, subscriptions } }: Parts,
  { profile, route, job, agent }: ControlContract['configured_work']['input'],
): ControlContract['configured_work']['output'] {
  const routes = [...Object.values(table.routes), ...subscriptions.routes];
  const plan =
    job === null
      ? routes.find((one) => one.name === route && one.profile === profile)
      : Object.values(table.jobs).find(({ id }) => id === job);
  const of = Object.values(table.profiles).find(({ name }) => name === profile);
  return {
    place: plan === undefined ? null : `${plan.at.file}:${plan.at.line}`,
    timeout_seconds: (of === undefined ? null : agentPlan(of, agent)?.timeout_seconds) ?? null,
  };
}

/** @param profile undefined: all served profiles */
export const listChats = ({ context, service }: Parts, profile?: string): Promise<readonly ProfileChat[]> =>
  refusing(async () => {
    const profiles = profile === undefined ? Object.keys(service.table.profiles) : [profile];
    const listOf = async (of: string): Promise<readonly ProfileChat[]> => {
      const stored = (await useSessions(context, (all) => all.list(of))) ?? [];
      return stored.map((chat) => ({ ...chat, profile: of }));
    };
    return (await Promise.all(profiles.map(listOf))).flat();
  });

type Described = Omit<RouteReport, 'traffic'>;

/** The served routes with their state and traffic, sorted by name. */
export async function reportRoutes({
  context,
  service,
  url,
}: ServedGateway<CliContext>): Promise<readonly RouteReport[]> {
  const { table, subscriptions, store } = service;
  const open = { table, url };
  const actionsOf = await readRouteActions(store, context.clock.now());
  const report = (plan: RoutePlan, kind: RouteRow['kind']): Described => {
    const row = { ...servedRow(plan, kind, open), ...actionsOf(plan.profile, plan.name) };
    const hidden = kind === 'dynamic' && Object.values(table.routes).some(({ name }) => name === plan.name);
    const shadow = { state: 'shadowed', reason: 'a static route of this name takes precedence' } as const;
    const place = kind === 'static' ? `${plan.at.file}:${plan.at.line}` : null;
    const outputs = [...new Set((plan.outputs ?? []).map(({ delivery }) => targetLabel(delivery)))];
    return { ...row, ...(hidden ? shadow : {}), place, outputs, words: wordsOf(plan, table) };
  };
  const all = [
    ...Object.values(table.routes).map((plan) => report(plan, 'static')),
    ...subscriptions.routes.map((plan) => report(plan, 'dynamic')),
    ...subscriptions.rejected.map(({ name, reason }) => ({ ...UNSERVED, name, reason })),
  ].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
  const since = minuteAt(context.clock.now()) - DAY_MS;
  const query = { kind: 'traffic', routes: all.map(({ name }) => name), since } as const;
  const traffic = await store.read(query);
  return all.map((route, at) => ({ ...route, traffic: traffic[at] ?? NO_TRAFFIC }));
}

const DAY_MS = 86_400_000;
const NO_TRAFFIC = { events: 0, last_at: null };

/** @throws ControlError for a name that is not served and has no stored deliveries or requests */
export async function checkServedNames(
  { service }: ServedGateway<CliContext>,
  input: ControlContract['names_check']['input'],
): Promise<object> {
  const { table, subscriptions, store } = service;
  const served = [...Object.values(table.routes), ...subscriptions.routes, ...subscriptions.rejected];
  const names = { route: served.map(({ name }) => name), profile: Object.keys(table.profiles) };
  for (const what of ['route', 'profile'] as const) {
    const { [what]: name } = input;
    if (name === null || names[what].includes(name)) continue;
    const filter = { route: name, limit: 1 };
    const [delivery] = what === 'route' ? await store.read({ kind: 'list', filter }) : [];
    if (delivery !== undefined) continue;
    const [request] = await (await service.requests()).list({ [what]: name }, { limit: 1 });
    if (request !== undefined) continue;
    const [close] = suggest(name, names[what]);
    const hint = close === undefined ? '' : `; did you mean ${close}?`;
    throw new ControlError('not_found', `there is no ${what} "${name}"${hint}`);
  }
  return {};
}

const nameOf = ({ name, profile }: Described): string => `${name}\n${profile}`;

/** A rejected subscription: only its name is certain. */
const UNSERVED: Omit<Described, 'name' | 'reason'> = {
  kind: 'dynamic',
  state: 'quarantined',
  paused: null,
  last_action: null,
  profile: 'default',
  url: '',
  mode: null,
  source: null,
  events: [],
  deliver: [],
  cron_job: null,
  description: null,
  toolsets: null,
  secrets: 0,
  place: null,
  outputs: [],
  words: [],
};

function wordsOf(plan: RoutePlan, table: RouteTable): readonly string[] {
  const { events, source, insecure, filters, script, coalesce, session, cron_job, rate_limit, outputs = [] } = plan;
  const names = [...(events?.exact ?? []), ...(events?.globs ?? []).map(({ text }) => text)];
  const sender = source === null ? 'any known sender' : schemeLabel(plan, source);
  const signed = insecure ? 'unsigned, from this machine only' : `signed by ${sender}`;
  const targets = plan.deliver.map(targetLabel);
  const to = targets.length === 0 ? 'nowhere' : targets.join(' and ');
  const agent = agentLabel(plan.profile === 'default' ? null : plan.profile, plan.agent);
  const job = cron_job === null ? '' : (table.jobs[cron_job]?.name ?? cron_job);
  const does = {
    agent: `Sends its prompt to the ${agent}, and the answer to ${to}.`,
    message: `Sends its prompt as a message to ${to}, without an agent.`,
    direct: `Sends its prompt as a message to ${to} while the sender waits, without an agent.`,
    cron: `Runs the job ${job} with its prompt as context.`,
  } satisfies Record<RoutePlan['mode'], string>;
  return [
    `Accepts ${names.length === 0 ? 'every event' : names.join(', ')}, ${signed}.`,
    ...(filters === null ? [] : [`Only if ${filterWords(filters)}.`]),
    ...(script === null ? [] : [`The script ${script.path} filters events, and may replace the payload.`]),
    does[plan.mode],
    ...(outputs.length === 0
      ? []
      : [
          `Outputs of the agent: ${outputs.map(({ name, delivery }) => `${name} to ${targetLabel(delivery)}`).join(', ')}.`,
        ]),
    ...(coalesce === null
      ? []
      : [`Events with the same ${printTemplate(coalesce.key)} within ${coalesce.window_seconds} s are combined.`]),
    ...(session === null ? [] : [`Runs with the same ${printTemplate(session.key)} run one at a time.`]),
    `At most ${rate_limit} events a minute.`,
  ];
}

const NEXT_RUNS = 5;
const LAST_RUNS = 5;

export async function reportJobs(
  { context: { clock, timezone }, service }: ServedGateway<CliContext>,
  { id, profile, after, limit }: JobsAsked,
): Promise<readonly JobReport[]> {
  const { table, store } = service;
  // Read from the store, because the scheduler sees a new job only a moment later.
  const stored = await readJobs(store);
  const keyOf = ({ name, id }: { readonly name: string; readonly id: string }): string => `${name}\n${id}`;
  const all = listJobs(table, stored.records, timezone);
  const isRequested = (job: Job): boolean => id === undefined || (all.has(id) ? job.id === id : job.name === id);
  const jobs = [...all.values()]
    .filter(isRequested)
    .filter((job) => profile === undefined || job.profile === profile)
    .filter((job) => after === undefined || keyOf(job) > keyOf(after))
    .sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
    .slice(0, limit);
  const options = { now: clock.now(), next: NEXT_RUNS, runs: LAST_RUNS };
  return Promise.all(
    jobs.map(async (job) => {
      const { ticks: _, ...report } = reportJob(job, await readHistory(store, job, stored, LAST_RUNS), options);
      return report;
    }),
  );
}
