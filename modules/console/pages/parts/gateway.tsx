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

/** A problem that needs a person: a sentence that begins with its link, the reason, and one action. */
export type Need = readonly [
  ...[kind: Kind, icon: IconName, name: string, href: string | null],
  ...[text: string, reason?: string | false | null, action?: ComponentChildren],
];

const need = (...of: Need): Need => of;
const review = (href: string, text = 'Review') => <Open href={href}>{text}</Open>;
const left = (until: number): string => `${duration(Math.max(0, until - Date.now()))} left`;
/** Without the date if it is today. */
const timeOf = (at: number): string => instant(at).replace(instant(Date.now()).slice(0, 11), '');

/** Alerts about problems that have their own lines. */
const OWN_LINES = ['delivery_dead', 'approval', 'config_rejected'];

/** A route that exceeded its rate limit is a problem of the gateway, whose message begins with the route. */
const LIMITED = /^route ([a-z0-9_-]+): (its rate_limit .*)$/;

function problemOf({ message, blocking, part }: State['problems'][number]): Need {
  const [, route, text = ''] = LIMITED.exec(message) ?? [];
  const name = part === 'table' ? 'Configuration rejected' : upper(part);
  const copy = <Copy text={() => message}>Copy message</Copy>;
  if (route === undefined)
    return need(blocking || part === 'store' ? 'bad' : 'warn', 'alert', name, null, '', message, copy);
  const requests = review(to(['requests'], { route, outcome: 'rate_limited' }), 'Show requests');
  return need('warn', 'clock', route, to(['routes', route]), text, null, requests);
}

/** What a target has rejected for good is rejected again, so a person reviews it instead. */
function deadNeed({ route, job, count: number, since, latest }: State['dead'][number], changed: () => void): Need {
  const parent = parentOf({ route, job });
  const list = to(['deliveries'], { state: 'dead', route, job: route === null ? job : null });
  const [href, name, text] =
    number === 1 && latest !== null
      ? [to(['deliveries', latest.id]), `${known(latest.event, 'event')} ${latest.delivery_id}`, `of ${parent} is dead`]
      : [list, count(number, 'dead delivery', 'dead deliveries'), `of ${parent}, the first`];
  const replay = <ReplayDead of={route !== null ? { route } : { job: job ?? '' }} count={number} done={changed} />;
  const action = latest?.permanent || (route ?? job) === null ? review(href) : replay;
  return need('bad', 'x', name, href, `${text} (${ago(since)})`, latest?.reason?.slice(0, 300), action);
}

function pausedNeed({ route: name, profile, by, until }: State['paused'][number], changed: () => void): Need {
  const text = `is paused${by ? ` by ${people(by)}` : ''}`;
  const end = until === null ? '' : ` until ${timeOf(until)} (${left(until)})`;
  const action = <Pause name={name} changed={changed} resume={() => call('resumeRoute', { name, profile })} />;
  return need('warn', 'clock', name, to(['routes', name]), text + end, null, action);
}

function approvalNeed(waiting: number, [one, another]: Approvals): Need {
  if (one === undefined || another !== undefined) {
    const text = waiting === 1 ? 'waits for approval' : 'wait for approval';
    const list = to(['deliveries'], { state: 'waiting' });
    return need(
      'warn',
      'approvals',
      count(waiting, 'delivery', 'deliveries'),
      list,
      text,
      null,
      review(to(['approvals'])),
    );
  }
  const { id, output, target, expires_at, text } = one;
  const href = to(['approvals', id]);
  const waits = `of ${parentOf(one)} waits for approval${expires_at === null ? '' : ` (${left(expires_at)})`}`;
  const name = `${upper(output ?? 'message')} to ${target}`;
  return need('warn', 'approvals', name, href, waits, text.trim().split('\n', 1)[0], review(href));
}

/** @param failed requests that failed in the last hour @param asked messages that wait for approval, if they are few */
function needsOf(state: State, failed: number, asked: Approvals, changed: () => void): readonly Need[] {
  const { problems, alerts, subscriptions, paused, dead, states } = state;
  const failures = to(['requests'], { outcome: 'failed', range: '3600' });
  const look = review(failures, 'Show requests');
  return [
    ...problems.map(problemOf),
    need('bad', 'alert', count(failed, 'request'), failures, 'failed in the last hour', null, look),
    ...dead.map((one) => deadNeed(one, changed)),
    approvalNeed(states?.waiting ?? 0, asked),
    ...alerts
      .filter(({ kind }) => !OWN_LINES.includes(kind))
      .map(({ title, subject, reason, since, count: times }) =>
        need('warn', 'alert', title, null, `of ${subject}, ${count(times, 'time')} (first ${ago(since)})`, reason),
      ),
    ...subscriptions.quarantined.map(({ name, reason }) =>
      need('warn', 'alert', name, to(['routes', name]), 'is not served', reason),
    ),
    ...paused.map((one) => pausedNeed(one, changed)),
    // Without those of which there are none.
  ].filter(([, , name]) => !name.startsWith('0 '));
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
