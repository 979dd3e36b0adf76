/** Deliveries: a filtered table, and the replay of all dead ones. */
import { CHOICES } from '../../runtime/api/built/operations.ts';
import type { Output } from '../api.ts';
import { duration, known, parentOf } from '../parts/format.ts';
import { activeFilters, choicesOf, ListView, RANGE } from '../parts/list.tsx';
import type { ViewProps } from '../parts/router.ts';
import { to } from '../parts/router.ts';
import type { Column } from '../parts/ui.tsx';
import { State, Thing, When } from '../parts/ui.tsx';
import { ReplayDead } from './replay.tsx';

const FILTERS = {
  ...RANGE,
  state: { label: 'State', choices: choicesOf(CHOICES.state) },
  route: { label: 'Route' },
  job: { label: 'Job' },
  grep: { label: 'Search', type: 'search', placeholder: 'Event, id, or target' },
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
  const of = { ...(route !== undefined && { route }), ...(job !== undefined && { job }) };
  return (
    <ListView
      title="Deliveries"
      of="listDeliveries"
      place={place}
      filters={FILTERS}
      empty="No matching deliveries."
      actions={(list) => state === 'dead' && list.items.length > 0 && <ReplayDead of={of} done={list.reload} />}
      columns={() => [EVENT, STATE, OWNER, TARGETS, DURATION, WHEN]}
    />
  );
}

/** A message of the gateway itself, such as about an approval, is a notice. The id of a run begins with its job, which has a column. */
const eventOf = ({ id, event, delivery_id, route, job }: Summary) => {
  const isOwn = (route ?? job) === null;
  const name = isOwn ? `${event} notice` : known(event, 'event');
  return <Thing path={['deliveries', id]} name={name} id={isOwn ? '' : delivery_id.replace(`${job}#`, '#')} />;
};

/** A reason has a separate line below the row. */
const targetsOf = (of: Summary) => [
  <span class="small">{of.targets}</span>,
  reasonOf(of) !== '' && <span class="reason">{reasonOf(of)}</span>,
];

/** From when it was accepted until it has ended. */
const durationOf = ({ accepted_at, finished_at: end }: Summary) => end !== null && duration(end - accepted_at);

export const EVENT: Column<Summary> = ['Event', eventOf];
export const STATE: Column<Summary> = ['State', ({ state }) => <State of={state} />];
export const OWNER: Column<Summary> = ['Route or job', parentOf, 'plain'];
const TARGETS: Column<Summary> = ['Targets', targetsOf, 'clip plain'];
export const DURATION: Column<Summary> = ['Duration', durationOf, 'end'];
export const WAITS: Column<Summary> = ['Waits for', ({ waits_for: what }) => what !== null && WAITS_FOR[what], 'clip'];
export const WHEN: Column<Summary> = ['Accepted (UTC)', ({ accepted_at }) => <When at={accepted_at} />, 'end plain'];

/** Why it waits or has failed. */
export const reasonOf = ({ reason, waits_for }: Pick<Summary, 'reason' | 'waits_for'>): string =>
  waits_for === null ? (reason?.slice(0, 300) ?? '') : `waits for ${WAITS_FOR[waits_for]}`;

/** The state of a delivery, with a link to it. */
export const StateLink = ({ of }: { of: Summary }) => (
  <a href={to(['deliveries', of.id])} title={reasonOf(of)} children={<State of={of.state} />} />
);
