/** List views: a heading, filters that are stored in the address, and entries as lines or cards. */

import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { printPath } from '../../../../base/paths.ts';
import type { Input } from '../api.ts';
import type { ItemOf, Listed, ListId } from './data.ts';
import { useData, useList } from './data.ts';
import type { ViewPlace } from './router.ts';
import { change } from './router.ts';
import { Card, Entries, Field, Head, Note, Show } from './ui.tsx';

interface Filter {
  readonly label: string;
  /** All accepted values. */
  readonly choices?: readonly string[];
  /** The list operation that suggests names. */
  readonly known?: 'listRoutes' | 'listJobs';
}
/** Filters by parameter of the operation. */
type Filters = Readonly<Record<string, Filter>>;

/** The filters in the address that the view accepts. */
export const activeFilters = ({ query }: ViewPlace, filters: Filters): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...query].filter(([name, value]) => value !== '' && (filters[name]?.choices?.includes(value) ?? name in filters)),
  );

interface Props<I extends ListId> {
  readonly title: string;
  readonly of: I;
  readonly place: ViewPlace;
  readonly filters?: Filters;
  readonly limit?: number;
  readonly live?: boolean;
  readonly cards?: boolean;
  readonly empty: string;
  /** Beside the heading. */
  readonly actions?: (list: Listed<I>) => ComponentChildren;
  /** Above the entries. */
  readonly note?: (list: Listed<I>) => ComponentChildren;
  readonly children: (item: ItemOf<I>, list: Listed<I>) => ComponentChildren;
}

export function ListView<I extends ListId>({ title, of, place, filters = {}, cards = false, ...props }: Props<I>) {
  const input = { limit: props.limit ?? 50, ...activeFilters(place, filters) };
  const list = useList(of, input as unknown as Input<I>, props.live);
  const entries = (
    <>
      {list.isSampled && <Note>Too much traffic to show everything: this is a sample of the newest entries.</Note>}
      {props.note?.(list)}
      <Show of={list}>
        {() => (
          <Entries empty={props.empty} more={list.more} cards={cards}>
            {list.items.map((item) => props.children(item, list))}
          </Entries>
        )}
      </Show>
    </>
  );
  return (
    <>
      <Head title={title}>{props.actions?.(list)}</Head>
      <div class="filters">
        {Object.entries(filters).map(([name, filter]) => (
          <FilterField
            key={name}
            {...filter}
            value={place.query.get(name) ?? ''}
            set={(value) => change(place, name, value)}
          />
        ))}
      </div>
      {cards ? entries : <Card>{entries}</Card>}
    </>
  );
}

type FieldOf = Filter & { readonly value: string; readonly set: (value: string) => void };

/** Suggests existing names; the gateway rejects any other name. */
function FilterField({ label, choices, known, value, set }: FieldOf) {
  const { data } = useData(known ?? 'listRoutes', known === undefined ? null : { limit: 200 }, false);
  const names = [...new Set(data?.items.map(({ name }) => name))];
  const options = (choices ?? names).map(
    (each) => [each, each.replaceAll('_', choices === undefined ? '_' : ' ')] as const,
  );
  const isStrict = choices !== undefined;
  return (
    <Field
      label={label}
      value={value}
      change={set}
      strict={isStrict}
      options={isStrict ? [['', 'All'], ...options] : options}
    />
  );
}

/** A payload as a tree; clicking a value selects its path. */
export type Path = readonly (string | number)[];

interface TreeProps {
  readonly value: unknown;
  readonly path?: Path;
  readonly pick: (path: Path) => void;
}

/** Members shown at once; the others on request. */
const SHOWN = 100;
const OPEN_DEPTH = 3;

export function JsonTree({ value, path = [], pick }: TreeProps) {
  const [isOpen, setOpen] = useState(path.length < OPEN_DEPTH);
  const [shown, setShown] = useState(SHOWN);
  const name = path.at(-1) ?? '';
  if (typeof value !== 'object' || value === null) {
    return (
      <>
        {path.length > 0 && <span class="mono">{name}: </span>}
        <button type="button" onClick={() => pick(path)}>
          {JSON.stringify(value)}
        </button>
      </>
    );
  }
  const isList = Array.isArray(value);
  const members = Object.entries(value);
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary class="mono">
        {name} <span class="dim">{isList ? `[${members.length}]` : `{${members.length}}`}</span>
      </summary>
      {isOpen && (
        <ul>
          {members.slice(0, shown).map(([key, member]) => (
            <li key={key}>
              <JsonTree value={member} path={[...path, isList ? Number(key) : key]} pick={pick} />
            </li>
          ))}
          {members.length > shown && (
            <li>
              <button type="button" onClick={() => setShown(shown + SHOWN)}>
                {members.length - shown} more…
              </button>
            </li>
          )}
        </ul>
      )}
    </details>
  );
}

/** The template placeholder for a value; null for the whole payload. */
export const placeholder = (path: Path): string | null => (path.length > 0 ? `{${printPath(path.map(String))}}` : null);
