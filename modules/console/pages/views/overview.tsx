/** The overview: what needs a person, traffic over time, and unfinished deliveries. */
import type { Output } from '../api.ts';
import { call } from '../api.ts';
import { Copy, Open, Pause } from '../parts/act.tsx';
import { Chart, Swatch } from '../parts/chart.tsx';
import { useData, useLive } from '../parts/data.ts';
import { ago, bytes, count, duration, instant, people } from '../parts/format.ts';
import { useGateway } from '../parts/gateway.tsx';
import type { IconName } from '../parts/icons.tsx';
import { Icon } from '../parts/icons.tsx';
import type { ViewProps } from '../parts/router.ts';
import { change, to } from '../parts/router.ts';
import { Badge, Card, Field, Head, Show, Table } from '../parts/ui.tsx';
import { EVENT, OWNER, STATE, WAITS, WHEN } from './deliveries.tsx';
import { ReplayDead } from './replay.tsx';

type State = Output<'getOverview'>;

export function Overview({ place }: ViewProps) {
  const gateway = useGateway();
  useLive(gateway.reload);
  return (
    <>
      <Head title="Overview" about={<Health />} />
      <Show of={gateway}>
        {(state) => (
          <>
            <Needs of={state.needs} changed={gateway.reload} />
            <Traffic place={place} state={state} />
            <h2>Unfinished deliveries, oldest first</h2>
            <Table
              label="Unfinished deliveries"
              items={state.waiting}
              keyOf={({ id }) => id}
              empty="Nothing is unfinished."
              columns={[EVENT, STATE, OWNER, WAITS, WHEN]}
            />
            <p class="dim small">
              Version {state.version} · {state.url} · configuration {state.table.hash.slice(0, 12)} · store{' '}
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
  const { data } = useGateway();
  if (data === null) return null;
  const { node_state: state, table, now, started_at, needs } = data;
  const isWell = needs.length === 0 && state === 'serving';
  const problems = needs.length === 0 ? 'no problems' : count(needs.length, 'problem');
  const held = data.paused.length === 0 ? '' : `, ${data.paused.length} paused`;
  const served = `${count(table.routes - data.paused.length, 'route')} ${state}${held}`;
  return (
    <Badge kind={isWell ? 'good' : 'warn'} icon={isWell ? 'check' : 'alert'}>
      {served}, {problems}, up {duration(now - started_at).replace(/^(\S+ \S+) .*/, '$1')}
    </Badge>
  );
}

function Needs({ of: needs, changed }: { of: State['needs']; changed: () => void }) {
  if (needs.length === 0) return null;
  return (
    <Card title={`Problems (${needs.length})`}>
      <ul class="needs">
        {needs.map((need) => (
          <li key={need.name + need.text}>
            <span class={need.urgent ? 'bad' : 'warn'}>
              <Icon of={ICONS[need.kind] ?? 'alert'} />
            </span>
            <span>
              <b>{need.place === null ? need.name : <a href={`#/${need.place}`}>{need.name}</a>}</b> {people(need.text)}{' '}
              <span class="when">{need.since !== null && `(${ago(need.since)})`}</span>{' '}
              {need.until !== null && untilText(need.until)}
              {need.reason && <p class="dim small">{need.reason}</p>}
            </span>
            <Action of={need} changed={changed} />
          </li>
        ))}
      </ul>
    </Card>
  );
}

const ICONS: Readonly<Record<string, IconName>> = {
  dead: 'x',
  approval: 'approvals',
  limited: 'clock',
  paused: 'pause',
};

/** Without the date if that is today. */
const untilText = (at: number): string =>
  `until ${instant(at).replace(instant(Date.now()).slice(0, 11), '')} (${duration(at - Date.now())} left)`;

function Action({ of, changed }: { of: State['needs'][number]; changed: () => void }) {
  const { action, name, profile, route, job, count, reason } = of;
  if (action === 'copy') return <Copy text={() => reason ?? ''}>Copy message</Copy>;
  if (action === 'replay')
    return <ReplayDead of={route === null ? { job: job ?? '' } : { route }} count={count} done={changed} />;
  const resume = () => call('resumeRoute', { name, profile: profile ?? 'default' });
  if (action === 'resume') return <Pause name={name} changed={changed} resume={resume} />;
  return action && <Open href={`#/${of.place}`}>{action === 'show' ? 'Show requests' : 'Review'}</Open>;
}

/** Ranges of the charts, with their seconds in lists. */
const SPANS = { hour: ['Last hour', '3600'], day: ['Last 24 h', '86400'], week: ['Last 7 days', '604800'] } as const;
const OPTIONS = Object.entries(SPANS).map(([span, [text]]) => [span, text] as const);
/** Less room than this has half as many bars, in px. */
const NARROW = 700;

function Traffic({ place, state }: Pick<ViewProps, 'place'> & { state: State }) {
  const chosen = place.query.get('span');
  const span = chosen === 'hour' || chosen === 'week' ? chosen : 'day';
  const choose = (chosen: string): void => change(place, { span: chosen });
  const figures = useData('getFigures', { span, coarse: innerWidth < NARROW });
  return (
    <Card title="Requests" aside={<Field label="Range" value={span} strict options={OPTIONS} change={choose} />}>
      <Show of={figures}>
        {(figures) =>
          figures.items.length === 0 ? (
            <NextStep after={state} />
          ) : (
            <>
              <Totals of={figures.totals} range={SPANS[span][1]} />
              <Charts {...figures} states={state.states} />
            </>
          )
        }
      </Show>
    </Card>
  );
}

const NextStep = ({ after: { table, subscriptions, config } }: { after: State }) =>
  table.routes + subscriptions.serving === 0 ? (
    <p class="bar">
      There is no route yet: add one to {config ?? 'the configuration'}, or begin with a scheduled job.{' '}
      <Open href={to(['blueprints'])}>Show blueprints</Open>
    </p>
  ) : (
    <p class="bar">
      No requests in this range. <Open href={to(['routes'])}>Send a test event</Open>
    </p>
  );

type Figures = Output<'getFigures'>;
const OUTCOMES = ['accepted', 'ignored', 'duplicate', 'rejected', 'failed'] as const;

/** The number of each outcome, with a link to its requests: also the legend of the chart. */
const Totals = ({ of, range }: { of: Figures['totals']; range: string }) => (
  <ul class="numbers">
    {OUTCOMES.map((outcome) => (
      <li key={outcome}>
        <a href={to(['requests'], { outcome, range })}>
          <b>{of[outcome].toLocaleString()}</b>{' '}
          <span class={outcome}>
            <Swatch of={outcome} /> {outcome}
          </span>
        </a>
      </li>
    ))}
  </ul>
);

const milliseconds = (us: number): string =>
  us < 10_000 ? `${Number((us / 1000).toPrecision(2))} ms` : duration(us / 1000);

function Charts({ items, totals, median, p95, from, to: end, slot_ms, states }: Figures & Pick<State, 'states'>) {
  // From the first figure on, but at least four spans of time, so that something can be seen.
  const frame = { from: Math.max(from, Math.min(items[0]?.slot ?? from, end - 4 * slot_ms)), to: end, slot_ms };
  // The current span of time is not over: it has what is pending now.
  const now = states === null ? 0 : states.pending + states.delivering;
  const queue = [...items.filter(({ slot }) => slot < end - slot_ms), { slot: end - slot_ms, pending: now }];
  const most = Math.max(...queue.map(({ pending }) => pending));
  const queued = `Queued: ${now} now, at most ${most} in this range`;
  const requests = OUTCOMES.filter((outcome) => totals[outcome] > 0);
  return (
    <>
      <Chart title={`Requests per ${duration(slot_ms)}`} {...frame} items={items} series={requests} />
      <div class="grid">
        <Chart title="Response time" {...frame} items={items} series={TIMES} unit={milliseconds} none={NO_TIME} tens>
          Typical response time: <Swatch of="median" /> median {milliseconds(median ?? 0)}, <Swatch of="p95" />{' '}
          <span title="95 % of requests are faster">p95 {milliseconds(p95 ?? 0)}</span>
        </Chart>
        <Chart title={queued} {...frame} items={queue} series={most > 1 ? ['pending'] : []} none={`${queued}.`} />
      </div>
    </>
  );
}

const TIMES = ['median', 'p95'];
const NO_TIME = 'The response time is not measured yet: it is stored once a minute.';
