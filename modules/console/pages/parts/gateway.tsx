/** The gateway as the frame of the page knows it: its name, its problems, and the title and the icon of the tab. */
import type { ComponentChildren } from 'preact';
import { createContext } from 'preact';
import { useContext, useEffect } from 'preact/hooks';
import type { Output } from '../api.ts';
import { call } from '../api.ts';
import { Copy, Open, Pause } from './act.tsx';
import type { Loaded } from './data.ts';
import { useData } from './data.ts';
import { ago, count, duration, instant, known, parentOf, people, upper } from './format.ts';
import type { IconName, Kind } from './icons.tsx';
import { favicon } from './icons.tsx';
import { ReplayDead } from './replay.tsx';
import { useName } from './role.tsx';
import { to } from './router.ts';

const EVERY_MS = 15_000;

type State = Output<'getOverview'>;

type Approvals = Output<'listApprovals'>['items'];

type Subject = readonly [name: string, href?: string];
/** A problem that needs a person: a sentence with one link, its reason, and one action. */
export type Need = readonly [
  ...[kind: Kind, icon: IconName, of: Subject, text: string],
  ...[reason?: string | false | null, action?: ComponentChildren],
];

const need = (...of: Need): Need => of;
const copying = (text: string) => <Copy text={() => text}>Copy message</Copy>;
/** Of an instant; that of today needs no date. */
const today = (): string => instant(Date.now()).slice(0, 11);
const left = (until: number): string => `${duration(Math.max(0, until - Date.now()))} left`;

/** Alerts about problems that have their own lines. */
const OWN_LINES = ['delivery_dead', 'approval', 'config_rejected'];

/** A route that exceeded its rate limit is a problem of the gateway, whose message begins with the route. */
const LIMITED = /^route ([a-z0-9_-]+): (its rate_limit .*)$/;

function problemOf({ message, blocking, part }: State['problems'][number]): Need {
  const [, route, text = ''] = LIMITED.exec(message) ?? [];
  const name = part === 'table' ? 'Configuration rejected' : upper(part);
  if (route === undefined) return need(blocking ? 'bad' : 'warn', 'alert', [name], '', message, copying(message));
  const requests = to(['requests'], { route, outcome: 'rate_limited' });
  return need('warn', 'clock', [route, to(['routes', route])], text, null, <Open href={requests}>Show requests</Open>);
}

/** What a target has rejected for good is rejected again, so a person reviews it instead. */
function deadNeed({ route, job, count: number, since, latest }: State['dead'][number], changed: () => void): Need {
  const isOne = number === 1 && latest !== null;
  const list = to(['deliveries'], { state: 'dead', route, job: route === null ? job : null });
  const href = isOne ? to(['deliveries', latest.id]) : list;
  const name = isOne
    ? `${known(latest.event, 'event')} ${latest.delivery_id}`
    : count(number, 'delivery', 'deliveries');
  const [were, first] = number === 1 ? ['was', ''] : ['were', 'the first '];
  const text = `of ${parentOf({ route, job })} ${were} not delivered (${first}${ago(since)})`;
  const replay = <ReplayDead of={route !== null ? { route } : { job: job ?? '' }} count={number} done={changed} />;
  const action = latest?.permanent || (route ?? job) === null ? <Open href={href}>Review</Open> : replay;
  return need('bad', 'x', [name, href], text, latest?.reason?.slice(0, 300), action);
}

function pausedNeed({ route: name, profile, by, until }: State['paused'][number], changed: () => void): Need {
  const end = until === null ? '' : ` until ${instant(until).replace(today(), '')} (${left(until)})`;
  const action = <Pause name={name} changed={changed} resume={() => call('resumeRoute', { name, profile })} />;
  return need(
    'warn',
    'clock',
    [name, to(['routes', name])],
    `is paused${by ? ` by ${people(by)}` : ''}${end}`,
    null,
    action,
  );
}

