/** The gateway as the frame of the page knows it: its name, its problems, and the title and the icon of the tab. */
import type { ComponentChildren } from 'preact';
import { createContext } from 'preact';
import { useContext, useEffect } from 'preact/hooks';
import type { Output } from '../api.ts';
import { useData } from './data.ts';
import { favicon } from './icons.tsx';

const EVERY_MS = 15_000;

type State = Output<'getOverview'>;

/** Problems that need a person; the overview has a line for each. */
export function needsOf(state: State) {
  const { problems, alerts, subscriptions, store, paused, dead, states, rate_limited } = state;
  // The overview has its own lines for these.
  const others = alerts.filter(({ kind }) => !['delivery_dead', 'approval', 'config_rejected'].includes(kind));
  const waiting = states?.waiting ?? 0;
  const faults = [...(store.damage === null ? [] : [`The store is damaged: ${store.damage}`]), ...store.refused];
  const lists = [problems, faults, dead, others, subscriptions.quarantined, paused, rate_limited];
  const count = lists.reduce((sum, list) => sum + list.length, waiting > 0 ? 1 : 0);
  return {
    problems,
    faults,
    dead,
    waiting,
    alerts: others,
    rejected: subscriptions.quarantined,
    paused,
    rate_limited,
    count,
  };
}

const Known = createContext<{ readonly count: number }>({ count: 0 });

/** The number of problems of the gateway. */
export const useProblems = (): number => useContext(Known).count;

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
  const count = data === null ? 0 : needsOf(data).count;
  useEffect(() => {
    [name, problems] = [of, count];
    show();
    const kind = error !== null ? 'calm' : count > 0 ? 'bad' : 'good';
    document.getElementById('icon')?.setAttribute('href', favicon(kind));
  }, [of, count, error]);
  return <Known.Provider value={{ count }}>{children}</Known.Provider>;
}
