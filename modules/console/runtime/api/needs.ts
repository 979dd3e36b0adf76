/** What needs a person, for the overview: one sentence each, with the page that shows it and what a person can do. */
import { alertTitle } from '../../../../base/names.ts';
import { minuteAt } from '../../../../runtime/store/figures.ts';
import { findDelivery } from '../../../../runtime/store/find-delivery.ts';
import type { DeadWork } from '../../../../runtime/store/queries.ts';
import type { Step } from '../../../../runtime/store/states.ts';
import type { GatewayStatus } from '../../../../schemas/built/operations/types.ts';
import type { ApiContext } from './call-operation.ts';
import { callOperation, read } from './call-operation.ts';
import type { Overview } from './generated/api.ts';

type Need = Overview['needs'][number];

const NONE = { urgent: false, place: null, reason: null, since: null, until: null, action: null };
const OWNERLESS = { profile: null, route: null, job: null, count: 1 };
const need = (
  kind: Need['kind'],
  name: string,
  text: string,
  more: Partial<Omit<Need, 'kind' | 'name' | 'text'>> = {},
): Need => ({ ...NONE, ...OWNERLESS, kind, name, text, ...more });

const HOUR_MS = 3_600_000;
const FAILURES = 'requests?outcome=failed&range=3600';
/** Most routes and jobs whose latest dead delivery is read. */
const GROUPS = 20;
/** Longest reason, in UTF-16 units. */
const SHOWN = 300;
/** Alerts about problems that have their own sentences. */
const OWN = ['delivery_dead', 'approval', 'config_rejected'];
const PARTS = { gateway: 'Gateway', store: 'Store', table: 'Configuration rejected', subscriptions: 'Subscriptions' };
/** A route that exceeded its rate limit is a problem of the gateway, whose message begins with the route. */
const LIMITED = /^route ([a-z0-9_-]+): (its rate_limit .*)$/;

const amount = (of: number, one: string, more: string): string => (of === 1 ? `1 ${one}` : `${of} ${more}`);

/** @param problems of the gateway itself */
export async function readNeeds(
  context: ApiContext,
  { alerts, subscriptions, store, paused, dispatches }: GatewayStatus,
  problems: Overview['problems'],
): Promise<readonly Need[]> {
  const { dead, states } = dispatches ?? { dead: [], states: { waiting: 0 } };
  const failed = dispatches === null ? 0 : await failedRequests(context);
  const failures = { urgent: true, place: FAILURES, action: 'show', count: failed } as const;
  return [
    ...problems.map(problemOf),
    ...[store.damage ?? []].flat().map(({ message }) => problemOf({ part: 'store', blocking: true, message })),
    need('failed', amount(failed, 'request', 'requests'), 'failed in the last hour', failures),
    ...(await Promise.all(dead.map((group, at) => deadNeed(context, group, at < GROUPS)))),
    await approvalNeed(context, states.waiting),
    ...alerts
      .filter(({ kind }) => !OWN.includes(kind))
      .map(({ kind, subject, reason, since, count }) =>
        need('alert', alertTitle(kind), `of ${subject}, ${amount(count, 'time', 'times')}`, { reason, since, count }),
      ),
    ...subscriptions.quarantined.map(({ name, reason }) =>
      need('quarantined', name, 'is not served', { place: `routes/${encodeURIComponent(name)}`, reason }),
    ),
    ...paused.map(({ profile, route, by, until }) => {
      const text = by === undefined ? 'is paused' : `is paused by ${by}`;
      return need('paused', route, text, {
        place: `routes/${route}/${profile}`,
        until,
        action: 'resume',
        profile,
        route,
      });
    }),
  ].filter(({ count }) => count > 0);
}

function problemOf({ message, blocking, part }: Overview['problems'][number]): Need {
  const [, route, text = ''] = LIMITED.exec(message) ?? [];
  if (route === undefined)
    return need('problem', PARTS[part], '', { urgent: blocking, reason: message, action: 'copy' });
  return need('limited', route, text, { place: `requests?route=${route}&outcome=rate_limited`, action: 'show', route });
}

/** In the last hour. */
async function failedRequests(context: ApiContext): Promise<number> {
  await context.figures?.store();
  const since = minuteAt(context.clock.now()) - HOUR_MS;
  const sums = await read(context, { kind: 'figures', since, slot_ms: HOUR_MS });
  return sums.reduce((sum, { failed }) => sum + failed, 0);
}

/** Dead deliveries of a route or job. What a target has rejected for good is rejected again, so a person reviews it instead. */
async function deadNeed(context: ApiContext, { job_name, ...group }: DeadWork, isRead: boolean): Promise<Need> {
  const { profile, route, job, count } = group;
  const [name, value] = route !== null ? ['route', route] : ['job', job ?? ''];
  const of = `of ${job_name ?? (value || 'gateway notices')}`;
  const more = { ...group, urgent: true, place: `deliveries?state=dead&${name}=${value}`, action: 'review' } as const;
  const all = need('dead', amount(count, 'dead delivery', 'dead deliveries'), `${of}, the first`, more);
  const filter = { ...(route === null ? { job: value } : { route }), profile, state: 'dead', limit: 1 } as const;
  const [latest] = isRead && value !== '' ? await read(context, { kind: 'list', filter }) : [];
  if (latest === undefined) return all;
  const { id, event, delivery_id, reason } = latest;
  const found = await findDelivery({ read: (query) => read(context, query) }, id);
  const steps = found.kind === 'found' ? found.dispatch.steps : [];
  const isLast = ({ index }: Step, at: number): boolean => steps.findLastIndex((step) => step.index === index) === at;
  const action = steps.some((step, at) => step.outcome === 'permanent' && isLast(step, at)) ? 'review' : 'replay';
  const known = { ...all, reason: reason?.slice(0, SHOWN) ?? null, action } as const;
  if (count > 1) return known;
  const one = { ...known, place: `deliveries/${id}` } as const;
  if (route === null) return { ...one, name: `Run ${of}`, text: 'is dead' };
  return { ...one, name: `${event === 'unknown' ? 'event' : event} ${delivery_id}`, text: `${of} is dead` };
}

/** Each message counts, as in the list. @param deliveries those that wait */
async function approvalNeed(context: ApiContext, deliveries: number): Promise<Need> {
  const blocked = deliveries === 0 ? [] : await read(context, { kind: 'blocked' });
  const count = blocked.filter(({ blocked_by }) => blocked_by === 'approval').length;
  const [one, another] = count === 1 ? await callOperation(context, 'approvals_list', {}) : [];
  const waits = `${count === 1 ? 'waits' : 'wait'} for approval`;
  const more = { place: 'approvals', action: 'review', count } as const;
  if (one === undefined || another !== undefined)
    return need('approval', amount(count, 'message', 'messages'), waits, more);
  const { id, output, target, text, expires_at: until, route, job } = one;
  const [reason = ''] = text.trim().slice(0, SHOWN).split('\n', 1);
  const about = { ...more, place: `approvals/${id}`, until, reason };
  return need('approval', `${output ?? 'Message'} to ${target}`, `of ${route ?? job ?? 'the gateway'} ${waits}`, about);
}
