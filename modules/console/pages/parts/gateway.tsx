/** The gateway as the frame of the page knows it: its name, its problems, and the title and the icon of the tab. */
import type { ComponentChildren } from 'preact';
import { createContext } from 'preact';
import { useContext, useEffect } from 'preact/hooks';
import type { Output } from '../api.ts';
import type { Loaded } from './data.ts';
import { useData } from './data.ts';
import { favicon } from './icons.tsx';
import { useName } from './role.tsx';

const EVERY_MS = 15_000;

type State = Output<'getOverview'>;

const Known = createContext<Loaded<State>>({ data: null, error: null, reload: () => {} });

export const useGateway = (): Loaded<State> => useContext(Known);

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
  const { data, error, reload } = overview;
  const of = useName();
  useEffect(() => {
    const timer = setInterval(reload, EVERY_MS);
    return () => clearInterval(timer);
  }, [reload]);
  const { needs = [] } = data ?? {};
  useEffect(() => {
    [name, problems] = [of, needs.length];
    show();
    const kind = error !== null ? 'calm' : problems > 0 ? 'bad' : 'good';
    document.getElementById('icon')?.setAttribute('href', favicon(kind));
  }, [of, needs.length, error]);
  return <Known.Provider value={overview}>{children}</Known.Provider>;
}
