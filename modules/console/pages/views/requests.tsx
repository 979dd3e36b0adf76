/** Captured requests: a filtered live table. */
import { CHOICES } from '../../runtime/api/built/operations.ts';
import { count, known } from '../parts/format.ts';
import { choicesOf, ListView, RANGE } from '../parts/list.tsx';
import type { ViewProps } from '../parts/router.ts';
import { Ago, Note, State, Whole } from '../parts/ui.tsx';

const FILTERS = {
  ...RANGE,
  route: { label: 'Route', known: 'listRoutes' },
  outcome: { label: 'Outcome', choices: choicesOf(CHOICES.outcome) },
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
      ['Route', ({ id, route, path }) => <Whole path={['requests', id]}>{route || path}</Whole>],
      ['Outcome', ({ outcome, reason }) => <State of={outcome} reason={reason} />],
      ['Event', ({ event }) => known(event)],
      ['Status', ({ status }) => status, 'end'],
      ['Delivery ID', ({ delivery_id }) => <span class="mono">{delivery_id}</span>, 'clip'],
      ['Received', ({ at }) => <Ago at={at} />, 'end'],
    ]}
  />
);

const NotCaptured = ({ of }: { of: number }) => (
  <Note>
    {count(of, 'request')} since start {of === 1 ? 'was' : 'were'} not captured: a route captures at most
    gateway.capture_per_second requests a second. Their events are processed as usual.
  </Note>
);
