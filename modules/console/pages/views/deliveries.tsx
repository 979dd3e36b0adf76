/** Deliveries: a filtered table, and the replay of one or of all dead ones. */
import { CHOICES } from '../../runtime/api/built/operations.ts';
import type { Output } from '../api.ts';
import { call } from '../api.ts';
import { Ask, Operator } from '../parts/act.tsx';
import { useData } from '../parts/data.ts';
import { duration, known } from '../parts/format.ts';
import { activeFilters, choicesOf, ListView, RANGE } from '../parts/list.tsx';
import type { ViewProps } from '../parts/router.ts';
import { to } from '../parts/router.ts';
import { Ago, Block, Show, State, Whole } from '../parts/ui.tsx';

const FILTERS = {
  ...RANGE,
  state: { label: 'State', choices: choicesOf(CHOICES.state) },
  route: { label: 'Route', known: 'listRoutes' },
  job: { label: 'Job', known: 'listJobs' },
  delivery_id: { label: 'Delivery ID', type: 'search' },
} as const;

export const WAITS_FOR = {
  session: 'an earlier run of its session',
  pause: 'its route to resume',
  agent: 'its agent, which has its maximum of runs',
  approval: 'approval',
};

type Summary = Output<'listDeliveries'>['items'][number];

export function Deliveries({ place }: ViewProps) {
  const { state, route, job } = activeFilters(place, FILTERS);
  const of = { ...(route === undefined ? {} : { route }), ...(job === undefined ? {} : { job }) };
  return (
    <ListView
      title="Deliveries"
      of="listDeliveries"
      place={place}
      filters={FILTERS}
      live={!place.query.get('delivery_id')}
      empty="No matching deliveries."
      actions={(list) => state === 'dead' && list.items.length > 0 && <ReplayDead of={of} done={list.reload} />}
      keyOf={({ id }) => id}
      columns={({ reload }) => [
        ['Route or job', (one) => <Whole path={['deliveries', one.id]}>{one.route ?? one.job ?? '(gateway)'}</Whole>],
        ['State', ({ state: name }) => <State of={name} />],
        ['Event', ({ event }) => known(event)],
        ['Reason', whyOf, 'clip'],
        ['Duration', ({ duration_ms: ms }) => ms !== null && duration(ms), 'end'],
        ['Accepted', ({ accepted_at }) => <Ago at={accepted_at} />, 'end'],
        ['', (one) => one.state === 'dead' && <Replay of={one} done={reload} />, 'end'],
      ]}
    />
  );
}

const whyOf = ({ reason, waits_for }: Summary): string =>
  waits_for === null ? (reason ?? '').slice(0, 300) : `waiting for ${WAITS_FOR[waits_for]}`;

type ReplayProps = { of: { route?: string; job?: string }; done: () => void; count?: number };

/** Replays the dead deliveries of a route or job, or all of them. @param count their number, if known */
export function ReplayDead({ of, done, count }: ReplayProps) {
  const name = of.route ?? of.job;
  const replay = async (): Promise<string> => {
    const report = await call('replayDeliveries', { state: 'dead', limit: 1000, rerun: false, again: false, ...of });
    done();
    return resultOf(report);
  };
  const title = `Replay dead deliveries${name === undefined ? '' : ` of ${name}`}`;
  return (
    <Operator>
      <Ask text={count === 1 ? 'Replay' : 'Replay all'} label={title} title={title} choices={{ Replay: replay }}>
        <p>
          Sends {count === undefined || count > 1000 ? 'up to 1,000 deliveries' : `${count} of them`}, newest first, to
          the targets that have not received them. Deliveries without an answer run again.
        </p>
      </Ask>
    </Operator>
  );
}

/** The result of a replay, in words. */
function resultOf({ done, refused }: Output<'replayDeliveries'>): string {
  const reasons = [...new Set(refused.map(({ reason }) => reason))].slice(0, 3).join('; ');
  return `${done.length} replayed${refused.length === 0 ? '' : `, ${refused.length} rejected: ${reasons}`}.`;
}

type OneProps = { of: Summary & { not_replayable?: string | null }; done: () => void; text?: string };
type How = { readonly rerun?: boolean; readonly again?: boolean };

/** Replays one delivery that has ended, after it has shown what is sent where. */
export function Replay({ of, done, text = 'Replay' }: OneProps) {
  if (!['done', 'dead', 'skipped'].includes(of.state)) return null;
  const { id, route, job, mode, not_replayable = null } = of;
  const replay = (how: How) => async (): Promise<string> => {
    const report = await call('replayDeliveries', { ids: [id], limit: 1, rerun: false, again: false, ...how });
    done();
    const [repeated] = report.done;
    if (repeated !== undefined && repeated.replay_of !== null) location.hash = to(['deliveries', repeated.id]);
    return resultOf(report);
  };
  const first =
    not_replayable === null ? { Replay: replay({}) } : { 'Send to all targets again': replay({ again: true }) };
  const rerun = mode === 'direct' || mode === 'message' ? {} : { 'Run again': replay({ rerun: true }) };
  const title = `Replay delivery of ${route ?? job ?? 'the gateway'}`;
  return (
    <Operator>
      <Ask text={text} primary={of.state === 'dead'} label={title} title={title} choices={{ ...first, ...rerun }}>
        <Content id={id} />
      </Ask>
    </Operator>
  );
}

/** What a replay sends. */
const Content = ({ id }: { id: string }) => (
  <Show of={useData('getDelivery', { id }, false)}>
    {({ dispatch, run, mode }) => {
      const text = mode === 'direct' || mode === 'message' ? dispatch.prompt : run.answer;
      const targets = dispatch.deliveries.map(({ target }) => target).join(', ') || 'no target';
      const runs = 'The agent runs again with this prompt, and its answer is sent';
      return (
        <>
          <p>
            {text === null ? runs : 'Sends this text'} to <b>{targets}</b>.
          </p>
          <Block label="Text of the replay">{text ?? dispatch.prompt}</Block>
        </>
      );
    }}
  </Show>
);
