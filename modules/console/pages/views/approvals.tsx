/** Approvals: the pending messages; or one message by id, in any state. Each is shown exactly as it would be sent. */
import { useState } from 'preact/hooks';
import { invisibleNote } from '../../../../base/text.ts';
import type { Output } from '../api.ts';
import { call } from '../api.ts';
import { Act, Ask, Operator, Undo } from '../parts/act.tsx';
import { useData } from '../parts/data.ts';
import { instant, known } from '../parts/format.ts';
import { ListView } from '../parts/list.tsx';
import { notify } from '../parts/notify.tsx';
import type { ViewProps } from '../parts/router.ts';
import { to } from '../parts/router.ts';
import { Ago, Block, Card, Facts, Field, Head, Note, Show, Whole } from '../parts/ui.tsx';

type Approval = Output<'getApproval'>;

/** The id of an approval begins with the id of its delivery. */
const deliveryOf = ({ id }: Approval): string => id.split('-')[0] ?? '';
const whatOf = ({ output, route, job }: Approval): string => `${output ?? 'answer'} of ${route ?? job}`;

export const Approvals = ({ place }: ViewProps) => (
  <ListView
    title="Approvals"
    of="listApprovals"
    place={place}
    empty="No pending approvals."
    keyOf={({ id }) => id}
    columns={({ reload }) => [
      [
        'Message',
        ({ id, output, target }) => <Whole path={['approvals', id]}>{`${output ?? 'answer'} to ${target}`}</Whole>,
      ],
      ['Route or job', ({ route, job }) => route ?? job],
      ['Event', ({ event }) => known(event)],
      ['Text', ({ text }) => text.slice(0, 300), 'clip'],
      ['Requested', ({ since }) => since !== null && <Ago at={since} />, 'end'],
      ['', (one) => <Answer of={one} changed={reload} />, 'end'],
    ]}
  />
);

/** The target of the link in an approval notice. */
export function ApprovalView({ id }: ViewProps) {
  const loaded = useData('getApproval', { id });
  return (
    <>
      <Head title="Approval" of="Approvals" />
      <Show of={loaded}>
        {(one) => (
          <Card title={`${one.output ?? 'Answer'} to ${one.target}`}>
            <Result of={one} changed={loaded.reload} />
            <Message of={one} />
            {one.state === 'waiting' && <Answer of={one} changed={loaded.reload} isShown />}
          </Card>
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
  return (
    <Note kind={state === 'approved' ? 'good' : 'warn'}>
      {by === undefined ? EXPIRED : `This was ${state} by ${by}, ${instant(at)}${reason ? `: ${reason}` : ''}.`}{' '}
      {state === 'approved' && (
        <Operator>
          <Undo act={undo(id, changed)} until={takes_effect_at} />
        </Operator>
      )}
    </Note>
  );
}

/** The whole message, its address and its event. */
function Message({ of }: { of: Approval }) {
  const { id, since, route, job, event, url, target, address, text, content, expires_at } = of;
  const fields = Object.entries(content).map(([name, value]) => [name, JSON.stringify(value)] as const);
  const unseen = invisibleNote([text, ...fields.map(([, value]) => value)].join('\n'));
  return (
    <>
      <Facts
        of={[
          ['Target', target],
          ...Object.entries(address),
          ['URL', url],
          [route === null ? 'Job' : 'Route', <a href={to(['deliveries', deliveryOf(of)])}>{route ?? job}</a>],
          ['Event', known(event)],
          ['Requested', since !== null && instant(since)],
          ['Expires', instant(expires_at)],
          ...fields,
        ]}
      />
      <Block label={`Message: ${whatOf(of)}, ${id}`}>{text}</Block>
      {unseen !== null && <Note kind="warn">{`Warning: ${unseen}.`}</Note>}
    </>
  );
}

interface AnswerProps {
  readonly of: Approval;
  readonly changed: () => void;
  /** The message is on the page, so that no dialog has to show it before. */
  readonly isShown?: boolean;
}

/** Approves, which the person can undo for five seconds, or rejects. */
function Answer({ of, changed, isShown = false }: AnswerProps) {
  const [reason, setReason] = useState('');
  const what = whatOf(of);
  const answer = (approve: boolean) => async (): Promise<string> => {
    const how = approve ? { undoable: true } : reason === '' ? {} : { reason };
    const { answer: given } = await call('answerApproval', { id: of.id, approve, undoable: false, ...how }).finally(
      changed,
    );
    if (!approve || given === null) return 'Rejected.';
    // By the clock of this browser, which may differ.
    const until = Date.now() + given.takes_effect_at - given.at;
    notify('Approved. The message is sent as shown.', 'good', <Undo act={undo(of.id, changed)} until={until} />);
    return '';
  };
  return (
    <Operator>
      <span class="bar">
        {isShown ? (
          <Act act={answer(true)} primary label={`Approve ${what}`}>
            Approve
          </Act>
        ) : (
          <Ask
            text="Approve"
            primary
            label={`Approve ${what}`}
            title={`Approve ${what}`}
            choices={{ Approve: answer(true) }}
          >
            <Message of={of} />
          </Ask>
        )}
        <Ask text="Reject" label={`Reject ${what}`} title={`Reject ${what}`} choices={{ Reject: answer(false) }}>
          {!isShown && <Message of={of} />}
          <Field label="Reason (optional)" value={reason} change={setReason} />
        </Ask>
      </span>
    </Operator>
  );
}
