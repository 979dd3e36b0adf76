/** What was accepted, and what became of it: filtered, with what was given up to be sent again; one with its prompt, attempts and answer. */

import { CHOICES } from '../../runtime/api/built/operations.ts';
import type { Output } from '../api.ts';
import { call } from '../api.ts';
import { Act, Ask, Operator } from '../parts/act.tsx';
import { useData } from '../parts/data.ts';
import { duration, instant, known } from '../parts/format.ts';
import { askedFor, ListView } from '../parts/list.tsx';
import type { ViewProps } from '../parts/router.ts';
import { to } from '../parts/router.ts';
import { Ago, Block, Card, Entries, Facts, Head, Note, Row, Show, State } from '../parts/ui.tsx';

const FILTERS = {
  state: { label: 'State', choices: CHOICES.state },
  route: { label: 'Route', known: 'listRoutes' },
  job: { label: 'Job', known: 'listJobs' },
} as const;

export function Deliveries({ place }: ViewProps) {
  const { state, ...of } = askedFor(place, FILTERS);
  return (
    <ListView
      title="Deliveries"
      of="listDeliveries"
      place={place}
      filters={FILTERS}
      empty="There is no such delivery."
      actions={(list) => state === 'dead' && <ReplayAll of={of} done={list.reload} />}
    >
      {(one) => <DeliveryRow key={one.id} of={one} />}
    </ListView>
  );
}

export function DeliveryRow({ of }: { of: Output<'listDeliveries'>['items'][number] }) {
  const { id, route, job, event, state, reason, accepted_at, duration_ms, waits_for } = of;
  const about = (
    <>
      {known(event)}
      {reason !== null && <span class="dim small"> {reason.slice(0, 200)}</span>}
    </>
  );
  return (
    <Row href={to(['deliveries', id])} name={route ?? job ?? '(gateway)'} about={about} end={<Ago at={accepted_at} />}>
      <State of={state} />
      {waits_for !== null && (
        <span class="dim small">waits for {waits_for === 'pause' ? 'its route to go on' : `its ${waits_for}`}</span>
      )}
      {duration_ms !== null && <span class="dim small">{duration(duration_ms)}</span>}
    </Row>
  );
}

interface ReplayAllProps {
  readonly of: { readonly route?: string; readonly job?: string };
  readonly done: () => void;
}

function ReplayAll({ of, done }: ReplayAllProps) {
  const replay = async (): Promise<string> => {
    const report = await call('replayDeliveries', { state: 'dead', limit: 1000, rerun: false, again: false, ...of });
    done();
    return saidOf(report);
  };
  return (
    <Operator>
      <Ask text="Replay all" title="Replay what was given up" choices={{ Replay: replay }}>
        <p>
          At most 1,000 deliveries{of.route === undefined ? '' : ` of route ${of.route}`}, the newest first, go to the
          targets that have not got them; those without an answer run again.
        </p>
      </Ask>
    </Operator>
  );
}

/** What became of a replay. */
function saidOf({ done, refused }: Output<'replayDeliveries'>): string {
  const reasons = [...new Set(refused.map(({ reason }) => reason))].slice(0, 3).join('; ');
  return `${done.length} replayed${refused.length === 0 ? '' : `, ${refused.length} not: ${reasons}`}.`;
}

type Stored = Output<'getDelivery'>;
type Replay = (how: { readonly rerun?: boolean; readonly again?: boolean }) => () => Promise<string>;

export function Delivery({ id }: ViewProps) {
  const found = useData('getDelivery', { id });
  const replay: Replay = (how) => async () => {
    const report = await call('replayDeliveries', { ids: [id], limit: 1, rerun: false, again: false, ...how });
    found.reload();
    const [made] = report.done;
    if (made !== undefined && made.replay_of !== null) location.hash = to(['deliveries', made.id]);
    return saidOf(report);
  };
  const { data } = found;
  const title = data === null ? 'Delivery' : `Delivery of ${data.route ?? data.job ?? 'a job'}`;
  return (
    <>
      <Head title={title} of="Deliveries">
        {data !== null && ['done', 'dead', 'skipped'].includes(data.state) && <Actions of={data} replay={replay} />}
      </Head>
      <Show of={found}>
        {(of) => (
          <>
            <div class="grid">
              <Summary of={of} />
              <Card title="What happened">
                <Entries empty="">{of.timeline.map(happened)}</Entries>
              </Card>
            </div>
            <Card title="Prompt">
              <Block label="Prompt">{of.dispatch.prompt}</Block>
            </Card>
            {(of.run.answer !== null || of.run.attempts > 0) && <Run of={of.run} />}
          </>
        )}
      </Show>
    </>
  );
}

const Actions = ({ of: { not_replayable, state, mode }, replay }: { of: Stored; replay: Replay }) => (
  <Operator>
    {not_replayable === null ? (
      <Act act={replay({})} primary={state === 'dead'}>
        Replay
      </Act>
    ) : (
      <Act act={replay({ again: true })}>Send to all targets again</Act>
    )}
    {mode !== 'direct' && mode !== 'message' && <Act act={replay({ rerun: true })}>Run again</Act>}
  </Operator>
);

function Summary({ of }: { of: Stored }) {
  const { id, state, reason, route, job, event, profile, delivery_id, accepted_at, dispatch, replay_of } = of;
  return (
    <Card title="What it is">
      <Facts
        of={[
          ['Id', <span class="mono">{id}</span>],
          ['State', <State of={state} />],
          ['Why', reason],
          ['Route', route !== null && <a href={to(['requests'], { route })}>{route}</a>],
          ['Job', job],
          ['Event', event],
          ['Profile', profile !== 'default' && profile],
          ['Id of the sender', <span class="mono">{delivery_id}</span>],
          ['Accepted', instant(accepted_at)],
          ['Session', dispatch.session_key != null && dispatch.session],
          ['Goes to', dispatch.deliveries.map(({ target }) => target).join(', ')],
          ['Repeats', replay_of !== null && <a href={to(['deliveries', replay_of])}>{replay_of}</a>],
        ]}
      />
    </Card>
  );
}

function happened({ at, what, target, outcome, reason, next_at }: Stored['timeline'][number], index: number) {
  const about = (
    <>
      {what} {target !== null && <b>{target}</b>} <span class="dim small">{reason}</span>
      {next_at !== null && <span class="dim small"> next try {instant(next_at)}</span>}
    </>
  );
  return (
    <Row key={index} about={about} end={<time dateTime={new Date(at).toISOString()}>{instant(at).slice(11)}</time>}>
      {outcome !== null && <State of={outcome} />}
    </Row>
  );
}

function Run({ of }: { of: Stored['run'] }) {
  const { attempts, duration_ms, exit_code, signal, stderr, denied, answer, usage } = of;
  return (
    <Card title="Run">
      <Facts
        of={[
          ['Attempts', String(attempts)],
          ['Took', duration_ms !== null && duration(duration_ms)],
          ['Ended', exit_code === null ? signal : `exit code ${exit_code}`],
          ['Used', usage !== null && `${usage.input_tokens ?? 0} tokens in, ${usage.output_tokens ?? 0} out`],
          ['Cost', usage?.cost],
        ]}
      />
      {denied.length > 0 && <Note kind="warn">Its sandbox refused: {denied.join(', ')}</Note>}
      {answer !== null && (
        <Block title label="Answer">
          {answer === '' ? '(empty)' : answer}
        </Block>
      )}
      {stderr !== '' && (
        <Block title label="Standard error">
          {stderr}
        </Block>
      )}
    </Card>
  );
}
