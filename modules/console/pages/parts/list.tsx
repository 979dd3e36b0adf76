/** List views: a heading, filters that are stored in the address, and a table of the items. */

import type { ComponentChildren } from 'preact';
import type { Input } from '../api.ts';
import type { ItemOf, Listed, ListId } from './data.ts';
import { useData, useList } from './data.ts';
import { Icon } from './icons.tsx';
import type { ViewPlace } from './router.ts';
import { change, to } from './router.ts';
import type { Column } from './ui.tsx';
import { Field, Head, Note, Show, Table } from './ui.tsx';

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

/** Filters that count only with a custom range. */
const CUSTOM = ['since', 'until'];

/** The filters in the address that the view accepts, as texts. */
export function activeFilters({ query }: ViewPlace, filters: Filters): Readonly<Record<string, string>> {
  const isActive = ([name, value]: readonly [string, string]): boolean => {
    if (CUSTOM.includes(name) && query.get('range') !== 'custom') return false;
    const { choices = { [value]: '' } } = (Object.hasOwn(filters, name) ? filters[name] : undefined) ?? { choices: {} };
    return value !== '' && Object.hasOwn(choices, value);
  };
  return Object.fromEntries([...query].filter(isActive));
}

/** The input of the operation for these filters. */
function inputOf({
  range,
  since,
  until,
  ...rest
}: Readonly<Record<string, string>>): Readonly<Record<string, unknown>> {
  if (Number(range) > 0) return { ...rest, since: -1000 * Number(range) };
  const ends = Object.entries({ since, until }).map(([name, text]) => [name, Date.parse(`${text}Z`)] as const);
  return { ...rest, ...Object.fromEntries(ends.filter(([, at]) => at >= 0)) };
}

interface Props<I extends ListId> {
  readonly title: string;
  readonly of: I;
  readonly place: ViewPlace;
  readonly filters?: Filters;
  readonly limit?: number;
  readonly live?: boolean;
  readonly empty: string;
  /** Beside the heading. */
  readonly actions?: (list: Listed<I>) => ComponentChildren;
  /** Above the table. */
  readonly note?: (list: Listed<I>) => ComponentChildren;
  readonly keyOf: (item: ItemOf<I>) => string;
  readonly columns: (list: Listed<I>) => readonly Column<ItemOf<I>>[];
}

export function ListView<I extends ListId>({ title, of, place, filters = {}, ...props }: Props<I>) {
  const active = activeFilters(place, filters);
  const list = useList(of, { limit: props.limit ?? 50, ...inputOf(active) } as unknown as Input<I>, props.live);
  const shown = list.items.length.toLocaleString();
  const about = list.data === null ? '' : list.more === null ? `${shown} in total` : `first ${shown}, there are more`;
  return (
    <>
      <Head title={title} about={about}>
        {props.actions?.(list)}
      </Head>
      <div class="filters">
        {Object.entries(filters).map(
          ([name, filter]) =>
            (active.range === 'custom' || !CUSTOM.includes(name)) && (
              <FilterField
                key={name}
                {...filter}
                value={place.query.get(name) ?? ''}
                set={(value) => change(place, name, value)}
              />
            ),
        )}
      </div>
      <Chips of={active} filters={filters} place={place} />
      {list.isSampled && <Note>Too much traffic to show everything: this is a sample of the newest entries.</Note>}
      {props.note?.(list)}
      <Show of={list}>
        {() => (
          <Table
            label={title}
            columns={props.columns(list)}
            items={list.items}
            keyOf={props.keyOf}
            empty={props.empty}
            more={list.more}
          />
        )}
      </Show>
    </>
  );
}

type ChipsProps = { of: Readonly<Record<string, string>>; filters: Filters; place: ViewPlace };

/** The active filters; pressing one removes it. */
function Chips({ of, filters, place }: ChipsProps) {
  const all = Object.entries(of);
  if (all.length === 0) return null;
  const textOf = (name: string, value: string): string =>
    filters[name]?.choices?.[value] ?? value.replace(/^(\d{4}-\d\d-\d\d)T/, '$1 ');
  return (
    <div class="bar">
      {all.map(([name, value]) => (
        <button
          key={name}
          type="button"
          class="chip"
          aria-label={`Remove filter ${filters[name]?.label}: ${textOf(name, value)}`}
          onClick={() => change(place, name, '')}
        >
          {filters[name]?.label}: <b>{textOf(name, value)}</b> <Icon of="x" />
        </button>
      ))}
      {all.length > 1 && <a href={to(place.path)}>Clear all</a>}
    </div>
  );
}

type FieldOf = Filter & { readonly value: string; readonly set: (value: string) => void };

/** Suggests existing names; the gateway rejects any other name. */
function FilterField({ label, choices, known, type = 'text', value, set }: FieldOf) {
  const { data } = useData(known ?? 'listRoutes', known === undefined ? null : { limit: 200 }, false);
  const names = [...new Set(data?.items.map(({ name }) => name))];
  const options = Object.entries(choices ?? Object.fromEntries(names.map((each) => [each, each])));
  const isStrict = choices !== undefined;
  const shown = { label, value, type, change: set, strict: isStrict };
  return <Field {...shown} options={isStrict ? [['', 'All'], ...options] : options} />;
}
