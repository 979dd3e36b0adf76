/** Deliveries: a filtered list with replay of dead ones; or one delivery with its prompt, attempts and answer. */

import { CHOICES } from '../../runtime/api/built/operations.ts';
import type { Output } from '../api.ts';
import { call } from '../api.ts';
import { Act, Ask, Operator } from '../parts/act.tsx';
import { useData } from '../parts/data.ts';
import { duration, instant, known } from '../parts/format.ts';
import { activeFilters, ListView } from '../parts/list.tsx';
import type { ViewProps } from '../parts/router.ts';
import { to } from '../parts/router.ts';
import { Ago, Block, Card, Entries, Facts, Head, Note, Row, Show, State } from '../parts/ui.tsx';

const FILTERS = {
  state: { label: 'State', choices: CHOICES.state },
  route: { label: 'Route', known: 'listRoutes' },
  job: { label: 'Job', known: 'listJobs' },
} as const;

export function Deliveries({ place }: ViewProps) {
  const { state, ...of } = activeFilters(place, FILTERS);
  return (
    <ListView
      title="Deliveries"
      of="listDeliveries"
      place={place}
      filters={FILTERS}
      empty="No matching deliveries."
      actions={(list) => state === 'dead' && <ReplayAll of={of} done={list.reload} />}
    >
      {(one) => <DeliveryRow key={one.id} of={one} />}
    </ListView>
  );
}

const WAITS_FOR = { session: 'its session', pause: 'its route to resume', agent: 'its agent', approval: 'approval' };

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
      {waits_for !== null && <span class="dim small">waiting for {WAITS_FOR[waits_for]}</span>}
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
    return resultOf(report);
  };
  return (
    <Operator>
      <Ask text="Replay all" title="Replay dead deliveries" choices={{ Replay: replay }}>
        <p>
          Sends up to 1,000 deliveries{of.route === undefined ? '' : ` of route ${of.route}`}, newest first, to the
          targets that have not received them. Deliveries without an answer run again.
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

type Stored = Output<'getDelivery'>;
type Replay = (how: { readonly rerun?: boolean; readonly again?: boolean }) => () => Promise<string>;

export function Delivery({ id }: ViewProps) {
  const found = useData('getDelivery', { id });
  const replay: Replay = (how) => async () => {
    const report = await call('replayDeliveries', { ids: [id], limit: 1, rerun: false, again: false, ...how });
    found.reload();
    const [repeated] = report.done;
    if (repeated !== undefined && repeated.replay_of !== null) location.hash = to(['deliveries', repeated.id]);
    return resultOf(report);
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
              <Card title="Timeline">
                <Entries empty="">{of.timeline.map(happened)}</Entries>
              </Card>
            </div>
            <Card title="Prompt">
              <Block label="Prompt">{of.dispatch.prompt}</Block>
            </Card>
            {(of.run.answer !== null || of.run.attempts > 0) && <Run of={of.run} />}
            <Outputs of={of} />
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
    <Card title="Summary">
      <Facts
        of={[
          ['ID', <span class="mono">{id}</span>],
          ['State', <State of={state} />],
          ['Reason', reason],
          ['Route', route !== null && <a href={to(['requests'], { route })}>{route}</a>],
          ['Job', job],
          ['Event', event],
          ['Profile', profile !== 'default' && profile],
          ['Delivery ID', <span class="mono">{delivery_id}</span>],
          ['Accepted', instant(accepted_at, 'second')],
          ['Session', dispatch.session_key != null && dispatch.session],
          ['Targets', dispatch.deliveries.map(({ target }) => target).join(', ')],
          ['Replay of', replay_of !== null && <a href={to(['deliveries', replay_of])}>{replay_of}</a>],
        ]}
      />
    </Card>
  );
}

function happened({ at, what, target, outcome, reason, next_at }: Stored['timeline'][number], index: number) {
  const end = <time dateTime={new Date(at).toISOString()}>{instant(at, 'second').slice(11)}</time>;
  const about = (
    <>
      {what} {target !== null && <b>{target}</b>} <span class="dim small">{reason}</span>
      {next_at !== null && <span class="dim small"> next attempt {instant(next_at, 'second')}</span>}
    </>
  );
  return (
    <Row key={index} about={about} end={end}>
      {outcome !== null && <State of={outcome} />}
    </Row>
  );
}

function Outputs({ of: { outputs, dispatch } }: { of: Stored }) {
  const { dropped = [] } = dispatch;
  if (outputs.length + dropped.length === 0) return null;
  return (
    <Card title="Outputs">
      {outputs.map(({ name, target, text, content, delivered, reason }, index) => (
        <Block
          key={index}
          title
          label={`${name} to ${target}: ${delivered ? 'delivered' : (reason ?? 'not delivered')}`}
        >
          {[...Object.entries(content).map(([field, value]) => `${field}: ${value}`), text].join('\n').trim()}
        </Block>
      ))}
      {dropped.map(({ output, reason, detail }, index) => (
        <Note key={index} kind="warn">
          Dropped {output ?? 'a line'}: {reason} ({detail})
        </Note>
      ))}
    </Card>
  );
}

function Run({ of }: { of: Stored['run'] }) {
  const { attempts, duration_ms, exit_code, signal, stderr, stdout, denied, answer, usage } = of;
  return (
    <Card title="Run">
      <Facts
        of={[
          ['Attempts', String(attempts)],
          ['Duration', duration_ms !== null && duration(duration_ms)],
          ['Exit', exit_code === null ? signal : `code ${exit_code}`],
          ['Tokens', usage !== null && `${usage.input_tokens ?? 0} in, ${usage.output_tokens ?? 0} out`],
          ['Cost', usage?.cost],
        ]}
      />
      {denied.length > 0 && <Note kind="warn">The sandbox blocked: {denied.join(', ')}</Note>}
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
      {stdout !== '' && (
        <Block title label="Standard output">
          {stdout}
        </Block>
      )}
    </Card>
  );
}
