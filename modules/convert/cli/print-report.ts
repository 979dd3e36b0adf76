/** Prints what became of a foreign config: for people, and as JSON. */

import { visible } from '../../../cli/output/print.ts';
import type { Conversion, ConvertedRoute } from '../compiler/conversion.ts';
import { wrap } from '../compiler/print-draft.ts';
import type { Entry, Fate } from '../compiler/report.ts';

/** @param file name of the foreign file */
export function formatReport({ entries, routes, notes, variables }: Conversion, file: string, width: number): string[] {
  const told = entries.filter(({ fate }) => fate !== 'carried');
  const missing = [...variables].flatMap(([name, value]) => (value === null ? [name] : []));
  return [
    ...told.flatMap((entry) => [...formatEntry(entry, { routes, file, width }), '']),
    ...notes.flatMap((note) => wrap(`note: ${note}`, width)),
    ...(notes.length === 0 ? [] : ['']),
    ...formatRoutes(routes),
    '',
    ...(missing.length === 0 ? [] : wrap(`Fill in .env: ${missing.join(', ')}`, width)),
    summary(entries),
  ];
}

interface Layout {
  readonly routes: readonly ConvertedRoute[];
  readonly file: string;
  readonly width: number;
}

function formatEntry(
  { fate, path, place, route: name, reason, instead }: Entry,
  { routes, file, width }: Layout,
): string[] {
  const route = routes.find((candidate) => candidate.name === name);
  const key = path
    .slice(route?.path.length ?? 0)
    .map((part) => (path.length === 1 && typeof part === 'number' ? `hook number ${part + 1}` : part))
    .join('.');
  const what = [key, ...(route === undefined ? [] : [route.from])].filter((text) => text !== '').join(', ');
  const lines = [reason, instead].filter((text) => text !== '');
  return [
    `${file}:${place.line}:${place.column}: ${fate}: ${visible(what)}`,
    ...lines.flatMap((text) => wrap(visible(text), width - 3).map((line) => `   ${line}`)),
  ];
}

function formatRoutes(routes: readonly ConvertedRoute[]): string[] {
  const longest = Math.max(...routes.map(({ name }) => name.length));
  return routes.map(({ name, open }) => {
    const state = open ? '' : '  closed: enabled: false';
    return `/webhooks/${state === '' ? name : name.padEnd(longest)}${state}`;
  });
}

function summary(entries: readonly Entry[]): string {
  const count = (fate: Fate): number => entries.filter((entry) => entry.fate === fate).length;
  return `${count('carried')} keys carried over, ${count('changed')} changed, ${count('lost')} lost`;
}

/** Names of variables, never their values. */
export function reportJson(
  { config, entries, routes, notes, variables }: Conversion,
  written: readonly string[],
): unknown {
  return {
    routes: routes.map(({ path, ...route }) => ({ ...route, path: path.join('.') })),
    entries: entries.map(({ path, place, ...entry }) => ({ path: path.join('.'), ...place, ...entry })),
    variables: [...variables].map(([name, value]) => ({ name, known: value !== null })),
    notes,
    written,
    config,
  };
}
