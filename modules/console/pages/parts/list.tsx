/** List views: a heading, filters that are stored in the address, and a table of the items. */

import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Input } from '../api.ts';
import type { ItemOf, Listed, ListId } from './data.ts';
import { useData, useList } from './data.ts';
import { shortInstant } from './format.ts';
import { Icon } from './icons.tsx';
import type { ViewPlace } from './router.ts';
import { change, to } from './router.ts';
import type { Column, FieldProps, TableProps } from './ui.tsx';
import { Field, Head, Show, Table, Whole } from './ui.tsx';

interface Filter extends Pick<FieldProps, 'label' | 'type' | 'placeholder'> {
  /** All accepted values, with their texts. */
  readonly choices?: Readonly<Record<string, string>> | undefined;
  /** The text of no choice. */
  readonly all?: string;
}
/** Filters by parameter of the operation. */
type Filters = Readonly<Record<string, Filter>>;

/** The time range of a list: a span until now, in seconds, or a start and an end. */
export const RANGE = {
  range: {
    label: 'Range',
    all: 'Any time',
    choices: { 900: 'Last 15 min', 3600: 'Last hour', 86400: 'Last 24 h', 604800: 'Last 7 days', custom: 'Custom' },
  },
  since: { label: 'From (UTC)', type: 'datetime-local' },
  until: { label: 'To (UTC)', type: 'datetime-local' },
} as const;

/** The choices of an enumeration of the API. */
export const choicesOf = (names: readonly string[]): Filter['choices'] =>
  Object.fromEntries(names.map((each) => [each, each.replaceAll('_', ' ')]));

type Texts = Readonly<Record<string, string>>;

/** The filters in the address, as texts. The gateway rejects a value that it does not know. */
export function activeFilters({ query }: ViewPlace, filters: Filters): Texts {
  const names = namesOf(filters, query.get('range'));
  return Object.fromEntries([...query].filter(([name, value]) => names.includes(name) && value !== ''));
}

/** A start and an end are filters of a custom range only. */
const namesOf = (filters: Filters, range: string | null | undefined): readonly string[] =>
  Object.keys(filters).filter((name) => range === 'custom' || !['since', 'until'].includes(name));

/** The input of the operation for these filters. */
function inputOf({ range, since, until, ...rest }: Texts): Readonly<Record<string, unknown>> {
  if (Number(range) > 0) return { ...rest, since: -1000 * Number(range) };
  const ends = Object.entries({ since, until }).map(([name, text]) => [name, Date.parse(`${text}Z`)] as const);
  return { ...rest, ...Object.fromEntries(ends.filter(([, at]) => at >= 0)) };
}

/** A second line in a cell. */
export const under = (about: ComponentChildren) => <span class="under dim small">{about}</span>;

/** The name of a row, which is a link, with what it is for below it. */
export const named = (path: readonly string[], name: string, about: ComponentChildren) => [
  <Whole path={path}>{name}</Whole>,
  under(about),
];

/** `until 05 Jan 08:00 UTC by ben`. */
export function pauseText({ until, by = '' }: { until: number | null; by?: string | undefined }): string {
  const end = until === null ? 'until resumed' : `until ${shortInstant(until)} UTC`;
  return `${end}${by && ` by ${by.replace(/^console:/, '')}`}`;
}

/** Without `keyOf`, the key is the id. */
type Rows<I extends ListId> = Pick<TableProps<ItemOf<I>>, 'columns' | 'empty'> & Partial<TableProps<ItemOf<I>>>;
const idOf = (item: unknown): string => (item as { readonly id: string }).id;

export const ListTable = <I extends ListId>({ list, label, ...rows }: { list: Listed<I>; label: string } & Rows<I>) => (
  <Show of={list}>{() => <Table keyOf={idOf} {...list} {...rows} label={label} />}</Show>
);

