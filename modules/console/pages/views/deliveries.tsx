/** What was accepted, and what became of it: filtered, with what was given up to be sent again. */

import type { Output } from '../api.ts';
import { useList } from '../parts/data.ts';
import { duration } from '../parts/format.ts';
import type { ViewPlace } from '../parts/router.ts';
import { to } from '../parts/router.ts';
import { State } from '../parts/state.tsx';
import { Ago, Card, Head, Rows, Select, Show, TextField } from '../parts/ui.tsx';

type Summary = Output<'listDeliveries'>['items'][number];
type StateName = Summary['state'];

const STATES: readonly ('' | StateName)[] = ['', 'pending', 'running', 'delivering', 'done', 'dead', 'skipped'];
const isState = (text: string): text is StateName => (STATES as readonly string[]).includes(text) && text !== '';

export function Deliveries({ place: { query } }: { place: ViewPlace }) {
  const state = query.get('state') ?? '';
  const route = query.get('route') ?? '';
  const job = query.get('job') ?? '';
  const set = (name: string, value: string): void => {
    location.hash = to(['deliveries'], { ...Object.fromEntries(query), [name]: value });
  };
  const given = { ...(isState(state) ? { state } : {}), ...(route ? { route } : {}), ...(job ? { job } : {}) };
  const list = useList('listDeliveries', { limit: 50, ...given });
  return (
    <>
      <Head title="Deliveries" />
      <div class="filters">
        <Select
          label="State"
          value={state}
          options={STATES.map((name) => [name, name === '' ? 'all' : name])}
          change={(value) => set('state', value)}
        />
        <TextField label="Route" value={route} change={(value) => set('route', value)} />
        <TextField label="Job" value={job} change={(value) => set('job', value)} />
      </div>
      <Card>
        <Show of={list}>
          {(items) => (
            <Rows of={items} more={list.more} empty="There is no such delivery.">
              {(one) => <DeliveryRow key={one.id} of={one} />}
            </Rows>
          )}
        </Show>
      </Card>
    </>
  );
}

export function DeliveryRow({ of }: { of: Summary }) {
  const { id, route, job, event, state, reason, accepted_at, duration_ms } = of;
  return (
    <li>
      <a class="row" href={to(['deliveries', id])}>
        <span class="main">
          <b>{route ?? job ?? ''}</b> {event === 'unknown' ? '' : event}
          {reason !== null && <span class="dim small"> {reason.slice(0, 200)}</span>}
        </span>
        <State of={state} />
        {duration_ms !== null && <span class="dim small">{duration(duration_ms)}</span>}
        <span class="dim small end">
          <Ago at={accepted_at} />
        </span>
      </a>
    </li>
  );
}
