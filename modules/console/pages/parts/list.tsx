/** List views: a heading, filters that are stored in the address, and a table of the items. */

import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Input } from '../api.ts';
import type { ItemOf, Listed, ListId } from './data.ts';
import { useData, useList } from './data.ts';
import { Icon } from './icons.tsx';
import type { ViewPlace } from './router.ts';
import { change, to } from './router.ts';
import type { Column, TableProps } from './ui.tsx';
import { Field, Head, Show, Table } from './ui.tsx';

interface Filter {
  readonly label: string;
  /** All accepted values, with their texts. */
  readonly choices?: Readonly<Record<string, string>> | undefined;
  /** The list operation that suggests names. */
  readonly known?: 'listRoutes' | 'listJobs';
  readonly type?: 'text' | 'search' | 'datetime-local';
}
/** Filters by parameter of the operation. */
type Filters = Readonly<Record<string, Filter>>;

/** The time range of a list: a span until now, in seconds, or a start and an end. */
export const RANGE = {
  range: {
    label: 'Range',
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

interface Props<I extends ListId> extends Pick<TableProps<ItemOf<I>>, 'keyOf' | 'empty'> {
  readonly title: string;
  readonly of: I;
  readonly place: ViewPlace;
  readonly filters?: Filters;
  readonly limit?: number;
  readonly live?: boolean;
  /** Beside the heading. */
  readonly actions?: (list: Listed<I>) => ComponentChildren;
  /** Above the table. */
  readonly note?: (list: Listed<I>) => ComponentChildren;
  readonly columns: (list: Listed<I>) => readonly Column<ItemOf<I>>[];
}

export function ListView<I extends ListId>({ title, of, place, filters = {}, columns, ...props }: Props<I>) {
  const active = activeFilters(place, filters);
  const list = useList(of, { limit: props.limit ?? 50, ...inputOf(active) } as unknown as Input<I>, props.live);
  const shown = list.items.length.toLocaleString();
  const about = list.data === null ? '' : list.more === null ? `${shown} in total` : `first ${shown}, there are more`;
  return (
    <>
      <Head title={title} about={about}>
        {props.actions?.(list)}
      </Head>
      <FilterBar of={active} filters={filters} place={place} />
      {props.note?.(list)}
      <Show of={list}>{() => <Table {...props} {...list} label={title} columns={columns(list)} />}</Show>
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
          {chips.map((chip) => (
            <Chip key={chip[0]} of={chip} place={place} />
          ))}
          {chips.length > 1 && <a href={to(place.path)}>Clear all</a>}
        </div>
      )}
    </>
  );
}

type ChipText = readonly [name: string, label: string, value: string];

/** A range has one text, also with a start and an end. */
function chipsOf({ since, until, ...of }: Texts, filters: Filters): readonly ChipText[] {
  const [from = 'the start', end = 'now'] = [since, until].map((time) => time?.replace('T', ' '));
  return Object.entries(of).map(([name, value]): ChipText => {
    const { label = '', choices } = filters[name] ?? {};
    return [name, label, value === 'custom' ? `${from} to ${end}` : (choices?.[value] ?? value)];
  });
}

/** An active filter; pressing it removes it. */
function Chip({ of: [name, label, value], place }: { of: ChipText; place: ViewPlace }) {
  const none = name === 'range' ? { range: '', since: '', until: '' } : { [name]: '' };
  const text = `Remove filter ${label}: ${value}`;
  return (
    <button type="button" class="chip" aria-label={text} onClick={() => change(place, none)}>
      {label}: <b>{value}</b> <Icon of="x" />
    </button>
  );
}

type FieldOf = Partial<Filter> & { readonly name: string; readonly place: ViewPlace };

/** Suggests existing names; the gateway rejects any other name. */
function FilterField({ label = '', choices, known, type = 'text', name, place }: FieldOf) {
  const { data } = useData(known ?? 'listRoutes', known === undefined ? null : { limit: 200 }, false);
  const names = new Set(data?.items.map((item) => item.name));
  const options = choices === undefined ? [...names].map((each) => [each, each] as const) : Object.entries(choices);
  const isStrict = choices !== undefined;
  const set = (value: string): void => change(place, { [name]: value });
  const shown = { label, type, change: set, strict: isStrict, value: place.query.get(name) ?? '' };
  return <Field {...shown} options={isStrict ? [['', 'All'], ...options] : options} />;
}
