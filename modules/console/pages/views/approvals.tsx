/** Approvals: the pending messages; or one message by id, in any state. Each is shown exactly as it would be sent. */
import { useState } from 'preact/hooks';
import { invisibleNote } from '../../../../base/text.ts';
import type { Output } from '../api.ts';
import { call } from '../api.ts';
import { Act, Ask, Open, Operator, Undo } from '../parts/act.tsx';
import { useData } from '../parts/data.ts';
import { duration, instant, known, people, upper } from '../parts/format.ts';
import { ListView, named } from '../parts/list.tsx';
import { notify } from '../parts/notify.tsx';
import type { ViewProps } from '../parts/router.ts';
import { to } from '../parts/router.ts';
import { Ago, Block, Card, Facts, Field, Head, Note, Show, State } from '../parts/ui.tsx';
import { Payload } from './event.tsx';

type Approval = Output<'getApproval'>;

/** The id of an approval begins with the id of its delivery. */
const deliveryOf = ({ id }: Approval): string => id.split('-')[0] ?? '';
const whatOf = ({ output, route, job }: Approval): string => `${output ?? 'answer'} of ${route ?? job}`;
const sendingOf = (one: Approval): string => `${whatOf(one)} to ${one.target}`;

export const Approvals = ({ place }: ViewProps) => (
  <ListView
    title="Approvals"
    of="listApprovals"
    place={place}
    empty="No pending approvals."
    keyOf={({ id }) => id}
    columns={() => [
      ['Message', (one) => named(['approvals', one.id], upper(sendingOf(one)), one.text.slice(0, 300)), 'clip'],
      ['Event', (one) => <EventLink of={one} />],
      ['Requested', ({ since }) => since !== null && <Ago at={since} />, 'end'],
      ['Time left', leftOf, 'end'],
      ['', ({ id }) => <Open href={to(['approvals', id])}>Review</Open>, 'end'],
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

/** The target of the link in an approval notice. Beside the message is what it answers. */
export function ApprovalView({ id }: ViewProps) {
  const loaded = useData('getApproval', { id });
  const delivery = useData('getDelivery', { id: id.split('-', 1)[0] ?? '' }, false);
  const from = delivery.data?.request_id ?? null;
  const request = useData('getRequest', from === null ? null : { id: from }, false);
  const { data: one } = loaded;
  const title =
    one === null ? 'Approval' : one.state === 'waiting' ? `Send the ${sendingOf(one)}?` : upper(sendingOf(one));
  return (
    <>
      <Head title={title} of="Approvals" about={one !== null && <State of={one.state} />} />
      <Show of={loaded}>
        {(shown) => (
          <div class="grid">
            <div class="stack">
              <Message of={shown} changed={loaded.reload} />
            </div>
            <div class="stack">
              <Card title="Where it comes from" aside={<EventLink of={shown} />}>
                {delivery.data !== null && <Block title="Prompt">{delivery.data.dispatch.prompt}</Block>}
              </Card>
              {request.data !== null && <Payload of={request.data} />}
            </div>
          </div>
        )}
      </Show>
    </>
  );
}

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

/** The whole message, below the time that is left and the address, and its buttons. */
function Message({ of, changed }: AnswerProps) {
  const { id, since, url, target, address, text, content, state, expires_at } = of;
  const fields = Object.entries(content).map(([name, value]) => [name, JSON.stringify(value)] as const);
  const unseen = invisibleNote([text, ...fields.map(([, value]) => value)].join('\n'));
  return (
    <Card title="Message" aside={<span class="dim small">{since !== null && `requested ${instant(since)}`}</span>}>
      <Result of={of} changed={changed} />
      {expires_at !== null && (
        <p>
          <b>{leftOf(of)} left</b>, until {instant(expires_at)}; without an answer it is not sent, and its delivery
          fails.
        </p>
      )}
      <Facts
        of={[['Target', target], ...Object.entries(address), [target === 'http' ? 'URL' : 'Server', url], ...fields]}
      />
      <div class="message">
        <Block label={`Message: ${whatOf(of)}, ${id}`}>{text}</Block>
      </div>
      {unseen !== null && <Note kind="warn">{`Warning: ${unseen}.`}</Note>}
      {state === 'waiting' && <Answer of={of} changed={changed} />}
    </Card>
  );
}

type AnswerProps = { readonly of: Approval; readonly changed: () => void };

/** Approves, which the person can undo for five seconds, or rejects. */
function Answer({ of, changed }: AnswerProps) {
  const [reason, setReason] = useState('');
  const what = whatOf(of);
  const answer = (approve: boolean) => async (): Promise<string> => {
    const input = { id: of.id, approve, undoable: approve, ...(approve || reason === '' ? {} : { reason }) };
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
