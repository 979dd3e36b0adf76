/** Captured requests: a filtered live table. */
import { CHOICES } from '../../runtime/api/built/operations.ts';
import { count, known } from '../parts/format.ts';
import { ListView, RANGE } from '../parts/list.tsx';
import type { ViewProps } from '../parts/router.ts';
import { to } from '../parts/router.ts';
import { Ago, Note, State } from '../parts/ui.tsx';

const FILTERS = {
  ...RANGE,
  route: { label: 'Route', known: 'listRoutes' },
  outcome: { label: 'Outcome', choices: CHOICES.outcome },
  grep: { label: 'Search', type: 'search' },
} as const;

export const Requests = ({ place }: ViewProps) => (
  <ListView
    title="Requests"
    of="listRequests"
    place={place}
    filters={FILTERS}
    live={!place.query.get('grep')}
    empty="No matching requests."
    note={({ data }) => data !== null && data.not_kept > 0 && <NotCaptured of={data.not_kept} />}
    keyOf={({ id }) => id}
    columns={() => [
      {
        title: 'Route',
        cell: ({ id, route, path }) => (
          <a class="whole" href={to(['requests', id])}>
            {route || path}
          </a>
        ),
      },
      { title: 'Outcome', cell: ({ outcome, reason }) => <State of={outcome} reason={reason} /> },
      { title: 'Event', cell: ({ event }) => known(event) },
      { title: 'Status', look: 'end', cell: ({ status }) => status },
      { title: 'Delivery ID', look: 'clip', cell: ({ delivery_id }) => <span class="mono">{delivery_id}</span> },
      { title: 'Received', look: 'end', cell: ({ at }) => <Ago at={at} /> },
    ]}
  />
);

const NotCaptured = ({ of }: { of: number }) => (
  <Note>
    {count(of, 'request')} since start {of === 1 ? 'was' : 'were'} not captured: a route captures at most
    gateway.capture_per_second requests a second. Their events are processed as usual.
  </Note>
);
