/** The gateway as the frame of the page knows it: its name, its problems, and the title and the icon of the tab. */
import type { ComponentChildren } from 'preact';
import { createContext } from 'preact';
import { useContext, useEffect } from 'preact/hooks';
import type { Output } from '../api.ts';
import { call } from '../api.ts';
import { Copy, Open, Pause } from './act.tsx';
import type { Loaded } from './data.ts';
import { useData } from './data.ts';
import { count, instant, parentOf, people } from './format.ts';
import type { IconName, Kind } from './icons.tsx';
import { favicon } from './icons.tsx';
import { ReplayDead } from './replay.tsx';
import { useName } from './role.tsx';
import { to } from './router.ts';

const EVERY_MS = 15_000;

type State = Output<'getOverview'>;

type Subject = readonly [name: string, href?: string];
/** A problem that needs a person: one line, one link, one action. */
export type Need = readonly [kind: Kind, icon: IconName, of: Subject, text: string, action?: ComponentChildren];

const need = (...of: Need): Need => of;
const copying = (text: string) => <Copy text={() => text}>Copy message</Copy>;

/** Alerts about problems that have their own lines. */
const OWN_LINES = ['delivery_dead', 'approval', 'config_rejected'];

/** A route that exceeded its rate limit is a problem of the gateway, whose message begins with the route. */
const LIMITED = /^route ([a-z0-9_-]+): (its rate_limit .*)$/;

function problemOf({ message, blocking, part }: State['problems'][number]): Need {
  const [, route, text = ''] = LIMITED.exec(message) ?? [];
  const name = part === 'table' ? 'Configuration rejected:' : '';
  if (route === undefined) return need(blocking ? 'bad' : 'warn', 'alert', [name], message, copying(message));
  const requests = to(['requests'], { route, outcome: 'rate_limited' });
  return need('warn', 'clock', [route, to(['routes', route])], text, <Open href={requests}>Show requests</Open>);
}

/** The latest error is named if it may be the one of this delivery. */
function deadNeed({ last_error }: State, one: State['dead'][number], changed: () => void): Need {
  const { route, job, count: number, since } = one;
  const name = `${count(number, 'dead delivery', 'dead deliveries')} of ${parentOf(one)}`;
  const href = to(['deliveries'], { state: 'dead', route, job: route === null ? job : null });
  const reason = last_error?.route === route && route !== null ? `: ${last_error.reason.slice(0, 200)}` : '';
  const of = route !== null ? { route } : { job: job ?? '' };
  const action = (route ?? job) !== null && <ReplayDead of={of} count={number} done={changed} />;
  return need('bad', 'x', [name, href], `since ${instant(since)}${reason}`, action);
}

function pausedNeed({ route: name, profile, by, until }: State['paused'][number], changed: () => void): Need {
  const text = `is paused${by ? ` by ${people(by)}` : ''}${until === null ? '' : ` until ${instant(until)}`}`;
  const action = <Pause name={name} changed={changed} resume={() => call('resumeRoute', { name, profile })} />;
  return need('warn', 'clock', [name, to(['routes', name])], text, action);
}

/** @param failed requests that failed in the last hour */
function needsOf(state: State, failed: number, changed: () => void): readonly Need[] {
  const { problems, alerts, subscriptions, store, paused, dead, states } = state;
  const faults = [...(store.damage === null ? [] : [`The store is damaged: ${store.damage}`]), ...store.refused];
  const waiting = states?.waiting ?? 0;
  const approvals = [count(waiting, 'delivery', 'deliveries'), to(['deliveries'], { state: 'waiting' })] as const;
  const waits = waiting === 1 ? 'waits for approval' : 'wait for approval';
  const failures = to(['requests'], { outcome: 'failed', range: '3600' });
  const failing = [`${count(failed, 'request')} failed`, failures] as const;
  return [
    ...problems.map(problemOf),
    ...faults.map((text) => need('bad', 'alert', [''], text, copying(text))),
    need('bad', 'alert', failing, 'in the last hour', <Open href={failures}>Show requests</Open>),
    ...dead.map((one) => deadNeed(state, one, changed)),
    need('warn', 'approvals', approvals, waits, <Open href={to(['approvals'])}>Review</Open>),
    ...alerts
      .filter(({ kind }) => !OWN_LINES.includes(kind))
      .map(({ title, subject, reason, since, count: times }) =>
        need('warn', 'alert', [`${title}:`], `${subject}, ${count(times, 'time')} since ${instant(since)}: ${reason}`),
      ),
    ...subscriptions.quarantined.map(({ name, reason }) =>
      need('warn', 'alert', [name, to(['routes', name])], `is not served: ${reason}`),
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
  const traffic = useData('getFigures', { span: 'hour' }, false);
  const { data, error, reload } = overview;
  const of = useName();
  useEffect(() => {
    const timers = [reload, traffic.reload].map((each) => setInterval(each, EVERY_MS));
    return () => timers.forEach(clearInterval);
  }, [reload]);
  const failed = (traffic.data?.items ?? []).reduce((sum, item) => sum + item.failed, 0);
  const needs = data === null ? [] : needsOf(data, failed, reload);
  useEffect(() => {
    [name, problems] = [of, needs.length];
    show();
    const kind = error !== null ? 'calm' : problems > 0 ? 'bad' : 'good';
    document.getElementById('icon')?.setAttribute('href', favicon(kind));
  }, [of, needs.length, error]);
  return <Known.Provider value={{ ...overview, needs }}>{children}</Known.Provider>;
}
