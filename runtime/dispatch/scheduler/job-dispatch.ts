/** Creates the dispatch for a run of a job. */
import { NO_AGENT } from '../../../base/no-agent.ts';
import type { Dispatch, DispatchDelivery, ProfilePlan, RouteTable } from '../../../schemas/generated/types.ts';
import type { FindPlace } from '../../table/held-place.ts';
import type { DeliveryScope } from '../../table/link-delivery.ts';
import { linkDelivery, linkOutput, renderDeliveries, renderOutputs } from '../../table/link-delivery.ts';
import { sessionId } from '../session-id.ts';
import type { Job } from './job.ts';

/** The part of a table that the dispatch of a job needs. */
export type DeliveryTable = Pick<RouteTable, 'profiles' | 'targets'> & { readonly place?: FindPlace | undefined };

/** A job has no payload: placeholders in an address stay unresolved, which fails the delivery. */
const NO_BUILTINS = { event_type: '', route: '', delivery_id: '' };

/** Replaces `origin` with the home channel; without one the answer is only saved. */
function targetOf(target: string, job: Job, { profiles }: DeliveryTable): string {
  if (target !== 'origin') return target;
  const profile = profiles[job.profile];
  return (profile === undefined ? null : homeTarget(profile)) ?? LOCAL;
}

const scopeOf = ({ profile }: Job, { targets, place }: DeliveryTable): DeliveryScope => ({ targets, profile, place });

function deliveriesOf(job: Job, table: DeliveryTable): DispatchDelivery[] {
  const linked = job.deliver.map((delivery) =>
    linkDelivery({ ...delivery, target: targetOf(delivery.target, job, table) }, scopeOf(job, table)),
  );
  return renderDeliveries(linked, null, NO_BUILTINS);
}

function outputsOf(job: Job, table: DeliveryTable): Pick<Dispatch, 'outputs'> {
  const linked = (job.outputs ?? []).map(({ delivery, ...limits }) =>
    linkOutput(
      { ...limits, delivery: { ...delivery, target: targetOf(delivery.target, job, table) } },
      scopeOf(job, table),
    ),
  );
  return renderOutputs(linked, null, NO_BUILTINS);
}

/** Where the reason of a failed run goes; left out: nowhere. */
function onFailure(job: Job, table: DeliveryTable): Pick<Dispatch, 'on_failure'> {
  const { on_failure = [] } = job;
  if (on_failure.length === 0) return {};
  const linked = on_failure.map((delivery) => linkDelivery(delivery, scopeOf(job, table)));
  return { on_failure: renderDeliveries(linked, null, NO_BUILTINS) };
}

const modeOf = ({ agent }: Job): Dispatch['mode'] => (agent === NO_AGENT ? 'message' : 'job');

const agentOf = ({ agent }: Job): string | null => (agent === NO_AGENT ? null : agent);

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
    mode: modeOf(job),
    profile: job.profile,
    route: null,
    job: job.id,
    event,
    delivery_id,
    accepted_at: now,
    due_at: null,
    prompt: job.prompt,
    agent: agentOf(job),
    skills: [...job.skills],
    toolsets: [...job.toolsets],
    session: sessionId('job', delivery_id),
    session_key: null,
    deliveries: deliveriesOf(job, table),
    ...outputsOf(job, table),
    ...onFailure(job, table),
    mirror_to_session: false,
    superseded: 0,
    replay_of: null,
  };
}

/** For a scheduled run. `due_at` and `now` are Unix ms. */
export function scheduledDispatch(
  job: Job,
  table: DeliveryTable,
  { due_at, ...occasion }: Occasion & { readonly due_at: number },
): Dispatch {
  const delivery_id = `${job.id}@${new Date(due_at).toISOString()}`;
  return { ...dispatchOf(job, table, occasion, { event: 'schedule', delivery_id }), due_at };
}

/** For a run started by hand. */
export function manualDispatch(job: Job, table: DeliveryTable, occasion: Occasion): Dispatch {
  return dispatchOf(job, table, occasion, { event: 'manual', delivery_id: `${job.id}#${occasion.id}` });
}

/**
 * For a run started by an event. The event's rendered prompt is added to the job's prompt for this run only; skills,
 * toolsets and deliveries are the job's (§3.3).
 */
export function eventDispatch(job: Job, table: DeliveryTable, event: Dispatch): Dispatch {
  const context = event.prompt.trim() === '' ? '' : `\n\n${event.prompt}`;
  return {
    ...event,
    mode: modeOf(job),
    job: job.id,
    due_at: null,
    prompt: `${job.prompt.trimEnd()}${context}`,
    agent: agentOf(job),
    skills: [...job.skills],
    toolsets: [...job.toolsets],
    deliveries: deliveriesOf(job, table),
    ...outputsOf(job, table),
    ...onFailure(job, table),
  };
}

/** Used for a profile without a home channel: the answer is saved, and no message is sent. */
const LOCAL = 'local';

/**
 * The target whose home channel is used: chats before email, then by name, so that the order in a file does not matter.
 * Null when no enabled target has one.
 */
export function homeTarget({ targets }: Pick<ProfilePlan, 'targets'>): string | null {
  const named = Object.entries(targets).filter(([, { home_channel }]) => home_channel !== null && home_channel !== '');
  const names = named.map(([name]) => name).sort();
  return names.find((name) => name !== 'email') ?? names[0] ?? null;
}
