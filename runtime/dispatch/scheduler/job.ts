/** The scheduler's jobs: which of a job's instants fire, and the dispatch of a run. */

import { Cron } from 'croner';
import { agentToolsets, NO_AGENT } from '../../../base/names.ts';
import { entryLabel, isBlank } from '../../../base/text.ts';
import type {
  DeliveryPlan,
  Dispatch,
  DispatchDelivery,
  JobPlan,
  OutputPlan,
  ProfilePlan,
  RouteTable,
} from '../../../schemas/generated/types.ts';
import { sessionId } from '../../platform/ids.ts';
import type { JobRecord } from '../../store/records.ts';
import type { FindDestination } from '../../table/held-place.ts';
import type { DeliveryScope } from '../../table/link-delivery.ts';
import { linkDelivery, linkOutput, renderDeliveries, renderOutputs } from '../../table/link-delivery.ts';

/** A job of the scheduler, from the config or created at run time. */
export interface Job {
  readonly id: string;
  readonly name: string;
  readonly profile: string;
  readonly kind: 'static' | 'dynamic';
  readonly description: string | null;
  /** Five-field cron expression. */
  readonly schedule: string;
  /** IANA zone. */
  readonly timezone: string;
  readonly prompt: string;
  readonly deliver: JobPlan['deliver'];
  readonly outputs?: readonly OutputPlan[] | undefined;
  readonly budget?: JobPlan['budget'];
  /** Absent: failures are not sent anywhere. */
  readonly on_failure?: JobPlan['on_failure'];
  readonly agent: JobPlan['agent'];
  readonly skills: readonly string[];
  readonly toolsets: readonly string[];
  /** As configured. A pause or resume at run time is stored, and takes precedence. */
  readonly paused: boolean;
  readonly misfire: JobPlan['misfire'];
  /** Who has created or last edited it. */
  readonly by?: string;
  /** Unix ms from which it can be due; null: from when a scheduler first sees it. */
  readonly since: number | null;
}

/** Identifies the schedule that a cursor belongs to: when it changes, the cursor restarts at the current time. */
export function jobSignature(job: {
  readonly schedule: string;
  readonly timezone: string;
  readonly paused?: boolean;
}): string {
  return `${job.paused === true ? 'paused ' : ''}${job.timezone} ${job.schedule}`;
}

export type JobTable = Pick<RouteTable, 'jobs' | 'profiles' | 'gateway' | 'targets'>;

function fromPlan(plan: JobPlan, zone: string): Job {
  const { at, timezone, ...rest } = plan;
  return { ...rest, kind: 'static', timezone: timezone ?? zone, since: null };
}

function fromRecord(record: JobRecord, { profiles }: JobTable): Job {
  const { created_at, blueprint, deliver, toolsets, ...rest } = record;
  const profile = profiles[record.profile];
  return {
    ...rest,
    kind: 'dynamic',
    agent: record.agent ?? null,
    deliver: [...deliver],
    // A job created at run time has no outputs, whatever its row contains.
    outputs: [],
    on_failure: [],
    toolsets: agentToolsets(toolsets ?? profile?.toolsets ?? [], profile, record.agent ?? null),
    paused: false,
    since: created_at,
  };
}

/**
 * All jobs by id. Jobs of unserved profiles are left out; a job of the config takes precedence over a dynamic one with
 * the same id.
 * @param machineZone IANA zone of jobs without a zone, if the config has none either.
 */
export function listJobs(
  table: JobTable,
  records: readonly JobRecord[],
  machineZone: string,
): ReadonlyMap<string, Job> {
  const zone = table.gateway.timezone ?? machineZone;
  const jobs = [
    ...records.map((record) => fromRecord(record, table)),
    ...Object.values(table.jobs).map((plan) => fromPlan(plan, zone)),
  ];
  return new Map(jobs.filter(({ profile }) => Object.hasOwn(table.profiles, profile)).map((job) => [job.id, job]));
}

