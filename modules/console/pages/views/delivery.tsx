/** One delivery: every state and attempt, the prompt, the answer, and how its run ended. */
import type { Output } from '../api.ts';
import { call } from '../api.ts';
import { useData } from '../parts/data.ts';
import { duration, instant } from '../parts/format.ts';
import { Operator } from '../parts/role.tsx';
import { to } from '../parts/router.ts';
import { State } from '../parts/state.tsx';
import type { Kind } from '../parts/ui.tsx';
import { Act, Badge, Block, Card, Facts, Head, Note, Show } from '../parts/ui.tsx';
import { saidOf } from './deliveries.tsx';

type Stored = Output<'getDelivery'>;
type Outcome = NonNullable<Stored['timeline'][number]['outcome']>;

const OUTCOMES: Readonly<Record<Outcome, Kind>> = {
  ...{ ok: 'good', approved: 'good', retry: 'warn', ambiguous: 'warn', interrupted: 'warn', withdrawn: 'calm' },
  ...{ failed: 'bad', permanent: 'bad', rejected: 'bad' },
};

export function Delivery({ id }: { id: string }) {
  const found = useData('getDelivery', { id });
  const replay = (how: { readonly rerun: boolean; readonly again: boolean }) => async (): Promise<string> => {
    const report = await call('replayDeliveries', { ids: [id], limit: 1, ...how });
    found.reload();
    const [made] = report.done;
    if (made !== undefined && made.replay_of !== null) location.hash = to(['deliveries', made.id]);
    return saidOf(report);
  };
  const { data } = found;
  const isOver = data !== null && ['done', 'dead', 'skipped'].includes(data.state);
  return (
    <>
      <Head title={titleOf(data)} crumb={<a href={to(['deliveries'])}>Deliveries</a>}>
        {isOver && (
          <Operator>
            {data.not_replayable === null ? (
              <Act act={replay({ rerun: false, again: false })} primary={data.state === 'dead'}>
                Replay
              </Act>
            ) : (
              <Act act={replay({ rerun: false, again: true })}>Send to all targets again</Act>
            )}
            {data.mode !== 'direct' && data.mode !== 'message' && (
              <Act act={replay({ rerun: true, again: false })}>Run again</Act>
            )}
          </Operator>
        )}
      </Head>
      <Show of={found}>{(stored) => <Whole of={stored} />}</Show>
    </>
  );
}

const titleOf = (stored: Stored | null): string =>
  stored === null ? 'Delivery' : `Delivery of ${stored.route ?? stored.job ?? 'a job'}`;

const Whole = ({ of }: { of: Stored }) => (
  <>
    <div class="grid">
      <Card title="What it is">
        <Summary of={of} />
      </Card>
      <Card title="What happened">
        <Timeline of={of} />
      </Card>
    </div>
    <Card title="Prompt">
      <Block label="Prompt">{of.dispatch.prompt}</Block>
    </Card>
    <Run of={of} />
  </>
);

function Summary({ of }: { of: Stored }) {
  const { state, reason, route, job, event, profile, delivery_id, accepted_at, dispatch, replay_of } = of;
  return (
    <Facts
      of={[
        ['Id', <span class="mono">{of.id}</span>],
        ['State', <State of={state} />],
        ['Why', reason],
        ['Route', route === null ? null : <a href={to(['requests'], { route })}>{route}</a>],
        ['Job', job],
        ['Event', event],
        ['Profile', profile === 'default' ? null : profile],
        ['Id of the sender', <span class="mono">{delivery_id}</span>],
        ['Accepted', instant(accepted_at)],
        ['Session', dispatch.session_key === null || dispatch.session_key === undefined ? null : dispatch.session],
        ['Goes to', dispatch.deliveries.map(({ target, label }) => label ?? target).join(', ')],
        ['Repeats', replay_of === null ? null : <a href={to(['deliveries', replay_of])}>{replay_of}</a>],
      ]}
    />
  );
}

function Timeline({ of }: { of: Stored }) {
  return (
    <ol class="list">
      {of.timeline.map(({ at, what, target, outcome, reason, next_at }, index) => (
        <li key={index}>
          <div class="row">
            <span class="main">
              {what} {target !== null && <b>{target}</b>}
              {reason !== null && <span class="dim small"> {reason}</span>}
              {next_at !== null && <span class="dim small"> next try {instant(next_at)}</span>}
            </span>
            {outcome !== null && <Badge kind={OUTCOMES[outcome]}>{outcome}</Badge>}
            <time class="dim small end" dateTime={new Date(at).toISOString()}>
              {instant(at).slice(11)}
            </time>
          </div>
        </li>
      ))}
    </ol>
  );
}

function Run({ of: { run } }: { of: Stored }) {
  const { attempts, duration_ms, exit_code, signal, stderr, denied, answer, usage } = run;
  if (answer === null && attempts === 0) return null;
  return (
    <Card title="Run">
      <Facts
        of={[
          ['Attempts', String(attempts)],
          ['Took', duration_ms === null ? null : duration(duration_ms)],
          ['Ended', exit_code === null ? signal : `exit code ${exit_code}`],
          ['Used', usage === null ? null : `${usage.input_tokens ?? 0} tokens in, ${usage.output_tokens ?? 0} out`],
          ['Cost', usage?.cost ?? null],
        ]}
      />
      {denied.length > 0 && <Note kind="warn">Its sandbox refused: {denied.join(', ')}</Note>}
      {answer !== null && (
        <>
          <h3>Answer</h3>
          <Block label="Answer">{answer === '' ? '(empty)' : answer}</Block>
        </>
      )}
      {stderr !== '' && (
        <>
          <h3>Standard error</h3>
          <Block label="Standard error">{stderr}</Block>
        </>
      )}
    </Card>
  );
}
