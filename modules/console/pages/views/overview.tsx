/** The overview: what is wrong now, what came over time, what waits. */
import type { Output } from '../api.ts';
import { Chart } from '../parts/chart.tsx';
import { useData } from '../parts/data.ts';
import { bytes, count, duration, instant, zone } from '../parts/format.ts';
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
          <Wrong of={state} />
          <Numbers of={state} />
          <Charts place={place} />
          <div class="grid">
            <Card title="Waiting, the oldest first">
              <Entries empty="Nothing waits.">
                {state.waiting.map((one) => (
                  <DeliveryRow key={one.id} of={one} />
                ))}
              </Entries>
            </Card>
            <Card title="Given up">
              <Entries empty="Nothing was given up.">{state.dead.map(deadRow)}</Entries>
            </Card>
          </div>
          <p class="dim small">
            hookwright {state.version} on {state.url}, up {duration(state.now - state.started_at)},{' '}
            {count(state.table.routes, 'route')}, table {state.table.hash.slice(0, 12)}, store{' '}
            {bytes(state.store.bytes)}; times are those of {zone()}
          </p>
        </>
      )}
    </Show>
  </>
);

/** What is said of a thing, which leads somewhere if it is a link. */
const said = (kind: Kind, text: string, [of, href]: readonly [of: string, href: string] = ['', '']) => (
  <Note key={of + text} kind={kind}>
    {of !== '' && <a href={href}>{of}</a>} {text}
  </Note>
);

function Wrong({ of: { problems, alerts, subscriptions, store, paused, last_error, dead, waiting } }: { of: State }) {
  const given = dead.reduce((sum, { count: number }) => sum + number, 0);
  const all = [
    ...problems.map(({ message, blocking }) => said(blocking ? 'bad' : 'warn', message)),
    ...(store.damage === null ? [] : [said('bad', `The store was damaged: ${store.damage}`)]),
    ...store.refused.map((text) => said('bad', text)),
    ...alerts.map(({ title, subject, reason, since, count: times }) =>
      said('warn', `${title}: ${subject}, ${count(times, 'time')} since ${instant(since)}: ${reason}`),
    ),
    given > 0 &&
      said('bad', 'given up.', [count(given, 'delivery', 'deliveries'), to(['deliveries'], { state: 'dead' })]),
    waiting.some(({ waits_for }) => waits_for === 'approval') &&
      said('warn', 'are waited for: a person has to allow what is sent.', ['Approvals', to(['approvals'])]),
    ...subscriptions.quarantined.map(({ name, reason }) => said('warn', `Not served: ${name}: ${reason}`)),
    ...paused.map(({ route, until }) =>
      said('warn', `is paused${until === null ? '' : ` until ${instant(until)}`}: ${PAUSED}`, [route, to(['routes'])]),
    ),
  ].filter((note) => note !== false);
  return (
    <Card title="Wrong now">
      {all.length === 0 ? <p class="good">Nothing is wrong.</p> : all}
      {last_error !== null &&
        said('calm', `${last_error.route ?? 'a job'}, ${instant(last_error.at)}: ${last_error.reason}`, [
          'Last error',
          to(['deliveries', last_error.id]),
        ])}
    </Card>
  );
}

const PAUSED = 'it holds its events, or refuses them where senders wait.';
const SPANS = { hour: 'last hour', day: 'last day', week: 'last week' } as const;
const EVENTS = ['taken', 'ignored', 'duplicate', 'refused', 'failed'] as const;

function Charts({ place }: { place: ViewProps['place'] }) {
  const asked = place.query.get('span');
  const span = asked === 'hour' || asked === 'week' ? asked : 'day';
  const choose = (value: string): void => change(place, 'span', value);
  return (
    <Card
      title="What came"
      aside={<Field label="Over the" value={span} strict options={Object.entries(SPANS)} change={choose} />}
    >
      <Show of={useData('getFigures', { span })}>
        {({ items: figures, ...frame }) => {
          const items = figures.map((figure) => ({ ...figure }));
          const sums = EVENTS.map((name) => [name, items.reduce((sum, item) => sum + item[name], 0)] as const);
          const parts = sums.map(([name, sum]) => [name, `${sum.toLocaleString()} ${name}`] as const);
          const times = items.map(({ slot, half_us, most_us }) => ({ slot, half_us, rest_us: most_us - half_us }));
          return (
            <>
              {items.length === 0 && <p class="dim">No figures yet: they are written once a minute.</p>}
              <Chart
                title={`Events: ${parts.map(([, text]) => text).join(', ')}`}
                {...frame}
                items={items}
                parts={Object.fromEntries(parts)}
              />
              <div class="grid">
                <Chart
                  title="Time until the answer"
                  {...frame}
                  items={times}
                  unit={(us) => duration(us / 1000)}
                  parts={{ half_us: 'Time until the answer, of half', rest_us: 'of 95 in 100' }}
                />
                <Chart
                  title="What waited"
                  {...frame}
                  items={items}
                  parts={{ waiting: 'runs and deliveries that waited' }}
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
      'Runs under way': states?.running,
      'Runs waiting': runs?.queued,
      Delivering: states?.delivering,
      'Waiting for a person': states?.waiting,
      Done: states?.done,
      'Given up': states?.dead,
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
