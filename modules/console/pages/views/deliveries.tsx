/** Deliveries: a filtered table, and the replay of one or of all dead ones. */
import type { ComponentChildren } from 'preact';
import { CHOICES } from '../../runtime/api/built/operations.ts';
import type { Output } from '../api.ts';
import { call } from '../api.ts';
import { Ask } from '../parts/act.tsx';
import { useData } from '../parts/data.ts';
import { duration, known, parentOf } from '../parts/format.ts';
import { activeFilters, choicesOf, ListView, RANGE } from '../parts/list.tsx';
import { ReplayDead, resultOf } from '../parts/replay.tsx';
import type { ViewProps } from '../parts/router.ts';
import { to } from '../parts/router.ts';
import type { Column } from '../parts/ui.tsx';
import { Block, Show, State, Thing, When } from '../parts/ui.tsx';

const FILTERS = {
  ...RANGE,
  state: { label: 'State', choices: choicesOf(CHOICES.state) },
  route: { label: 'Route' },
  job: { label: 'Job' },
  grep: { label: 'Search', type: 'search' },
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
      empty="No matching deliveries."
      actions={(list) => state === 'dead' && list.items.length > 0 && <ReplayDead of={of} done={list.reload} />}
      columns={({ reload }) => [
        EVENT,
        STATE,
        OWNER,
        ['Target or reason', (one) => withReplay(one, reload, <Details of={one} />), 'clip plain'],
        DURATION,
        WHEN,
      ]}
    />
  );
}

/** A message of the gateway itself, such as about an approval, is a notice. */
const eventOf = ({ id, event, delivery_id, route, job }: Summary) => {
  const isOwn = (route ?? job) === null;
  const name = isOwn ? `${event} notice` : known(event, 'event');
  return <Thing path={['deliveries', id]} name={name} id={isOwn ? '' : delivery_id} />;
};

export const EVENT: Column<Summary> = ['Event', eventOf];
export const STATE: Column<Summary> = ['State', ({ state }) => <State of={state} />];
export const OWNER: Column<Summary> = ['Route or job', ({ route, job }) => route ?? job ?? 'gateway', 'plain'];
/** Of the run; without an agent, until it was delivered. */
const msOf = ({ duration_ms: ms, accepted_at, finished_at: end }: Summary): number | null =>
  ms ?? (end === null ? null : end - accepted_at);
export const DURATION: Column<Summary> = ['Duration', (of) => msOf(of) !== null && duration(msOf(of) ?? 0), 'end'];
export const WAITS: Column<Summary> = ['Waits for', ({ waits_for: what }) => what !== null && WAITS_FOR[what], 'clip'];
export const WHEN: Column<Summary> = ['Accepted (UTC)', ({ accepted_at }) => <When at={accepted_at} />, 'end plain'];

/** Why it waits or has failed; else where it goes. */
export const detailsOf = ({ reason, waits_for, targets }: Summary): string =>
  waits_for === null ? (reason?.slice(0, 300) ?? targets) : `waits for ${WAITS_FOR[waits_for]}`;

const Details = ({ of }: Pick<OneProps, 'of'>) => (
  <span class="reason" title={detailsOf(of)} children={detailsOf(of)} />
);

/** A cell with a button if the delivery is dead. */
export const withReplay = (of: Summary, done: () => void, shown: ComponentChildren) => (
  <span class="beside">
    {shown} {of.state === 'dead' && <Replay of={of} done={done} />}
  </span>
);

/** The state of a delivery, with a link to it. */
export const StateLink = ({ of }: { of: Summary }) => (
  <a href={to(['deliveries', of.id])} title={detailsOf(of)}>
    <State of={of.state} />
  </a>
);

type OneProps = { of: Summary & { not_replayable?: string | null }; done: () => void; text?: string };
type How = { readonly rerun?: boolean; readonly again?: boolean };

/** Replays one delivery that has ended, after it has shown what is sent where. */
export function Replay({ of, done, text = 'Replay' }: OneProps) {
  if (!['done', 'dead', 'skipped'].includes(of.state)) return null;
  const { id, mode, not_replayable = null } = of;
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
  const title = `Replay delivery of ${parentOf(of)}`;
  return (
    <Ask text={text} primary={of.state === 'dead'} label={title} title={title} choices={{ ...first, ...rerun }}>
      <Content id={id} />
    </Ask>
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
