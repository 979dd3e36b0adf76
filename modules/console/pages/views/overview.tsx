/** The overview: what needs a person, traffic over time, and pending work. */
import type { ComponentChildren } from 'preact';
import type { Output } from '../api.ts';
import { call } from '../api.ts';
import { Act, Copy, Operator } from '../parts/act.tsx';
import type { Frame } from '../parts/chart.tsx';
import { Chart } from '../parts/chart.tsx';
import { useData } from '../parts/data.ts';
import { bytes, count, duration, instant } from '../parts/format.ts';
import { needsOf } from '../parts/gateway.tsx';
import type { IconName } from '../parts/icons.tsx';
import { Icon } from '../parts/icons.tsx';
import type { ViewProps } from '../parts/router.ts';
import { change, to } from '../parts/router.ts';
import type { Kind } from '../parts/ui.tsx';
import { Ago, Card, Field, Head, State as Outcome, Show, Table } from '../parts/ui.tsx';
import { ReplayDead, WAITS_FOR } from './deliveries.tsx';

type State = Output<'getOverview'>;

export function Overview({ place }: ViewProps) {
  const loaded = useData('getOverview', {});
  return (
    <>
      <Head title="Overview" />
      <Show of={loaded}>
        {(state) => (
          <>
            <Needs of={state} changed={loaded.reload} />
            <Numbers of={state} />
            <Charts place={place} />
            <h2>Pending deliveries, oldest first</h2>
            <Table
              label="Pending deliveries"
              items={state.waiting}
              keyOf={({ id }) => id}
              empty="Nothing is pending."
              columns={PENDING}
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

type Pending = State['waiting'][number];

const PENDING = [
  {
    title: 'Route or job',
    cell: ({ id, route, job }: Pending) => (
      <a class="whole" href={to(['deliveries', id])}>
        {route ?? job ?? '(gateway)'}
      </a>
    ),
  },
  { title: 'State', cell: ({ state }: Pending) => <Outcome of={state} /> },
  {
    title: 'Waiting for',
    look: 'clip' as const,
    cell: ({ waits_for }: Pending) => (waits_for === null ? '' : WAITS_FOR[waits_for]),
  },
  { title: 'Accepted', look: 'end' as const, cell: ({ accepted_at }: Pending) => <Ago at={accepted_at} /> },
];

interface NeedProps {
  readonly kind?: Kind;
  readonly icon?: IconName;
  /** What it is about, with its address. */
  readonly name?: string;
  readonly href?: string;
  readonly text: string;
  /** The action. */
  readonly children?: ComponentChildren;
}

/** One problem: one line, one link, one action. */
const Need = ({ kind = 'bad', icon = 'alert', name, href, text, children }: NeedProps) => (
  <li>
    <span class={kind}>
      <Icon of={icon} />
    </span>
    <span>
      {href === undefined ? name : <a href={href}>{name}</a>} {text}
    </span>
    <span class="bar">{children}</span>
  </li>
);

function Needs({ of, changed }: { of: State; changed: () => void }) {
  const needs = needsOf(of);
  const { last_error } = of;
  const resume = (name: string, profile: string) => async (): Promise<string> => {
    await call('resumeRoute', { name, profile });
    changed();
    return `${name} resumed.`;
  };
  return (
    <Card title={needs.count === 0 ? 'Problems' : `Problems (${needs.count})`}>
      {needs.count === 0 && (
        <p class="good">
          <Icon of="check" /> No problems.
        </p>
      )}
      <ul class="needs">
        {needs.problems.map(({ message, blocking, part }) => (
          <Need
            key={message}
            kind={blocking ? 'bad' : 'warn'}
            name={part === 'table' ? 'Configuration rejected.' : ''}
            text={part === 'table' ? `The gateway serves the previous one: ${message}` : message}
          >
            <Copy text={() => message}>Copy message</Copy>
          </Need>
        ))}
        {needs.faults.map((text) => (
          <Need key={text} text={text}>
            <Copy text={() => text}>Copy message</Copy>
          </Need>
        ))}
        {needs.dead.map(({ profile, route, job, count: number, since }) => (
          <Need
            key={`${profile} ${route} ${job}`}
            icon="x"
            name={`${count(number, 'failed delivery', 'failed deliveries')} of ${route ?? job ?? 'the gateway'}`}
            href={to(['deliveries'], { state: 'dead', route, job: route === null ? job : null })}
            text={`since ${instant(since)}`}
          >
            {(route ?? job) !== null && (
              <ReplayDead of={route !== null ? { route } : { job: job ?? '' }} count={number} done={changed} />
            )}
          </Need>
        ))}
        {needs.waiting > 0 && (
          <Need
            kind="warn"
            icon="approvals"
            name={count(needs.waiting, 'delivery', 'deliveries')}
            href={to(['deliveries'], { state: 'waiting' })}
            text={needs.waiting === 1 ? 'waits for approval' : 'wait for approval'}
          >
            <a href={to(['approvals'])}>Review</a>
          </Need>
        )}
        {needs.alerts.map(({ title, subject, reason, since, count: times }) => (
          <Need
            key={title + subject}
            kind="warn"
            name={`${title}:`}
            text={`${subject}, ${count(times, 'time')} since ${instant(since)}: ${reason}`}
          />
        ))}
        {needs.rejected.map(({ name, reason }) => (
          <Need key={name} kind="warn" name={name} href={to(['routes', name])} text={`is not served: ${reason}`} />
        ))}
        {needs.rate_limited.map((route) => (
          <Need
            key={route}
            kind="warn"
            icon="clock"
            name={route}
            href={to(['routes', route])}
            text="rejected requests over its rate limit within the last hour"
          >
            <a href={to(['requests'], { route, outcome: 'rate_limited' })}>Show requests</a>
          </Need>
        ))}
        {needs.paused.map(({ route, profile, until }) => (
          <Need
            key={`${profile} ${route}`}
            kind="warn"
            icon="clock"
            name={route}
            href={to(['routes', route])}
            text={`is paused${until === null ? '' : ` until ${instant(until)}`}`}
          >
            <Operator>
              <Act act={resume(route, profile)} label={`Resume ${route}`}>
                Resume
              </Act>
            </Operator>
          </Need>
        ))}
      </ul>
      {last_error !== null && (
        <p class="dim small">
          <a href={to(['deliveries', last_error.id])}>Last error</a> {instant(last_error.at)},{' '}
          {last_error.route ?? 'a job'}: {last_error.reason.slice(0, 300)}
        </p>
      )}
    </Card>
  );
}

const SPANS = { hour: 'Last hour', day: 'Last day', week: 'Last week' } as const;
/** Figures of the API by the outcome that people know. */
const EVENTS = { taken: 'accepted', ignored: 'ignored', duplicate: 'duplicate', refused: 'rejected', failed: 'failed' };

type Figures = Output<'getFigures'>;

function Charts({ place }: { place: ViewProps['place'] }) {
  const chosen = place.query.get('span');
  const isChosen = chosen === 'hour' || chosen === 'day' || chosen === 'week';
  const choose = (value: string): void => change(place, 'span', value);
  return (
    <Card
      title="Traffic"
      aside={
        <div class="filters">
          <Field
            label="Range"
            value={isChosen ? chosen : ''}
            strict
            options={[['', 'Automatic'], ...Object.entries(SPANS)]}
            change={choose}
          />
        </div>
      }
    >
      {isChosen ? <Drawn span={chosen} /> : <Drawn span="day" fits />}
    </Card>
  );
}

/** @param fits begin with the first figure */
const Drawn = ({ span, fits = false }: { span: keyof typeof SPANS; fits?: boolean }) => (
  <Show of={useData('getFigures', { span })}>
    {({ items, ...frame }) =>
      items.length === 0 ? (
        <p class="dim">No traffic in this range yet. Figures are written once a minute.</p>
      ) : (
        <Lines items={items} {...(fits ? { ...frame, from: startOf(items, frame) } : frame)} />
      )
    }
  </Show>
);

/** At least four spans of time, so that a line can be seen. */
const startOf = (items: Figures['items'], { from, to: end, slot_ms }: Frame): number =>
  Math.max(from, Math.min(items[0]?.slot ?? from, end - 4 * slot_ms));

function Lines({ items, ...frame }: Figures) {
  const names = Object.entries(EVENTS) as [keyof typeof EVENTS, string][];
  const sums = names.map(([name, text]) => [text, items.reduce((sum, item) => sum + item[name], 0)] as const);
  const events = items.map((item) => ({
    slot: item.slot,
    ...Object.fromEntries(names.map(([name, text]) => [text, item[name]])),
  }));
  const times = items.map(({ slot, half_us, most_us }) => ({ slot, median: half_us || null, p95: most_us || null }));
  const per = `per ${duration(frame.slot_ms)}`;
  return (
    <>
      <h3>Requests {per}</h3>
      <Chart
        title={`Requests: ${sums.map(([text, sum]) => `${sum.toLocaleString()} ${text}`).join(', ')}`}
        {...frame}
        items={events}
        lines={Object.fromEntries(sums.map(([text]) => [text, text]))}
      />
      <div class="grid">
        <div>
          <h3>Response time</h3>
          <Chart
            title="Response time: median and p95"
            {...frame}
            items={times}
            unit={(us) => duration(us / 1000)}
            lines={{ median: 'median', p95: 'p95' }}
          />
        </div>
        <div>
          <h3>Pending runs and deliveries</h3>
          <Chart
            title="Pending runs and deliveries"
            {...frame}
            items={items.map(({ slot, waiting }) => ({ slot, pending: waiting }))}
            lines={{ pending: 'pending' }}
          />
        </div>
      </div>
    </>
  );
}

const Numbers = ({ of: { runs, states } }: { of: State }) => (
  <dl class="card numbers">
    {Object.entries({
      'Runs in progress': states?.running,
      'Runs queued': runs?.queued,
      Delivering: states?.delivering,
      'Waiting for approval': states?.waiting,
      Done: states?.done,
      Failed: states?.dead,
    }).map(([name, value]) => (
      <div key={name}>
        <dt class="small">{name}</dt>
        <dd>{value?.toLocaleString() ?? '–'}</dd>
      </div>
    ))}
  </dl>
);
