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
import type { Column, TableProps } from './ui.tsx';
import { Field, Head, Show, Table, Whole } from './ui.tsx';

interface Filter {
  readonly label: string;
  /** All accepted values, with their texts. */
  readonly choices?: Readonly<Record<string, string>> | undefined;
  /** The text of no choice. */
  readonly all?: string;
  readonly type?: 'text' | 'search' | 'datetime-local';
}
/** Filters by parameter of the operation: one of `KNOWN` is chosen from existing names. */
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

/** Filters that count only with a custom range. */
const CUSTOM = ['since', 'until'];

/** The filters in the address that the view accepts, as texts. */
export function activeFilters({ query }: ViewPlace, filters: Filters): Texts {
  const isActive = ([name, value]: readonly [string, string]): boolean => {
    if (CUSTOM.includes(name) && query.get('range') !== 'custom') return false;
    const { choices = { [value]: '' } } = (Object.hasOwn(filters, name) ? filters[name] : undefined) ?? { choices: {} };
    return value !== '' && Object.hasOwn(choices, value);
  };
  return Object.fromEntries([...query].filter(isActive));
}

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

/** `until 05 Jan 08:00 by ben`. */
export function pauseText({ until, by = '' }: { until: number | null; by?: string | undefined }): string {
  const end = until === null ? 'until resumed' : `until ${shortInstant(until).slice(0, -3)}`;
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
  /** Absent: unless it is searched. */
  readonly live?: boolean;
  /** Beside the heading. */
  readonly actions?: (list: Listed<I>) => ComponentChildren;
  /** Above the table. */
  readonly note?: (list: Listed<I>) => ComponentChildren;
  readonly columns: (list: Listed<I>) => readonly Column<ItemOf<I>>[];
}

export function ListView<I extends ListId>({ title, of, place, filters = {}, limit = 50, ...props }: Props<I>) {
  const active = activeFilters(place, filters);
  const input = { ...(limit === 0 ? {} : { limit }), ...inputOf(active) };
  const list = useList(of, input as unknown as Input<I>, props.live ?? active.grep === undefined);
  const about = (): string => {
    const shown = list.items.length.toLocaleString();
    if (list.more === null) return `${shown} in total`;
    return `${'range' in filters ? 'newest' : 'first'} ${shown}, more below`;
  };
  return (
    <>
      <Head title={title} about={list.data !== null && about()}>
        {props.actions?.(list)}
      </Head>
      <FilterBar of={active} filters={filters} place={place} />
      {props.note?.(list)}
      <ListTable {...props} list={list} label={title} columns={props.columns(list)} />
    </>
  );
}

type BarProps = { of: Texts; filters: Filters; place: ViewPlace };

/** The fields of the filters, which a small screen shows on request, and the active ones. */
function FilterBar({ of, filters, place }: BarProps) {
  const [isOpen, setOpen] = useState(false);
  const names = Object.keys(filters).filter((name) => of.range === 'custom' || !CUSTOM.includes(name));
  const chips = chipsOf(of, filters);
  if (names.length === 0) return null;
  return (
    <>
      <button type="button" class="toggle" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        Filters{chips.length > 0 && ` (${chips.length})`}
      </button>
      <div class={isOpen ? 'filters' : 'filters closed'}>
        {names.map((name) => (
          <FilterField key={name} {...filters[name]} name={name} place={place} />
        ))}
      </div>
      {chips.length > 0 && (
        <div class="bar">
          {chips.map(([name, text]) => (
            <Chip key={name} name={name} text={text} place={place} />
          ))}
          {chips.length > 1 && <a href={to(place.path)}>Clear all</a>}
        </div>
      )}
    </>
  );
}

/** The active filters by name. A range has one text, also with a start and an end. */
function chipsOf({ since, until, ...of }: Texts, filters: Filters): readonly (readonly [string, string])[] {
  const [from = 'the start', end = 'now'] = [since, until].map((time) => time?.replace('T', ' '));
  return Object.entries(of).map(([name, value]) => {
    const { label, choices = {} } = filters[name] ?? {};
    return [name, `${label}: ${value === 'custom' ? `${from} to ${end}` : (choices[value] ?? value)}`] as const;
  });
}

/** An active filter; pressing it removes it. */
function Chip({ name, text, place }: { name: string; text: string; place: ViewPlace }) {
  const none = name === 'range' ? { range: '', since: '', until: '' } : { [name]: '' };
  return (
    <button type="button" class="chip" aria-label={`Remove filter ${text}`} onClick={() => change(place, none)}>
      {text} <Icon of="x" />
    </button>
  );
}

/** Filters whose values are known: the list that has them, and the property of its items. */
const KNOWN: Readonly<Record<string, readonly ['listRoutes' | 'listJobs', 'name' | 'id' | 'profile']>> = {
  route: ['listRoutes', 'name'],
  job: ['listJobs', 'id'],
  profile: ['listRoutes', 'profile'],
};

type FieldOf = Partial<Filter> & { readonly name: string; readonly place: ViewPlace };
type NamedItem = { readonly name: string; readonly profile: string; readonly id?: string };

/** Existing names are a choice if they are one page, else suggestions; the gateway rejects any other name. */
function FilterField({ label = '', choices, all = 'All', type = 'text', name, place }: FieldOf) {
  const [of, key = 'name'] = KNOWN[name] ?? [];
  const { data } = useData(of ?? 'listRoutes', of === undefined ? null : { limit: 200 }, false);
  const value = place.query.get(name) ?? '';
  const items: readonly NamedItem[] = data?.items ?? [];
  const names = Object.fromEntries(items.map((item) => [item[key] ?? '', key === 'id' ? item.name : item[key]]));
  const options = Object.entries<string>(choices ?? names);
  const isStrict = choices !== undefined || (of !== undefined && data?.next === null);
  const isUnknown = choices === undefined && value !== '' && !Object.hasOwn(names, value);
  const others = isUnknown ? { '': all, [value]: value } : { '': all };
  const set = (next: string): void => change(place, { [name]: next });
  const shown = { label, type, value, change: set, strict: isStrict };
  return <Field {...shown} options={isStrict ? [...Object.entries(others), ...options] : options} />;
}