/*
 * Decides which of a job's instants since the last check fire.
 *
 *   cursor ──┬────┬────┬──── started_at ────┬────┬──── now
 *            missed: no gateway ran         late: a jump of the clock, a busy machine
 *
 * Late instants become one run, for the latest of them. When all of them were missed because no gateway ran, the job's
 * `misfire` decides: `skip` fires nothing, `once` fires for the latest. A job never fires several times to catch up.
 */

interface Elapsed {
  readonly cron: CronTimes;
  /** Unix ms of the first passed instant that was not handled. */
  readonly first: number;
  /** Unix ms since which a gateway has been running. */
  readonly started_at: number;
  /** Unix ms. */
  readonly now: number;
  readonly misfire: JobPlan['misfire'];
}

export interface Due {
  /** Unix ms of the latest instant; all earlier ones are handled together with it. */
  readonly due_at: number;
  readonly fires: boolean;
  /** Number of instants for which nothing fires. */
  readonly missed: number;
  /** Unix ms of the next instant; null: there is none. */
  readonly next: number | null;
}

/** Counting stops here: it would take seconds, and the exact number no longer matters. */
const MOST_MISSED = 1000;

/** Decides about the instants from `first` to `now`. */
export function decideDue({ cron, first, started_at, now, misfire }: Elapsed): Due {
  const second = cron.next(first);
  const isOne = second === null || second > now;
  const due_at = isOne ? first : cron.latest(second, now);
  const before = isOne ? 0 : 1 + cron.count(first, due_at, MOST_MISSED - 1);
  const fires = due_at >= started_at || misfire === 'once';
  return { due_at, fires, missed: fires ? before : before + 1, next: isOne ? second : cron.next(due_at) };
}

/** Computes the instants of a schedule, for the scheduler: the next, the latest, and their number. */
export interface CronTimes {
  /** Unix ms of the first instant after `after`; null when there are no more. */
  next(after: number): number | null;
  /** Unix ms of the last instant up to and including `until`, but not before `least`. */
  latest(least: number, until: number): number;
  /** Instants in (after, before), counted up to `most`. */
  count(after: number, before: number, most: number): number;
}

/** The same options as the compiler's, so that jobs fire at the forecast times. A test compares them. */
const OPTIONS = { mode: '5-part', fixedTimeRule: 'no-wildcard', paused: true } as const;

/**
 * @throws Error for an expression that cannot be parsed; an unknown zone throws at first use. The compiler rejects
 * both.
 */
export function readCron(schedule: string, timezone: string): CronTimes {
  const cron = new Cron(schedule, { ...OPTIONS, timezone });
  const next = (after: number): number | null => cron.nextRun(new Date(after))?.getTime() ?? null;
  return {
    next,
    latest(least, until) {
      // The library searches strictly before its argument, in whole seconds.
      const [last] = cron.previousRuns(1, new Date(until + 1000 - (until % 1000)));
      return Math.max(least, last?.getTime() ?? least);
    },
    count(after, before, most) {
      let count = 0;
      for (let at = next(after); at !== null && at < before && count < most; at = next(at)) count += 1;
      return count;
    },
  };
}

/** The part of a table that the dispatch of a job needs. */
export type DeliveryTable = Pick<RouteTable, 'profiles' | 'targets'> & { readonly place?: FindDestination | undefined };

/** A job has no payload: placeholders in an address stay unresolved, which fails the delivery. */
const NO_BUILTINS = { event_type: '', route: '', delivery_id: '' };

/** Replaces `origin` with the home channel; without one the answer is only saved. */
function resolveOrigin(delivery: DeliveryPlan, job: Job, { profiles, targets }: DeliveryTable): DeliveryPlan {
  if (delivery.target !== 'origin') return delivery;
  const profile = profiles[job.profile];
  const target = (profile === undefined ? null : homeTarget(profile, targets)) ?? LOCAL;
  const label = profile === undefined ? target : entryLabel(profile, target);
  return { ...delivery, target, ...(label === target ? {} : { label }) };
}

const scopeOf = ({ profile }: Job, { targets, place }: DeliveryTable): DeliveryScope => ({ targets, profile, place });

