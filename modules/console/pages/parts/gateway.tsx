/** The gateway as the frame of the page knows it: its name, its problems, and the title and the icon of the tab. */
import type { ComponentChildren } from 'preact';
import { createContext } from 'preact';
import { useContext, useEffect } from 'preact/hooks';
import type { Output } from '../api.ts';
import { useData } from './data.ts';
import { count, instant } from './format.ts';
import type { IconName, Kind } from './icons.tsx';
import { favicon } from './icons.tsx';
import { to } from './router.ts';

const EVERY_MS = 15_000;

type State = Output<'getOverview'>;

export type Action =
  | readonly [does: 'copy', text: string]
  | readonly [does: 'replay', of: State['dead'][number]]
  | readonly [does: 'resume', of: State['paused'][number]]
  | readonly [does: 'open', text: string, href: string];

type Subject = readonly [name: string, href?: string];
/** A problem that needs a person: one line, one link, one action. */
export type Need = readonly [kind: Kind, icon: IconName, of: Subject, text: string, action?: Action];

const need = (...of: Need): Need => of;

/** Alerts about problems that have their own lines. */
const OWN_LINES = ['delivery_dead', 'approval', 'config_rejected'];

/** A route that exceeded its rate limit is a problem of the gateway, whose message begins with the route. */
const LIMITED = /^route ([a-z0-9_-]+): (its rate_limit .*)$/;

function problemOf({ message, blocking, part }: State['problems'][number]): Need {
  const [, route, text = ''] = LIMITED.exec(message) ?? [];
  const name = part === 'table' ? 'Configuration rejected:' : '';
  const kind = blocking ? 'bad' : 'warn';
  if (route === undefined) return need(kind, 'alert', [name], message, ['copy', message]);
  const requests = to(['requests'], { route, outcome: 'rate_limited' });
  return need('warn', 'clock', [route, to(['routes', route])], text, ['open', 'Show requests', requests]);
}

export function needsOf(state: State): readonly Need[] {
  const { problems, alerts, subscriptions, store, paused, dead, states } = state;
  const faults = [...(store.damage === null ? [] : [`The store is damaged: ${store.damage}`]), ...store.refused];
  const waiting = states?.waiting ?? 0;
  const deadOf = ({ route, job, count: number }: State['dead'][number]): Subject => [
    `${count(number, 'failed delivery', 'failed deliveries')} of ${route ?? job ?? 'the gateway'}`,
    to(['deliveries'], { state: 'dead', route, job: route === null ? job : null }),
  ];
  const waitingOf = [count(waiting, 'delivery', 'deliveries'), to(['deliveries'], { state: 'waiting' })] as const;
  const waits = waiting === 1 ? 'waits for approval' : 'wait for approval';
  const untilOf = (until: number | null): string => (until === null ? '' : ` until ${instant(until)}`);
  return [
    ...problems.map(problemOf),
    ...faults.map((text) => need('bad', 'alert', [''], text, ['copy', text])),
    ...dead.map((one) => need('bad', 'x', deadOf(one), `since ${instant(one.since)}`, ['replay', one])),
    ...(waiting === 0 ? [] : [need('warn', 'approvals', waitingOf, waits, ['open', 'Review', to(['approvals'])])]),
    ...alerts
      .filter(({ kind }) => !OWN_LINES.includes(kind))
      .map(({ title, subject, reason, since, count: times }) =>
        need('warn', 'alert', [`${title}:`], `${subject}, ${count(times, 'time')} since ${instant(since)}: ${reason}`),
      ),
    ...subscriptions.quarantined.map(({ name, reason }) =>
      need('warn', 'alert', [name, to(['routes', name])], `is not served: ${reason}`),
    ),
    ...paused.map((one) =>
      need('warn', 'clock', [one.route, to(['routes', one.route])], `is paused${untilOf(one.until)}`, ['resume', one]),
    ),
  ];
}

const Known = createContext(0);

/** The number of problems of the gateway. */
export const useProblems = (): number => useContext(Known);

let view = '';
let name = 'hookwright';
let problems = 0;

function show(): void {
  document.title = `${problems > 0 ? `(${problems}) ` : ''}${view} · ${name}`;
}

export function setTitle(title: string): void {
  view = title;
  show();
}

/** Keeps the title and the icon of the tab current, also while the tab is hidden. @param of name of the gateway */
export function WithProblems({ of, children }: { of: string; children: ComponentChildren }) {
  const { data, error, reload } = useData('getOverview', {}, false);
  useEffect(() => {
    const timer = setInterval(reload, EVERY_MS);
    return () => clearInterval(timer);
  }, [reload]);
  const found = data === null ? 0 : needsOf(data).length;
  useEffect(() => {
    [name, problems] = [of, found];
    show();
    const kind = error !== null ? 'calm' : found > 0 ? 'bad' : 'good';
    document.getElementById('icon')?.setAttribute('href', favicon(kind));
  }, [of, found, error]);
  return <Known.Provider value={found}>{children}</Known.Provider>;
}
