/** Sessions: their running and pending runs; and the usage of the last week. */
import type { Output } from '../api.ts';
import { useData, useList } from '../parts/data.ts';
import { actionText, count, parentOf, shortInstant } from '../parts/format.ts';
import { ListTable, ListView } from '../parts/list.tsx';
import type { ViewProps } from '../parts/router.ts';
import { to } from '../parts/router.ts';
import { Ago, Badge } from '../parts/ui.tsx';
import { StateLink } from './deliveries.tsx';

type Session = Output<'listSessions'>['items'][number];

export function Sessions({ place }: ViewProps) {
  const { data } = useData('listRoutes', { limit: 200 }, false);
  const isOne = new Set(data?.items.map(({ profile }) => profile)).size < 2 && !place.query.has('profile');
  return (
    <>
      <ListView
        title="Sessions"
        of="listSessions"
        place={place}
        limit={100}
        filters={isOne ? {} : { profile: { label: 'Profile' } }}
        empty="No active sessions and no waiting runs."
        keyOf={({ kind, target, profile, id }) => `${kind} ${target} ${profile} ${id}`}
        columns={() => [
          ['Session', nameOf, 'clip'],
          ['State', stateOf],
          ['Run', ({ run, problem }) => (run === null ? problem && <span class="bad">{problem}</span> : parentOf(run))],
          ['Pending', ({ waiting: of }) => of > 0 && <Badge icon="clock">{count(of, 'run')} pending</Badge>, 'plain'],
          ['Messages', ({ turns }) => turns?.toLocaleString(), 'end'],
          ['Profile', ({ profile }) => profile !== 'default' && profile],
          ['Last action', ({ last_action }) => actionText(last_action)],
          ['Activity', activityOf, 'end plain'],
        ]}
      />
      <h2>Usage in the last week</h2>
      <Usage />
    </>
  );
}

type Used = Output<'listUsage'>['items'][number];
const SUMS = ['runs', 'input_tokens', 'output_tokens', 'cost'] as const;

/** What the runs of a week have used: together, and by day. */
function Usage() {
  const list = useList('listUsage', { limit: 200, span: 'day' }, false);
  const jobs = useData('listJobs', { limit: 200 }, false).data?.items ?? [];
  const { items, more } = list;
  const sums = SUMS.map((of) => [of, items.reduce((sum, each) => sum + (each[of] ?? 0), 0)]);
  const all = { ...items[0], ...Object.fromEntries(sums), slot: null } as Used;
  return (
    <ListTable
      list={list}
      items={items.length > 1 && more === null ? [all, ...items] : items}
      label="Usage in the last week"
      empty="No run reported its usage."
      keyOf={({ slot, profile, route, job, agent }) => `${slot} ${profile} ${route} ${job} ${agent}`}
      columns={[
        [
          'Route or job',
          ({ slot, route, job }) => (
            <b>{slot === null ? 'Total' : (route ?? jobs.find(({ id }) => id === job)?.name ?? job)}</b>
          ),
        ],
        [
          'Day',
          ({ slot }) => <span class="day">{slot === null ? 'last 7 days' : shortInstant(slot).slice(0, 6)}</span>,
        ],
        ['Agent', ({ slot, agent }) => slot !== null && (agent ?? 'default')],
        ['Runs', ({ runs }) => runs.toLocaleString(), 'end'],
        ['Tokens in', ({ input_tokens }) => input_tokens?.toLocaleString(), 'end'],
        ['Tokens out', ({ output_tokens }) => output_tokens?.toLocaleString(), 'end'],
        ['Cost (as reported)', ({ cost }) => cost?.toFixed(4), 'end'],
      ]}
    />
  );
}

const stateOf = ({ kind, run }: Session) =>
  kind === 'chat' || run === null ? <Badge icon="sessions">{kind}</Badge> : <StateLink of={run} />;

/** A session of an agent leads to its deliveries. */
const nameOf = ({ kind, target, id }: Session) =>
  kind === 'chat' ? (
    <b>{`${target} ${id}`}</b>
  ) : (
    <a class="whole" href={to(['deliveries'], { grep: id })} children={id} />
  );

function activityOf({ run, changed_at }: Session) {
  if (run !== null) return [run.started_at ? 'started ' : 'accepted ', <Ago at={run.started_at ?? run.accepted_at} />];
  return changed_at !== null && ['last message ', <Ago at={Date.parse(changed_at)} />];
}