function deliveriesOf(job: Job, table: DeliveryTable): DispatchDelivery[] {
  const linked = job.deliver.map((delivery) => linkDelivery(resolveOrigin(delivery, job, table), scopeOf(job, table)));
  return renderDeliveries(linked, null, NO_BUILTINS);
}

function outputsOf(job: Job, table: DeliveryTable): Pick<Dispatch, 'outputs'> {
  const linked = (job.outputs ?? []).map(({ delivery, ...limits }) =>
    linkOutput({ ...limits, delivery: resolveOrigin(delivery, job, table) }, scopeOf(job, table)),
  );
  return renderOutputs(linked, null, NO_BUILTINS);
}

/** The receivers of the reason of a failed run; absent: none. */
function onFailure(job: Job, table: DeliveryTable): Pick<Dispatch, 'on_failure'> {
  const { on_failure = [] } = job;
  if (on_failure.length === 0) return {};
  const linked = on_failure.map((delivery) => linkDelivery(delivery, scopeOf(job, table)));
  return { on_failure: renderDeliveries(linked, null, NO_BUILTINS) };
}

/** What each run of a job has, however it was started. */
function partsOf(job: Job, table: DeliveryTable) {
  const { id, agent, skills, toolsets } = job;
  return {
    ...(agent === NO_AGENT ? ({ mode: 'message', agent: null } as const) : ({ mode: 'job', agent } as const)),
    job: id,
    skills: [...skills],
    toolsets: [...toolsets],
    deliveries: deliveriesOf(job, table),
    ...outputsOf(job, table),
    ...onFailure(job, table),
  };
}

interface Occasion {
  readonly id: string;
  /** Unix ms. */
  readonly now: number;
}

function dispatchOf(
  job: Job,
  table: DeliveryTable,
  { id, now }: Occasion,
  { event, delivery_id }: Pick<Dispatch, 'event' | 'delivery_id'>,
): Dispatch {
  return {
    id,
    profile: job.profile,
    route: null,
    event,
    delivery_id,
    accepted_at: now,
    due_at: null,
    prompt: job.prompt,
    ...partsOf(job, table),
    session: sessionId('job', delivery_id),
    session_key: null,
    mirror_to_session: false,
    superseded: 0,
    replay_of: null,
  };
}

/** The dispatch of a scheduled run. `due_at` and `now` are Unix ms. */
export function scheduledDispatch(
  job: Job,
  table: DeliveryTable,
  { due_at, ...occasion }: Occasion & { readonly due_at: number },
): Dispatch {
  const delivery_id = `${job.id}@${new Date(due_at).toISOString()}`;
  return { ...dispatchOf(job, table, occasion, { event: 'schedule', delivery_id }), due_at };
}

/** The dispatch of a run started by hand. */
export function manualDispatch(job: Job, table: DeliveryTable, occasion: Occasion): Dispatch {
  return dispatchOf(job, table, occasion, { event: 'manual', delivery_id: `${job.id}#${occasion.id}` });
}

/**
 * The dispatch of a run started by an event. The event's rendered prompt is added to the job's prompt for this run
 * only; skills, toolsets and deliveries are the job's (§3.3).
 */
export function eventDispatch(job: Job, table: DeliveryTable, event: Dispatch): Dispatch {
  const context = isBlank(event.prompt) ? '' : `\n\n${event.prompt}`;
  return {
    ...event,
    ...partsOf(job, table),
    due_at: null,
    prompt: `${job.prompt.trimEnd()}${context}`,
  };
}

/** Used for a profile without a home channel: the answer is saved, and no message is sent. */
const LOCAL = 'local';

/**
 * The target whose home channel is used: by name, so that the order in a file does not matter, and last those whose
 * catalog entry says so. Null when no enabled target has one.
 */
export function homeTarget({ targets }: Pick<ProfilePlan, 'targets'>, plans: RouteTable['targets']): string | null {
  const named = Object.entries(targets).filter(([, { home_channel }]) => home_channel !== null && home_channel !== '');
  const names = named.map(([name]) => name).sort();
  return names.find((name) => plans[name]?.home_last !== true) ?? names[0] ?? null;
}
