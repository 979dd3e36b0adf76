/** The overview: current problems, traffic over time, and pending work. */
import type { Output } from '../api.ts';
import { Chart } from '../parts/chart.tsx';
import { useData } from '../parts/data.ts';
import { bytes, count, duration, instant } from '../parts/format.ts';
import type { ViewProps } from '../parts/router.ts';
import { change, to } from '../parts/router.ts';
import type { Kind } from '../parts/ui.tsx';
import { Card, Entries, Field, Head, Note, Row, Show } from '../parts/ui.tsx';
import { DeliveryRow } from './deliveries.tsx';

type State = Output<'getOverview'>;

export const Overview = ({ place }: ViewProps) => (
  <>
    <Head title="Overview" />
    <Show of={useData('getOverview', {})}>
      {(state) => (
        <>
          <Problems {...state} />
          <Numbers of={state} />
          <Charts place={place} />
          <div class="grid">
            <Card title="Waiting, oldest first">
              <Entries empty="Nothing is waiting.">
                {state.waiting.map((one) => (
                  <DeliveryRow key={one.id} of={one} />
                ))}
              </Entries>
            </Card>
            <Card title="Dead deliveries">
              <Entries empty="No dead deliveries.">{state.dead.map(deadRow)}</Entries>
            </Card>
          </div>
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

/** A note, which begins with a link if one is given. */
const note = (kind: Kind, text: string, [of, href]: readonly [of: string, href: string] = ['', '']) => (
  <Note key={of + text} kind={kind}>
    {of !== '' && <a href={href}>{of}</a>} {text}
  </Note>
);

function Problems({ problems, alerts, subscriptions, store, paused, last_error, dead, waiting }: State) {
  const failed = dead.reduce((sum, { count: number }) => sum + number, 0);
  const all = [
    ...problems.map(({ message, blocking }) => note(blocking ? 'bad' : 'warn', message)),
    ...(store.damage === null ? [] : [note('bad', `The store is damaged: ${store.damage}`)]),
    ...store.refused.map((text) => note('bad', text)),
    ...alerts.map(({ title, subject, reason, since, count: times }) =>
      note('warn', `${title}: ${subject}, ${count(times, 'time')} since ${instant(since)}: ${reason}`),
    ),
    failed > 0 &&
      note('bad', 'failed.', [count(failed, 'delivery', 'deliveries'), to(['deliveries'], { state: 'dead' })]),
    waiting.some(({ waits_for }) => waits_for === 'approval') &&
      note('warn', 'are pending: messages wait for a person to approve them.', ['Approvals', to(['approvals'])]),
    ...subscriptions.quarantined.map(({ name, reason }) => note('warn', `${name} is not served: ${reason}`)),
    ...paused.map(({ route, until }) =>
      note('warn', `is paused${until === null ? '' : ` until ${instant(until)}`}: ${PAUSED}`, [route, to(['routes'])]),
    ),
  ].filter((each) => each !== false);
  return (
    <Card title="Problems">
      {all.length === 0 ? <p class="good">No problems.</p> : all}
      {last_error !== null &&
        note('calm', `${last_error.route ?? 'a job'}, ${instant(last_error.at)}: ${last_error.reason}`, [
          'Last error',
          to(['deliveries', last_error.id]),
        ])}
    </Card>
  );
}

const PAUSED = 'its events wait; a direct route rejects them.';
const SPANS = { hour: 'Last hour', day: 'Last day', week: 'Last week' } as const;
const EVENTS = ['taken', 'ignored', 'duplicate', 'refused', 'failed'] as const;
const LABELS: Readonly<Record<string, string>> = { taken: 'accepted', refused: 'rejected' };

function Charts({ place }: { place: ViewProps['place'] }) {
  const chosen = place.query.get('span');
  const span = chosen === 'hour' || chosen === 'week' ? chosen : 'day';
  const choose = (value: string): void => change(place, 'span', value);
  return (
    <Card
      title="Traffic"
      aside={<Field label="Range" value={span} strict options={Object.entries(SPANS)} change={choose} />}
    >
      <Show of={useData('getFigures', { span })}>
        {({ items: figures, ...frame }) => {
          const items = figures.map((figure) => ({ ...figure }));
          const sums = EVENTS.map((name) => [name, items.reduce((sum, item) => sum + item[name], 0)] as const);
          const parts = sums.map(([name, sum]) => [name, `${sum.toLocaleString()} ${LABELS[name] ?? name}`] as const);
          const times = items.map(({ slot, half_us, most_us }) => ({ slot, half_us, rest_us: most_us - half_us }));
          return (
            <>
              {items.length === 0 && <p class="dim">No data yet. Figures are written once a minute.</p>}
              <Chart
                title={`Events: ${parts.map(([, text]) => text).join(', ')}`}
                {...frame}
                items={items}
                parts={Object.fromEntries(parts)}
              />
              <div class="grid">
                <Chart
                  title="Response time: median and p95"
                  {...frame}
                  items={times}
                  unit={(us) => duration(us / 1000)}
                  parts={{ half_us: 'Response time: median', rest_us: 'p95' }}
                />
                <Chart
                  title="Pending runs and deliveries"
                  {...frame}
                  items={items}
                  parts={{ waiting: 'Pending runs and deliveries' }}
                />
              </div>
            </>
          );
        }}
      </Show>
    </Card>
  );
}

const Numbers = ({ of: { runs, states } }: { of: State }) => (
  <dl class="filters">
    {Object.entries({
      'Runs in progress': states?.running,
      'Runs queued': runs?.queued,
      Delivering: states?.delivering,
      'Waiting for approval': states?.waiting,
      Done: states?.done,
      Dead: states?.dead,
    }).map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{value?.toLocaleString() ?? '–'}</dd>
      </div>
    ))}
  </dl>
);

const deadRow = ({ profile, route, job, count: number, since }: State['dead'][number]) => (
  <Row
    key={`${profile} ${route} ${job}`}
    href={to(['deliveries'], { state: 'dead', route, job: route === null ? job : null })}
    name={route ?? job}
    end={`since ${instant(since)}`}
  >
    <span>{number.toLocaleString()}</span>
  </Row>
);
