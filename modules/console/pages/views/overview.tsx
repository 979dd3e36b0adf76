/** The overview: what needs a person, traffic over time, and unfinished deliveries. */
import type { Output } from '../api.ts';
import { Chart } from '../parts/chart.tsx';
import { useData, useLive } from '../parts/data.ts';
import { bytes, count, duration } from '../parts/format.ts';
import { useGateway } from '../parts/gateway.tsx';
import { Icon } from '../parts/icons.tsx';
import type { ViewProps } from '../parts/router.ts';
import { change, to } from '../parts/router.ts';
import { Card, Field, Head, Show, Table } from '../parts/ui.tsx';
import { EVENT, OWNER, STATE, WAITS_FOR, WHEN } from './deliveries.tsx';

export function Overview({ place }: ViewProps) {
  const gateway = useGateway();
  useLive(gateway.reload);
  return (
    <>
      <Head title="Overview" />
      <Show of={gateway}>
        {(state) => (
          <>
            <Needs />
            <Traffic place={place} />
            <h2>Unfinished deliveries, oldest first</h2>
            <Table
              label="Unfinished deliveries"
              items={state.waiting}
              keyOf={({ id }) => id}
              empty="Every delivery has ended."
              columns={[
                EVENT,
                STATE,
                OWNER,
                ['Waits for', ({ waits_for: what }) => what !== null && WAITS_FOR[what], 'clip'],
                WHEN,
              ]}
            />
            <p class="dim small">
              hookwright {state.version} on {state.url}, up {duration(state.now - state.started_at)},{' '}
              {count(state.table.routes, 'route')}, table {state.table.hash.slice(0, 12)}, store{' '}
              {bytes(state.store.bytes)}
            </p>
          </>
        )}
      </Show>
    </>
  );
}

function Needs() {
  const { needs } = useGateway();
  return (
    <Card title={needs.length === 0 ? 'Problems' : `Problems (${needs.length})`}>
      {needs.length === 0 && (
        <p class="good">
          <Icon of="check" /> No problems.
        </p>
      )}
      <ul class="needs">
        {needs.map(([kind, icon, [name, href], text, action]) => (
          <li key={name + text}>
            <span class={kind}>
              <Icon of={icon} />
            </span>
            <span>
              {href === undefined ? name : <a href={href}>{name}</a>} {text}
            </span>
            {action}
          </li>
        ))}
      </ul>
    </Card>
  );
}

/** Ranges of the charts, with their seconds in lists. */
const SPANS = { hour: ['Last hour', '3600'], day: ['Last 24 h', '86400'], week: ['Last 7 days', '604800'] } as const;
const OPTIONS = Object.entries(SPANS).map(([span, [text]]) => [span, text] as const);
/** Figures of the API by the outcome that people know. */
const EVENTS = {
  accepted: 'taken',
  ignored: 'ignored',
  duplicate: 'duplicate',
  rejected: 'refused',
  failed: 'failed',
} as const;
const OUTCOMES = Object.entries(EVENTS);

type Figures = Output<'getFigures'>;

function Traffic({ place }: { place: ViewProps['place'] }) {
  const chosen = place.query.get('span');
  const span = chosen === 'hour' || chosen === 'week' ? chosen : 'day';
  const choose = (value: string): void => change(place, 'span', value);
  const range = <Field label="Range" value={span} strict options={OPTIONS} change={choose} />;
  return (
    <Card title="Traffic" aside={<div class="filters">{range}</div>}>
      <Show of={useData('getFigures', { span })}>
        {(figures) =>
          figures.items.length === 0 ? (
            <p class="dim">No traffic in this range yet. Figures are written once a minute.</p>
          ) : (
            <>
              <Totals of={figures} range={SPANS[span][1]} />
              <Charts {...figures} from={startOf(figures)} />
            </>
          )
        }
      </Show>
    </Card>
  );
}

/** The sum of each outcome, with a link to its requests. */
const Totals = ({ of: { items }, range }: { of: Figures; range: string }) => (
  <ul class="numbers">
    {OUTCOMES.map(([outcome, figure]) => (
      <li key={outcome}>
        <a href={to(['requests'], { outcome, range })}>
          <b>{items.reduce((sum, item) => sum + item[figure], 0).toLocaleString()}</b>{' '}
          <span class={outcome}>{outcome}</span>
        </a>
      </li>
    ))}
  </ul>
);

/** The first figure; earlier if that is less than four spans of time ago, so that a line can be seen. */
const startOf = ({ items, from, to: end, slot_ms }: Figures): number =>
  Math.max(from, Math.min(items[0]?.slot ?? from, end - 4 * slot_ms));

const milliseconds = (us: number): string =>
  us < 10_000 ? `${Number((us / 1000).toPrecision(2))} ms` : duration(us / 1000);

function Charts({ items, ...frame }: Figures) {
  const events = items.map((item) => ({
    slot: item.slot,
    ...Object.fromEntries(OUTCOMES.map(([name, figure]) => [name, item[figure]])),
  }));
  const times = items.map(({ slot, half_us, most_us }) => ({ slot, median: half_us || null, p95: most_us || null }));
  const pending = items.map(({ slot, waiting }) => ({ slot, pending: waiting }));
  const title = `Requests per ${duration(frame.slot_ms)}`;
  return (
    <>
      <Chart title={title} {...frame} items={events} lines={OUTCOMES.map(([name]) => name)} />
      <div class="grid">
        <Chart {...frame} title="Response time" items={times} unit={milliseconds} tens lines={['median', 'p95']} />
        <Chart {...frame} title="Pending runs and deliveries" items={pending} lines={['pending']} />
      </div>
    </>
  );
}
