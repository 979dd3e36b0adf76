/** What was accepted, and what became of it: filtered, with what was given up to be sent again. */
import { CHOICES } from '../../runtime/api/built/operations.ts';
import type { Output } from '../api.ts';
import { call } from '../api.ts';
import { useList } from '../parts/data.ts';
import { duration } from '../parts/format.ts';
import { Operator } from '../parts/role.tsx';
import type { ViewPlace } from '../parts/router.ts';
import { to } from '../parts/router.ts';
import { State } from '../parts/state.tsx';
import { Act, Ago, Ask, Card, Choice, Head, Rows, Sampled, Select, Show, TextField } from '../parts/ui.tsx';

type Summary = Output<'listDeliveries'>['items'][number];
type StateName = Summary['state'];

const isState = (text: string): text is StateName => CHOICES.state.some((state) => state === text);

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
      <Head title="Deliveries">{state === 'dead' && <ReplayAll route={route} job={job} done={list.reload} />}</Head>
      <div class="filters">
        <Select
          label="State"
          value={state}
          options={['', ...CHOICES.state].map((name) => [name, name === '' ? 'all' : name])}
          change={(value) => set('state', value)}
        />
        <TextField label="Route" value={route} change={(value) => set('route', value)} />
        <TextField label="Job" value={job} change={(value) => set('job', value)} />
      </div>
      <Card>
        <Sampled of={list} />
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
  const { id, route, job, event, state, reason, accepted_at, duration_ms, waits_for } = of;
  return (
    <li>
      <a class="row" href={to(['deliveries', id])}>
        <span class="main">
          <b>{route ?? job ?? ''}</b> {event === 'unknown' ? '' : event}
          {reason !== null && <span class="dim small"> {reason.slice(0, 200)}</span>}
        </span>
        <State of={state} />
        {waits_for !== null && (
          <span class="dim small">waits for {waits_for === 'pause' ? 'its route to go on' : `its ${waits_for}`}</span>
        )}
        {duration_ms !== null && <span class="dim small">{duration(duration_ms)}</span>}
        <span class="dim small end">
          <Ago at={accepted_at} />
        </span>
      </a>
    </li>
  );
}

function ReplayAll({ route, job, done }: { route: string; job: string; done: () => void }) {
  const replay = async (close: () => void): Promise<string> => {
    const of = { ...(route ? { route } : {}), ...(job ? { job } : {}) };
    const report = await call('replayDeliveries', { state: 'dead', limit: 1000, rerun: false, again: false, ...of });
    close();
    done();
    return saidOf(report);
  };
  return (
    <Operator>
      <Ask text="Replay all" title="Replay what was given up">
        {(close) => (
          <>
            <p>
              At most 1,000 deliveries{route === '' ? '' : ` of route ${route}`}, the newest first, go to the targets
              that have not got them; those without an answer run again.
            </p>
            <Choice close={close}>
              <Act act={() => replay(close)} primary>
                Replay
              </Act>
            </Choice>
          </>
        )}
      </Ask>
    </Operator>
  );
}

/** What became of a replay. */
export function saidOf({ done, refused }: Output<'replayDeliveries'>): string {
  const reasons = [...new Set(refused.map(({ reason }) => reason))].slice(0, 3).join('; ');
  return `${done.length} replayed${refused.length === 0 ? '' : `, ${refused.length} not: ${reasons}`}.`;
}
