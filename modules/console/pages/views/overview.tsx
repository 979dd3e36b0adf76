/** The overview: what needs a person, traffic over time, and pending work. */
import type { Output } from '../api.ts';
import { call } from '../api.ts';
import { Act, Copy, Operator } from '../parts/act.tsx';
import { Chart } from '../parts/chart.tsx';
import { useData } from '../parts/data.ts';
import { bytes, count, duration, instant } from '../parts/format.ts';
import type { Action as Does } from '../parts/gateway.tsx';
import { needsOf } from '../parts/gateway.tsx';
import { Icon } from '../parts/icons.tsx';
import type { ViewProps } from '../parts/router.ts';
import { change, to } from '../parts/router.ts';
import { Ago, Card, Field, Head, State as Outcome, Show, Table, Whole } from '../parts/ui.tsx';
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
            <Charts place={place} />
            <h2>Pending deliveries, oldest first</h2>
            <Table
              label="Pending deliveries"
              items={state.waiting}
              keyOf={({ id }) => id}
              empty="Nothing is pending."
              columns={[
                [
                  'Route or job',
                  ({ id, route, job }) => <Whole path={['deliveries', id]}>{route ?? job ?? '(gateway)'}</Whole>,
                ],
                ['State', ({ state: of }) => <Outcome of={of} />],
                ['Waiting for', ({ waits_for: what }) => what !== null && WAITS_FOR[what], 'clip'],
                ['Accepted', ({ accepted_at }) => <Ago at={accepted_at} />, 'end'],
              ]}
            />
            <p class="dim small">
              {totalsOf(state)}hookwright {state.version} on {state.url}, up {duration(state.now - state.started_at)},{' '}
              {count(state.table.routes, 'route')}, table {state.table.hash.slice(0, 12)}, store{' '}
              {bytes(state.store.bytes)}
            </p>
          </>
        )}
      </Show>
    </>
  );
}

/** Null: the store is unavailable. */
const totalsOf = ({ runs, states }: State): string =>
  runs === null || states === null
    ? ''
    : `${count(runs.active, 'run')} in progress, ${runs.queued.toLocaleString()} queued, ${count(states.done, 'delivery', 'deliveries')} done. `;

function Needs({ of, changed }: { of: State; changed: () => void }) {
  const needs = needsOf(of);
  const { last_error } = of;
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
            <Action of={action} changed={changed} />
          </li>
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

function Action({ of, changed }: { of: Does | undefined; changed: () => void }) {
  switch (of?.[0]) {
    case 'copy':
      return <Copy text={() => of[1]}>Copy message</Copy>;
    case 'open':
      return <a href={of[2]}>{of[1]}</a>;
    case 'replay': {
      const { route, job, count: number } = of[1];
      const named = route !== null ? { route } : { job: job ?? '' };
      return (route ?? job) === null ? null : <ReplayDead of={named} count={number} done={changed} />;
    }
    case 'resume': {
      const { route: name, profile } = of[1];
      const resume = async (): Promise<string> => {
        await call('resumeRoute', { name, profile });
        changed();
        return `${name} resumed.`;
      };
      return (
        <Operator>
          <Act act={resume} label={`Resume ${name}`}>
            Resume
          </Act>
        </Operator>
      );
    }
    default:
      return null;
  }
}

const SPANS = { '': 'Automatic', hour: 'Last hour', day: 'Last day', week: 'Last week' } as const;
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

function Charts({ place }: { place: ViewProps['place'] }) {
  const chosen = place.query.get('span');
  const span = chosen === 'hour' || chosen === 'day' || chosen === 'week' ? chosen : '';
  const choose = (value: string): void => change(place, 'span', value);
  const range = <Field label="Range" value={span} strict options={Object.entries(SPANS)} change={choose} />;
  return (
    <Card title="Traffic" aside={<div class="filters">{range}</div>}>
      <Show of={useData('getFigures', { span: span || 'day' })}>
        {(figures) =>
          figures.items.length === 0 ? (
            <p class="dim">No traffic in this range yet. Figures are written once a minute.</p>
          ) : (
            <Lines {...figures} from={span === '' ? startOf(figures) : figures.from} />
          )
        }
      </Show>
    </Card>
  );
}

/** The first figure; earlier if that is less than four spans of time ago, so that a line can be seen. */
const startOf = ({ items, from, to: end, slot_ms }: Figures): number =>
  Math.max(from, Math.min(items[0]?.slot ?? from, end - 4 * slot_ms));

function Lines({ items, ...frame }: Figures) {
  const events = items.map((item) => ({
    slot: item.slot,
    ...Object.fromEntries(OUTCOMES.map(([name, figure]) => [name, item[figure]])),
  }));
  const times = items.map(({ slot, half_us, most_us }) => ({ slot, median: half_us || null, p95: most_us || null }));
  const pending = items.map(({ slot, waiting }) => ({ slot, pending: waiting }));
  const sumOf = (figure: (typeof EVENTS)[keyof typeof EVENTS]): number =>
    items.reduce((sum, item) => sum + item[figure], 0);
  const sums = OUTCOMES.map(([name, figure]) => `${sumOf(figure).toLocaleString()} ${name}`);
  const title = `Requests per ${duration(frame.slot_ms)}: ${sums.join(', ')}`;
  return (
    <>
      <Chart title={title} {...frame} items={events} lines={OUTCOMES.map(([name]) => name)} />
      <div class="grid">
        <Chart
          {...frame}
          title="Response time: median and p95"
          items={times}
          unit={(us) => duration(us / 1000)}
          lines={['median', 'p95']}
        />
        <Chart {...frame} title="Pending runs and deliveries" items={pending} lines={['pending']} />
      </div>
    </>
  );
}
