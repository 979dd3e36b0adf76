/** Approvals: the pending messages, each exactly as it would be sent; or one message by id, in any state. */
import { useState } from 'preact/hooks';
import { invisibleNote } from '../../../../base/text.ts';
import type { Output } from '../api.ts';
import { call } from '../api.ts';
import { Act, Ask, Operator } from '../parts/act.tsx';
import { useData } from '../parts/data.ts';
import { instant, known } from '../parts/format.ts';
import { ListView } from '../parts/list.tsx';
import type { ViewProps } from '../parts/router.ts';
import { to } from '../parts/router.ts';
import { Ago, Block, Card, Facts, Field, Head, Note, Show } from '../parts/ui.tsx';

export const Approvals = ({ place }: ViewProps) => (
  <ListView title="Approvals" of="listApprovals" place={place} cards empty="No pending approvals.">
    {(one, { reload }) => <One key={one.id} of={one} changed={reload} />}
  </ListView>
);

/** The target of the link in an approval notice. */
export function ApprovalView({ id }: ViewProps) {
  const loaded = useData('getApproval', { id });
  return (
    <>
      <Head title="Approval" of="Approvals" />
      <Show of={loaded}>{(one) => <One of={one} changed={loaded.reload} />}</Show>
    </>
  );
}

type Approval = Output<'getApproval'>;

const EXPIRED = 'Expired without an answer. The message is not sent.';

function One({ of, changed }: { of: Approval; changed: () => void }) {
  const { id, state, since, route, job, event, target, output, url, address, text, content, expires_at } = of;
  const [reason, setReason] = useState('');
  const answer = (approve: boolean) => async (): Promise<string> => {
    await call('answerApproval', { id, approve, ...(approve || reason === '' ? {} : { reason }) });
    changed();
    return approve ? 'Approved. The message is sent as shown.' : 'Rejected.';
  };
  const fields = Object.entries(content).map(([name, value]) => [name, JSON.stringify(value)] as const);
  const unseen = invisibleNote([text, ...fields.map(([, value]) => value)].join('\n'));
  // The id of an approval begins with the id of its delivery.
  const [delivery = ''] = id.split('-');
  const what = `${output ?? 'answer'} of ${route ?? job}`;
  const { by, at, reason: why } = of.answer ?? {};
  return (
    <Card
      title={
        <a href={to(['approvals', id])}>
          {output ?? 'Answer'} to {target}
        </a>
      }
      aside={
        since !== null && (
          <span class="dim small">
            requested <Ago at={since} />
          </span>
        )
      }
    >
      {state !== 'waiting' && (
        <Note kind={state === 'approved' ? 'good' : 'warn'}>
          {by === undefined ? EXPIRED : `This was ${state} by ${by}, ${instant(at)}${why ? `: ${why}` : ''}.`}
        </Note>
      )}
      <Facts
        of={[
          [route === null ? 'Job' : 'Route', <a href={to(['deliveries', delivery])}>{route ?? job}</a>],
          ['Event', known(event)],
          ['URL', url],
          ...Object.entries(address),
          ['Expires', instant(expires_at)],
          ...fields,
        ]}
      />
      <Block label={`Message: ${what}, ${id}`}>{text}</Block>
      {unseen !== null && <Note kind="warn">{`Warning: ${unseen}.`}</Note>}
      {state === 'waiting' && (
        <Operator>
          <div class="bar">
            <Act act={answer(true)} primary label={`Approve ${what}`}>
              Approve
            </Act>
            <Ask text="Reject" label={`Reject ${what}`} title={`Reject ${what}`} choices={{ Reject: answer(false) }}>
              <Field label="Reason (optional)" value={reason} change={setReason} />
            </Ask>
          </div>
        </Operator>
      )}
    </Card>
  );
}
