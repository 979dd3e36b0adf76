/** Captured requests, with what became of each: a filtered live table. */
import { CHOICES } from '../../runtime/api/built/operations.ts';
import type { Output } from '../api.ts';
import { count, known } from '../parts/format.ts';
import { choicesOf, ListView, RANGE } from '../parts/list.tsx';
import type { ViewProps } from '../parts/router.ts';
import type { Column } from '../parts/ui.tsx';
import { Note, State, Thing, When } from '../parts/ui.tsx';
import { StateLink } from './deliveries.tsx';

const FILTERS = {
  ...RANGE,
  route: { label: 'Route' },
  outcome: { label: 'Outcome', choices: choicesOf(['rejected', 'failed', ...CHOICES.outcome]) },
  grep: { label: 'Search', type: 'search', placeholder: 'Event, id, or text' },
} as const;

export const Requests = ({ place }: ViewProps) => (
  <ListView
    title="Requests"
    of="listRequests"
    place={place}
    filters={FILTERS}
    empty="No matching requests."
    note={({ data }) => data !== null && data.not_kept > 0 && <NotCaptured of={data.not_kept} />}
    columns={() => [
      EVENT,
      ['Outcome', outcomeOf],
      ['Route', ({ route }) => route, 'plain'],
      ['Delivery', ({ delivery: of }) => of !== null && <StateLink of={of} />, 'plain'],
      ['Received (UTC)', When, 'end plain'],
    ]}
  />
);

type Request = Output<'listRequests'>['items'][number];

const eventOf = ({ id, event, delivery_id, path }: Request) => (
  <Thing path={['requests', id]} name={known(event, delivery_id ? 'event' : path)} id={delivery_id} />
);

const outcomeOf = ({ outcome, reason, status }: Request) => (
  <>
    <State of={outcome} reason={reason} /> <span class="dim small">{status}</span>
  </>
);

export const EVENT: Column<Request> = ['Event', eventOf, 'clip'];

/** In one word: how the delivery stands, or why there is none. */
export const resultOf = ({ outcome, delivery }: Request) =>
  delivery === null ? <State of={outcome} /> : <StateLink of={delivery} />;

const NotCaptured = ({ of }: { of: number }) => (
  <Note>
    {count(of, 'request')} since start {of === 1 ? 'was' : 'were'} not captured: a route captures at most
    gateway.capture_per_second requests a second. Their events are processed as usual.
  </Note>
);
