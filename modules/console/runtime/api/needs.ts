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
type Given = Pick<Need, 'kind' | 'name' | 'text'> & Partial<Need>;

const NONE = {
  place: null,
  reason: null,
  since: null,
  until: null,
  action: null,
  profile: null,
  route: null,
  job: null,
};
const need = (of: Given): Need => ({ ...NONE, urgent: false, count: 1, ...of });

const HOUR_MS = 3_600_000;
/** Most routes and jobs whose latest dead delivery is read. */
const GROUPS = 20;
/** Longest reason, in UTF-16 units. */
const SHOWN = 300;
/** Alerts about problems that have their own sentences. */
const OWN = ['delivery_dead', 'approval', 'config_rejected'];
const PARTS = { gateway: 'Gateway', store: 'Store', table: 'Configuration rejected', subscriptions: 'Subscriptions' };
/** A route that exceeded its rate limit is a problem of the gateway, whose message begins with the route. */
const LIMITED = /^route ([a-z0-9_-]+): (its rate_limit .*)$/;

const query = (values: Readonly<Record<string, string | null>>): string =>
  new URLSearchParams(
    Object.entries(values).flatMap(([name, value]) => (value ? [[name, value] as [string, string]] : [])),
  ).toString();
const at = (...path: readonly string[]): string => path.map(encodeURIComponent).join('/');
const amount = (of: number, one: string, more: string): string => (of === 1 ? `1 ${one}` : `${of} ${more}`);

/** @param problems of the gateway itself */
export async function readNeeds(
  context: ApiContext,
  { alerts, subscriptions, store, paused, dispatches }: GatewayStatus,
  problems: Overview['problems'],
): Promise<readonly Need[]> {
  const { message: damage = null } = store.damage ?? {};
  const isRead = dispatches !== null;
  return [
    ...problems.map(problemOf),
    ...(damage === null
      ? []
      : [need({ kind: 'problem', urgent: true, name: 'Store', text: 'is damaged', reason: damage, action: 'copy' })]),
    ...(isRead ? await failedIn(context) : []),
    ...(await Promise.all((dispatches?.dead ?? []).map((group, n) => deadNeed(context, group, n < GROUPS)))),
    ...(isRead ? await approvalsOf(context, dispatches.states.waiting) : []),
    ...alerts.flatMap(({ kind, subject, reason, since, count }) => {
      if (OWN.includes(kind)) return [];
      const text = `of ${subject}, ${amount(count, 'time', 'times')}`;
      return [need({ kind: 'alert', name: alertTitle(kind), text, reason, since, count })];
    }),
    ...subscriptions.quarantined.map(({ name, reason }) =>
      need({ kind: 'quarantined', name, place: at('routes', name), text: 'is not served', reason }),
    ),
    ...paused.map(({ profile, route, by, until }) => {
      const text = by === undefined ? 'is paused' : `is paused by ${by}`;
      return need({
        kind: 'paused',
        name: route,
        place: at('routes', route),
        text,
        until,
        action: 'resume',
        profile,
        route,
      });
    }),
  ];
}

function problemOf({ message, blocking, part }: Overview['problems'][number]): Need {
  const [, route, text = ''] = LIMITED.exec(message) ?? [];
  if (route === undefined)
    return need({ kind: 'problem', urgent: blocking, name: PARTS[part], text: '', reason: message, action: 'copy' });
  const place = `requests?${query({ route, outcome: 'rate_limited' })}`;
  return need({ kind: 'limited', name: route, place, text, action: 'show', route });
}

/** Requests that failed in the last hour. */
async function failedIn(context: ApiContext): Promise<readonly Need[]> {
  await context.figures?.store();
  const since = minuteAt(context.clock.now()) - HOUR_MS;
  const count = (await read(context, { kind: 'figures', since, slot_ms: HOUR_MS })).reduce(
    (sum, { failed }) => sum + failed,
    0,
  );
  const place = `requests?${query({ outcome: 'failed', range: '3600' })}`;
  const name = amount(count, 'request', 'requests');
  return count === 0
    ? []
    : [need({ kind: 'failed', urgent: true, name, place, text: 'failed in the last hour', action: 'show', count })];
}

/** Dead deliveries of a route or job. What a target has rejected for good is rejected again, so a person reviews it instead. */
async function deadNeed(
  context: ApiContext,
  { profile, route, job, count, since }: DeadWork,
  isRead: boolean,
): Promise<Need> {
  const names = { ...(route === null ? {} : { route }), ...(job === null ? {} : { job }) };
  const filter = { profile, ...names, state: 'dead', limit: 1 } as const;
  const [latest] = isRead ? await read(context, { kind: 'list', filter }) : [];
  const of = `of ${route ?? job ?? 'gateway notices'}`;
  const place = `deliveries?${query({ state: 'dead', route, job: route === null ? job : null })}`;
  const shared = { kind: 'dead', urgent: true, since, action: 'replay', profile, route, job, count } as const;
  const all = need({
    ...shared,
    name: amount(count, 'dead delivery', 'dead deliveries'),
    place,
    text: `${of}, the first`,
  });
  if (latest === undefined || latest.route !== route || latest.job !== job) return { ...all, action: 'review' };
  const found = await findDelivery({ read: (query) => read(context, query) }, latest.id);
  const steps = found.kind === 'found' ? found.dispatch.steps : [];
  const isLast = ({ index }: Step, n: number): boolean => steps.findLastIndex((step) => step.index === index) === n;
  const action = steps.some((step, n) => step.outcome === 'permanent' && isLast(step, n)) ? 'review' : 'replay';
  const known = { ...all, reason: latest.reason?.slice(0, SHOWN) ?? null, action } as const;
  const name = `${latest.event === 'unknown' ? 'event' : latest.event} ${latest.delivery_id}`;
  return count > 1 ? known : { ...known, name, place: at('deliveries', latest.id), text: `${of} is dead` };
}

async function approvalsOf(context: ApiContext, count: number): Promise<readonly Need[]> {
  if (count === 0) return [];
  const [one, another] = count === 1 ? await callOperation(context, 'approvals_list', {}) : [];
  const shared = { kind: 'approval', action: 'review', count } as const;
  if (one === undefined || another !== undefined) {
    const text = count === 1 ? 'waits for approval' : 'wait for approval';
    return [need({ ...shared, name: amount(count, 'delivery', 'deliveries'), place: 'approvals', text })];
  }
  const { id, output, target, text, expires_at: until, route, job } = one;
  const of = {
    name: `${output ?? 'Message'} to ${target}`,
    text: `of ${route ?? job ?? 'the gateway'} waits for approval`,
  };
  const [reason = ''] = text.trim().slice(0, SHOWN).split('\n', 1);
  return [need({ ...shared, ...of, place: at('approvals', id), until, reason })];
}
