/** The overview: what needs a person, traffic over time, and unfinished deliveries. */
import type { Output } from '../api.ts';
import { Chart } from '../parts/chart.tsx';
import { useData, useLive } from '../parts/data.ts';
import { bytes, count, duration } from '../parts/format.ts';
import { useGateway } from '../parts/gateway.tsx';
import { Icon } from '../parts/icons.tsx';
import type { ViewProps } from '../parts/router.ts';
import { change, to } from '../parts/router.ts';
import { Badge, Card, Field, Head, Show, Table } from '../parts/ui.tsx';
import { EVENT, OWNER, STATE, WAITS, WHEN } from './deliveries.tsx';

export function Overview({ place }: ViewProps) {
  const gateway = useGateway();
  useLive(gateway.reload);
  return (
    <>
      <Head title="Overview" about={<Health />} />
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
              columns={[EVENT, STATE, OWNER, WAITS, WHEN]}
            />
            <p class="dim small">
              hookwright {state.version} on {state.url}, configuration {state.table.hash.slice(0, 12)}, store{' '}
              {bytes(state.store.bytes)}
            </p>
          </>
        )}
      </Show>
    </>
  );
}

/** Whether the gateway serves, in one line. */
function Health() {
  const { data, needs } = useGateway();
  if (data === null) return null;
  const { node_state: state, table, now, started_at } = data;
  const isWell = needs.length === 0 && state === 'serving';
  const problems = needs.length === 0 ? 'no problems' : count(needs.length, 'problem');
  const uptime = duration(now - started_at)
    .split(' ', 2)
    .join(' ');
  const held = data.paused.length === 0 ? '' : ` (${data.paused.length} paused)`;
  const served = `${state === 'serving' ? 'Serving' : 'Stopping'} ${count(table.routes, 'route')}${held}`;
  return (
    <Badge kind={isWell ? 'good' : 'warn'} icon={isWell ? 'check' : 'alert'}>
      {served}, {problems}, up {uptime}
    </Badge>
  );
}

function Needs() {
  const { needs } = useGateway();
  if (needs.length === 0) return null;
  return (
    <Card title={`Problems (${needs.length})`}>
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
/** Outcomes that people know; the figures of the API have other names for two of them. */
const OUTCOMES = ['accepted', 'ignored', 'duplicate', 'rejected', 'failed'] as const;
const figureOf = (outcome: (typeof OUTCOMES)[number]) =>
  outcome === 'accepted' ? 'taken' : outcome === 'rejected' ? 'refused' : outcome;

type Figures = Output<'getFigures'>;

function Traffic({ place }: Pick<ViewProps, 'place'>) {
  const chosen = place.query.get('span');
  const span = chosen === 'hour' || chosen === 'week' ? chosen : 'day';
  const choose = (chosen: string): void => change(place, { span: chosen });
  return (
    <Card title="Traffic" aside={<Field label="Range" value={span} strict options={OPTIONS} change={choose} />}>
      <Show of={useData('getFigures', { span })}>
        {(figures) =>
          figures.items.length === 0 ? (
            <p class="dim">No traffic in this range yet. Figures are written once a minute.</p>
          ) : (
            <>
              <h3>Requests</h3>
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
    {OUTCOMES.map((outcome) => (
      <li key={outcome}>
        <a href={to(['requests'], { outcome, range })}>
          <b>{items.reduce((sum, item) => sum + item[figureOf(outcome)], 0).toLocaleString()}</b>{' '}
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
  const { states = null } = useGateway().data ?? {};
  const events = items.map((item) => ({
    slot: item.slot,
    ...Object.fromEntries(OUTCOMES.map((name) => [name, item[figureOf(name)]])),
  }));
  const times = items.map(({ slot, half_us, most_us }) => ({ slot, median: half_us || null, p95: most_us || null }));
  // The current span of time is not over: it has what is pending now.
  const last = frame.to - frame.slot_ms;
  const now = states === null ? 0 : states.pending + states.delivering;
  const ended = items.filter(({ slot }) => slot < last).map(({ slot, waiting }) => ({ slot, pending: waiting }));
  const pending = [...ended, { slot: last, pending: now }];
  const title = `Requests per ${duration(frame.slot_ms)}`;
  const speed = 'Response time (p95: 95 % are faster)';
  const backlog = `Queued runs and deliveries: ${now} now`;
  return (
    <>
      <Chart title={title} {...frame} items={events} lines={OUTCOMES} />
      <div class="grid">
        <Chart {...frame} title={speed} items={times} unit={milliseconds} tens lines={['median', 'p95']} />
        <Chart {...frame} title={backlog} items={pending} lines={['pending']} />
      </div>
    </>
  );
}