function approvalNeed(waiting: number, [one, another]: Approvals): Need {
  const isOne = one !== undefined && another === undefined;
  const path = isOne ? ['approvals', one.id] : ['approvals'];
  const name = isOne ? `${upper(one.output ?? 'message')} to ${one.target}` : count(waiting, 'delivery', 'deliveries');
  const end = isOne && one.expires_at !== null ? `, ${left(one.expires_at)}` : '';
  const text = `${isOne ? `of ${parentOf(one)} ` : ''}${waiting === 1 ? 'waits' : 'wait'} for approval${end}`;
  const action = <Open href={to(path)}>Review</Open>;
  return need('warn', 'approvals', [name, to(path)], text, isOne && one.text.trim().split('\n', 1)[0], action);
}

/** @param failed requests that failed in the last hour @param asked messages that wait for approval, if they are few */
function needsOf(state: State, failed: number, asked: Approvals, changed: () => void): readonly Need[] {
  const { problems, alerts, subscriptions, store, paused, dead, states } = state;
  const failures = to(['requests'], { outcome: 'failed', range: '3600' });
  const failing = [count(failed, 'request'), failures] as const;
  return [
    ...problems.map(problemOf),
    ...(store.damage === null
      ? []
      : [need('bad', 'alert', ['Store'], 'is damaged', store.damage, copying(store.damage))]),
    need('bad', 'alert', failing, 'failed in the last hour', null, <Open href={failures}>Show requests</Open>),
    ...dead.map((one) => deadNeed(one, changed)),
    approvalNeed(states?.waiting ?? 0, asked),
    ...alerts
      .filter(({ kind }) => !OWN_LINES.includes(kind))
      .map(({ title, subject, reason, since, count: times }) =>
        need('warn', 'alert', [title], `of ${subject}, ${count(times, 'time')}, the first ${ago(since)}`, reason),
      ),
    ...subscriptions.quarantined.map(({ name, reason }) =>
      need('warn', 'alert', [name, to(['routes', name])], 'is not served', reason),
    ),
    ...paused.map((one) => pausedNeed(one, changed)),
    // Without those of which there are none.
  ].filter(([, , [name]]) => !name.startsWith('0 '));
}

interface Gateway extends Loaded<State> {
  readonly needs: readonly Need[];
}

const Known = createContext<Gateway>({ data: null, error: null, reload: () => {}, needs: [] });

export const useGateway = (): Gateway => useContext(Known);

/** Returns a function that counts the dead deliveries of a route, or all of them. */
export function useDead(): (route?: string) => number {
  const { dead = [] } = useGateway().data ?? {};
  return (name) => dead.reduce((sum, { route, count }) => sum + (name === undefined || route === name ? count : 0), 0);
}

let view = '';
let name = '';
let problems = 0;

function show(): void {
  document.title = `${problems > 0 ? `(${problems}) ` : ''}${view} · ${name}`;
}

export function setTitle(title: string): void {
  view = title;
  show();
}

/** Loads the state of the gateway, and keeps the title and the icon of the tab current, also while the tab is hidden. */
export function WithGateway({ children }: { children: ComponentChildren }) {
  const overview = useData('getOverview', {}, false);
  const traffic = useData('getFigures', { span: 'hour', coarse: false }, false);
  const { data, error, reload } = overview;
  const asked = useData('listApprovals', data?.states?.waiting === 1 ? { limit: 2 } : null, false);
  const of = useName();
  useEffect(() => {
    const timers = [reload, traffic.reload, asked.reload].map((each) => setInterval(each, EVERY_MS));
    return () => timers.forEach(clearInterval);
  }, [reload, asked.reload]);
  const failed = (traffic.data?.items ?? []).reduce((sum, item) => sum + item.failed, 0);
  const needs = data === null ? [] : needsOf(data, failed, asked.data?.items ?? [], reload);
  useEffect(() => {
    [name, problems] = [of, needs.length];
    show();
    const kind = error !== null ? 'calm' : problems > 0 ? 'bad' : 'good';
    document.getElementById('icon')?.setAttribute('href', favicon(kind));
  }, [of, needs.length, error]);
  return <Known.Provider value={{ ...overview, needs }}>{children}</Known.Provider>;
}