interface Props<I extends ListId> extends Pick<Rows<I>, 'keyOf' | 'empty'> {
  readonly title: string;
  readonly of: I;
  readonly place: ViewPlace;
  readonly filters?: Filters;
  /** Of a page; 0: the list has one page. */
  readonly limit?: number;
  /** Beside the heading. */
  readonly actions?: (list: Listed<I>) => ComponentChildren;
  /** Above the table. */
  readonly note?: (list: Listed<I>) => ComponentChildren;
  readonly columns: (list: Listed<I>) => readonly Column<ItemOf<I>>[];
}

export function ListView<I extends ListId>({ title, of, place, filters = {}, limit = 50, ...props }: Props<I>) {
  const active = activeFilters(place, filters);
  const input = { ...(limit === 0 ? {} : { limit }), ...inputOf(active) };
  const list = useList(of, input as unknown as Input<I>, active.grep === undefined);
  const shown = list.items.length.toLocaleString();
  const first = `${'range' in filters ? 'newest' : 'first'} ${shown}, more below`;
  return (
    <>
      <Head title={title} about={list.data !== null && (list.more === null ? `${shown} in total` : first)}>
        {props.actions?.(list)}
      </Head>
      <FilterBar of={active} filters={filters} place={place} />
      {props.note?.(list)}
      <ListTable {...props} list={list} label={title} columns={props.columns(list)} />
    </>
  );
}

type BarProps = { of: Texts; filters: Filters; place: ViewPlace };

/** The fields of the filters. A small screen shows those that are not active on request. */
function FilterBar({ of, filters, place }: BarProps) {
  const [isOpen, setOpen] = useState(false);
  const names = namesOf(filters, of.range);
  const count = Object.keys(of).length;
  if (names.length === 0) return null;
  return (
    <>
      <button type="button" class="toggle" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        Filters{count > 0 && ` (${count})`}
      </button>
      <div class={isOpen ? 'filters' : 'filters closed'}>
        {names.map((name) => (
          <FilterField key={name} {...filters[name]} name={name} value={of[name] ?? ''} place={place} />
        ))}
        {count > 1 && <a href={to(place.path)}>Clear all</a>}
      </div>
    </>
  );
}

type FieldOf = Partial<Filter> & { readonly name: string; readonly value: string; readonly place: ViewPlace };
type Named = { readonly name: string; readonly profile: string; readonly id?: string };

/**
 * A filter, which becomes a chip when it is active: its button removes it, and a range with its start and end. Existing names are a
 * choice if they are one page, else suggestions; the gateway rejects any other name.
 */
function FilterField({ label = '', choices, all = 'All', name, value, place, ...rest }: FieldOf) {
  const isName = ['route', 'job', 'profile'].includes(name);
  const { data } = useData(name === 'job' ? 'listJobs' : 'listRoutes', isName ? { limit: 200 } : null, false);
  const items: readonly Named[] = data?.items ?? [];
  const entryOf = ({ id, name: text, profile }: Named) =>
    name === 'profile' ? [profile, profile] : [id ?? text, text];
  const names: Texts = Object.fromEntries(items.map(entryOf));
  const known = choices ?? names;
  const strict = choices !== undefined || (isName && data?.next === null);
  const others = Object.hasOwn(known, value) ? { '': all } : { '': all, [value]: value || all };
  const options = [...(strict ? Object.entries(others) : []), ...Object.entries(known)];
  const set = (next: string): void => change(place, { [name]: next });
  const remove = (): void => change(place, name === 'range' ? { range: '', since: '', until: '' } : { [name]: '' });
  const text = `Remove filter ${label}: ${options.find(([each]) => each === value)?.[1] ?? value}`;
  return (
    <div class={value === '' ? 'filter' : 'filter chip'}>
      <Field {...rest} label={label} value={value} change={set} strict={strict} options={options} />
      {value !== '' && (
        <button type="button" aria-label={text} title={text} onClick={remove}>
          <Icon of="x" />
        </button>
      )}
    </div>
  );
}
