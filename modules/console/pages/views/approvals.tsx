/** Approvals: the pending messages; or one message by id, in any state. Each is shown exactly as it would be sent. */
import { useState } from 'preact/hooks';
import { invisibleNote } from '../../../../base/text.ts';
import type { Output } from '../api.ts';
import { call } from '../api.ts';
import { Act, Ask, Operator } from '../parts/act.tsx';
import { useData } from '../parts/data.ts';
import { instant, known } from '../parts/format.ts';
import { ListView } from '../parts/list.tsx';
import { actLater } from '../parts/notify.tsx';
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
            <Result of={one} />
            <Message of={one} />
            {one.state === 'waiting' && <Answer of={one} changed={loaded.reload} isShown />}
          </Card>
        )}
      </Show>
    </>
  );
}

const EXPIRED = 'Expired without an answer. The message is not sent.';

function Result({ of: { state, answer } }: { of: Approval }) {
  if (state === 'waiting') return null;
  const { by, at, reason } = answer ?? {};
  return (
    <Note kind={state === 'approved' ? 'good' : 'warn'}>
      {by === undefined ? EXPIRED : `This was ${state} by ${by}, ${instant(at)}${reason ? `: ${reason}` : ''}.`}
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

/** Approves after five seconds in which the person can undo, or rejects. */
function Answer({ of, changed, isShown = false }: AnswerProps) {
  const [reason, setReason] = useState('');
  const [isLeaving, setLeaving] = useState(false);
  const what = whatOf(of);
  const answer = async (approve: boolean): Promise<void> => {
    await call('answerApproval', { id: of.id, approve, ...(approve || reason === '' ? {} : { reason }) });
    changed();
  };
  const approve = async (): Promise<string> => {
    setLeaving(true);
    const send = (): Promise<string> => answer(true).then(() => 'Approved. The message is sent as shown.');
    actLater(`Approving ${what} in 5 seconds.`, send, () => setLeaving(false));
    return '';
  };
  const reject = (): Promise<string> => answer(false).then(() => 'Rejected.');
  if (isLeaving) return <p class="dim">Approving…</p>;
  return (
    <Operator>
      <span class="bar">
        {isShown ? (
          <Act act={approve} primary label={`Approve ${what}`}>
            Approve
          </Act>
        ) : (
          <Ask
            text="Approve"
            primary
            label={`Approve ${what}`}
            title={`Approve ${what}`}
            choices={{ Approve: approve }}
          >
            <Message of={of} />
          </Ask>
        )}
        <Ask text="Reject" label={`Reject ${what}`} title={`Reject ${what}`} choices={{ Reject: reject }}>
          {!isShown && <Message of={of} />}
          <Field label="Reason (optional)" value={reason} change={setReason} />
        </Ask>
      </span>
    </Operator>
  );
}
