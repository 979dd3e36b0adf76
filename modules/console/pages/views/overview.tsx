/** The overview: what is wrong now, what came over time, what waits. */
import type { Output } from '../api.ts';
import { Bars, Lines } from '../parts/chart.tsx';
import { useData } from '../parts/data.ts';
import { bytes, count, duration, instant, zone } from '../parts/format.ts';
import type { ViewPlace } from '../parts/router.ts';
import { to } from '../parts/router.ts';
import { Card, Head, Note, Rows, Select, Show } from '../parts/ui.tsx';
import { DeliveryRow } from './deliveries.tsx';

type State = Output<'getOverview'>;

const SPANS = [
  ['hour', 'last hour'],
  ['day', 'last day'],
  ['week', 'last week'],
] as const;
const OUTCOMES = ['taken', 'ignored', 'duplicate', 'refused', 'failed'] as const;

export function Overview({ place: { query } }: { place: ViewPlace }) {
  const found = useData('getOverview', {});
  return (
    <>
      <Head title="Overview" />
      <Show of={found}>
        {(state) => (
          <>
            <Wrong of={state} />
            <Numbers of={state} />
            <Charts span={SPANS.find(([name]) => name === query.get('span'))?.[0] ?? 'day'} />
            <div class="grid">
              <Card title="Waiting, the oldest first">
                <Rows of={state.waiting} empty="Nothing waits.">
                  {(one) => <DeliveryRow key={one.id} of={one} />}
                </Rows>
              </Card>
              <Card title="Given up">
                <Dead of={state} />
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
}

function Wrong({ of }: { of: State }) {
  const { problems, alerts, subscriptions, store, paused, last_error, dead, waiting } = of;
  const asked = waiting.some(({ waits_for }) => waits_for === 'approval');
  const isFine =
    !asked &&
    [problems, alerts, dead, subscriptions.quarantined, store.refused, paused].every(({ length }) => length === 0);
  return (
    <Card title="Wrong now">
      {isFine && store.damage === null && <p class="yes">Nothing is wrong.</p>}
      {problems.map(({ message, blocking }) => (
        <Note key={message} kind={blocking ? 'bad' : 'warn'}>
          {message}
        </Note>
      ))}
      {store.damage !== null && <Note kind="bad">The store was damaged: {store.damage}</Note>}
      {store.refused.map((text) => (
        <Note key={text} kind="bad">
          {text}
        </Note>
      ))}
      {alerts.map(({ kind, title, subject, reason, since, count: times }) => (
        <Note key={`${kind} ${subject}`} kind="warn">
          <b>{title}</b>: {subject}, {times} times since {instant(since)}: {reason}
        </Note>
      ))}
      {dead.length > 0 && (
        <Note kind="bad">
          <a href={to(['deliveries'], { state: 'dead' })}>
            {count(
              dead.reduce((sum, { count: number }) => sum + number, 0),
              'delivery',
              'deliveries',
            )}
          </a>{' '}
          given up.
        </Note>
      )}
      {asked && (
        <Note kind="warn">
          Something waits for a person: <a href={to(['approvals'])}>Approvals</a>.
        </Note>
      )}
      {subscriptions.quarantined.map(({ name, reason }) => (
        <Note key={name} kind="warn">
          The subscription {name} is not served: {reason}
        </Note>
      ))}
      {paused.map(({ profile, route, until }) => (
        <Note key={`${profile} ${route}`} kind="warn">
          Route <a href={to(['routes'])}>{route}</a> is paused
          {until === null ? '' : ` until ${instant(until)}`}: it holds its events, or refuses them where senders wait.
        </Note>
      ))}
      {last_error !== null && (
        <Note>
          Last error: <a href={to(['deliveries', last_error.id])}>{last_error.route ?? 'a job'}</a>,{' '}
          {instant(last_error.at)}: {last_error.reason}
        </Note>
      )}
    </Card>
  );
}

function Charts({ span }: { span: (typeof SPANS)[number][0] }) {
  const found = useData('getFigures', { span });
  return (
    <Card title="What came">
      <Select
        label="Over the"
        value={span}
        options={SPANS}
        change={(value) => {
          location.hash = to(['overview'], { span: value });
        }}
      />
      <Show of={found}>
        {({ from, to: end, slot_ms, items }) => {
          const frame = { from, to: end, slotMs: slot_ms };
          const most = (name: 'most_us' | 'waiting'): number => Math.max(0, ...items.map((item) => item[name]));
          const ms = (us: number): string => duration(us / 1000);
          return (
            <>
              {items.length === 0 && <p class="dim">No figures yet: they are written once a minute.</p>}
              <Bars slots={items} names={OUTCOMES} frame={frame} />
              <div class="grid charts">
                <div>
                  <h3>Time until the answer: half, and 95 in 100</h3>
                  <Lines
                    slots={items}
                    names={['most_us', 'half_us']}
                    frame={frame}
                    unit={ms}
                    title={`95 in 100 answers took at most ${ms(most('most_us'))}`}
                  />
                </div>
                <div>
                  <h3>What waited</h3>
                  <Lines
                    slots={items}
                    names={['waiting']}
                    frame={frame}
                    unit={String}
                    title={`at most ${most('waiting')} waited`}
                  />
                </div>
              </div>
            </>
          );
        }}
      </Show>
    </Card>
  );
}

function Numbers({ of: { runs, states } }: { of: State }) {
  const numbers = [
    ['Runs under way', runs?.active],
    ['Runs waiting', runs?.queued],
    ['Delivering', states?.delivering],
    ['Waiting for a person', states?.waiting],
    ['Done', states?.done],
    ['Given up', states?.dead],
  ] as const;
  return (
    <dl class="figures">
      {numbers.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value === undefined ? '–' : value.toLocaleString()}</dd>
        </div>
      ))}
    </dl>
  );
}

const Dead = ({ of }: { of: State }) => (
  <Rows of={of.dead} empty="Nothing was given up.">
    {({ profile, route, job, count: number, since }) => (
      <li key={`${profile} ${route} ${job}`}>
        <a class="row" href={to(['deliveries'], { state: 'dead', route, job: route === null ? job : null })}>
          <span class="main">
            <b>{route ?? job}</b>
          </span>
          <span>{number.toLocaleString()}</span>
          <span class="dim small end">since {instant(since)}</span>
        </a>
      </li>
    )}
  </Rows>
);
