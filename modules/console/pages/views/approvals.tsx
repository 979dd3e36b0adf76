/** Approvals: the pending messages; or one message by id, in any state. Each is shown exactly as it would be sent. */
import { useState } from 'preact/hooks';
import { invisibleNote } from '../../../../base/text.ts';
import type { Output } from '../api.ts';
import { call } from '../api.ts';
import { Act, Ask, Operator, Undo } from '../parts/act.tsx';
import { useData } from '../parts/data.ts';
import { duration, instant, known, people } from '../parts/format.ts';
import { ListView } from '../parts/list.tsx';
import { notify } from '../parts/notify.tsx';
import type { ViewProps } from '../parts/router.ts';
import { to } from '../parts/router.ts';
import { Ago, Block, Card, Facts, Field, Head, Note, Show, State, Whole } from '../parts/ui.tsx';
import { runText } from './timeline.tsx';

type Approval = Output<'getApproval'>;

/** The id of an approval begins with the id of its delivery. */
const deliveryOf = ({ id }: Approval): string => id.split('-')[0] ?? '';
const titleOf = ({ output, target }: Approval): string => `${output ?? 'Answer'} to ${target}`;
const whatOf = ({ output, route, job }: Approval): string => `${output ?? 'answer'} of ${route ?? job}`;

export const Approvals = ({ place }: ViewProps) => (
  <ListView
    title="Approvals"
    of="listApprovals"
    place={place}
    empty="No pending approvals."
    keyOf={({ id }) => id}
    columns={() => [
      ['Message', (one) => <Whole path={['approvals', one.id]}>{titleOf(one)}</Whole>],
      ['Event', (one) => <EventLink of={one} />],
      ['Text', ({ text }) => text.slice(0, 300), 'clip'],
      ['Requested', ({ since }) => since !== null && <Ago at={since} />, 'end'],
      ['Time left', leftOf, 'end'],
      ['', ({ id }) => <a href={to(['approvals', id])}>Review</a>, 'end'],
    ]}
  />
);

const EventLink = ({ of }: { of: Approval }) => (
  <a href={to(['deliveries', deliveryOf(of)])}>
    {[known(of.event), of.route ?? `job ${of.job}`].filter(Boolean).join(' of ')}
  </a>
);

/** By the clock of this browser. */
const leftOf = ({ expires_at }: Approval): string =>
  expires_at === null ? '' : duration(Math.max(0, Math.ceil((expires_at - Date.now()) / 60_000) * 60_000));

/** The target of the link in an approval notice. */
export function ApprovalView({ id }: ViewProps) {
  const loaded = useData('getApproval', { id });
  const { data: one } = loaded;
  const state = one !== null && <State of={one.state} />;
  return (
    <>
      <Head title={one === null ? 'Approval' : titleOf(one)} of="Approvals" about={state} />
      <Show of={loaded}>
        {(shown) => (
          <div class="grid">
            <Card title={shown.state === 'waiting' ? 'Send this message?' : 'Message'}>
              <Result of={shown} changed={loaded.reload} />
              <Message of={shown} />
              {shown.state === 'waiting' && <Answer of={shown} changed={loaded.reload} />}
            </Card>
            <Origin of={shown} />
          </div>
        )}
      </Show>
    </>
  );
}

/** The event of a message, its request and its prompt. */
const Origin = ({ of }: { of: Approval }) => (
  <Card title="Where it comes from">
    <Show of={useData('getDelivery', { id: deliveryOf(of) }, false)}>
      {({ request_id, accepted_at, run, dispatch: { prompt } }) => (
        <>
          <Facts
            of={[
              ['Event', <EventLink of={of} />],
              ['Request', request_id !== null && <a href={to(['requests', request_id])}>{request_id}</a>],
              ['Accepted', instant(accepted_at, 'second')],
              ['Run', runText(run)],
            ]}
          />
          <Block title="Prompt">{prompt}</Block>
        </>
      )}
    </Show>
  </Card>
);

/** Withdraws an approval that has not taken effect. */
const undo = (id: string, changed: () => void) => async (): Promise<string> => {
  const { state } = await call('undoApproval', { id }).finally(changed);
  return state === 'waiting' ? 'Undone. Nothing was sent.' : `Undone. ${EXPIRED}`;
};

const EXPIRED = 'Expired without an answer. The message is not sent.';

function Result({ of: { id, state, answer }, changed }: Pick<AnswerProps, 'of' | 'changed'>) {
  if (state === 'waiting') return null;
  const { by, at, reason, takes_effect_at = 0 } = answer ?? {};
  const sent = state === 'approved' ? ` It takes effect at ${instant(takes_effect_at, 'second')}.` : '';
  const text = `This was ${state} by ${people(by ?? '')}, ${instant(at, 'second')}${reason ? `: ${reason}` : ''}.${sent}`;
  return (
    <Note kind={state === 'approved' ? 'good' : 'warn'}>
      {by === undefined ? EXPIRED : text}{' '}
      <Operator>{state === 'approved' && <Undo act={undo(id, changed)} until={takes_effect_at} />}</Operator>
    </Note>
  );
}

/** The whole message, its address and its event. */
function Message({ of }: { of: Approval }) {
  const { id, since, url, target, address, text, content, expires_at } = of;
  const fields = Object.entries(content).map(([name, value]) => [name, JSON.stringify(value)] as const);
  const unseen = invisibleNote([text, ...fields.map(([, value]) => value)].join('\n'));
  return (
    <>
      <Facts
        of={[
          ['Target', target],
          ...Object.entries(address),
          ['URL', url],
          ['Requested', since !== null && instant(since)],
          ['Time left', expires_at !== null && `${leftOf(of)}, until ${instant(expires_at)}. ${LATER}`],
          ...fields,
        ]}
      />
      <Block label={`Message: ${whatOf(of)}, ${id}`}>{text}</Block>
      {unseen !== null && <Note kind="warn">{`Warning: ${unseen}.`}</Note>}
    </>
  );
}

const LATER = 'Without an answer until then, it is not sent, and its delivery fails.';

type AnswerProps = { readonly of: Approval; readonly changed: () => void };

/** Approves, which the person can undo for five seconds, or rejects. */
function Answer({ of, changed }: AnswerProps) {
  const [reason, setReason] = useState('');
  const what = whatOf(of);
  const answer = (approve: boolean) => async (): Promise<string> => {
    const how = approve || reason === '' ? {} : { reason };
    const input = { id: of.id, approve, undoable: approve, ...how };
    const { answer: given } = await call('answerApproval', input).finally(changed);
    if (!approve || given === null) return 'Rejected. Nothing is sent.';
    // By the clock of this browser, which may differ.
    const until = Date.now() + given.takes_effect_at - given.at;
    const at = instant(given.takes_effect_at, 'second');
    notify(`Approved. The message is sent at ${at}.`, 'good', <Undo act={undo(of.id, changed)} until={until} />);
    return '';
  };
  return (
    <Operator>
      <span class="bar">
        <Act act={answer(true)} primary label={`Approve and send ${what}`}>
          Approve and send
        </Act>
        <Ask text="Reject" label={`Reject ${what}`} title={`Reject ${what}`} choices={{ Reject: answer(false) }}>
          <p>The message is not sent.</p>
          <Field label="Reason (optional)" value={reason} change={setReason} />
        </Ask>
        <span class="dim small">You can undo an approval for five seconds.</span>
      </span>
    </Operator>
  );
}
