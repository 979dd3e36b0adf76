/** What waits for a person: each shown exactly as it would be sent; one by its id, also when it is answered or expired. */
import { useState } from 'preact/hooks';
import { unseenNote } from '../../../../base/text.ts';
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
  <ListView title="Approvals" of="listApprovals" place={place} cards empty="Nothing waits for an answer.">
    {(one, { reload }) => <One key={one.id} of={one} changed={reload} />}
  </ListView>
);

/** What the link of a notice opens. */
export function Approval({ id }: ViewProps) {
  const loaded = useData('getApproval', { id });
  return (
    <>
      <Head title="Approval" of="Approvals" />
      <Show of={loaded}>{(one) => <One of={one} changed={loaded.reload} />}</Show>
    </>
  );
}

type Asked = Output<'getApproval'>;

const EXPIRED = 'Expired: nobody has answered in time, and it is not sent.';

function One({ of, changed }: { of: Asked; changed: () => void }) {
  const { id, state, since, route, job, event, target, output, url, address, text, content, expires_at } = of;
  const [reason, setReason] = useState('');
  const answer = (approve: boolean) => async (): Promise<string> => {
    await call('answerApproval', { id, approve, ...(approve || reason === '' ? {} : { reason }) });
    changed();
    return approve ? 'Approved: it is sent as it was shown.' : 'Rejected.';
  };
  const fields = Object.entries(content).map(([name, value]) => [name, JSON.stringify(value)] as const);
  const unseen = unseenNote([text, ...fields.map(([, value]) => value)].join('\n'));
  // Its id begins with that of the delivery.
  const [delivery = ''] = id.split('-');
  const what = `${output ?? 'the answer'} of ${route ?? job}`;
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
            waits since <Ago at={since} />
          </span>
        )
      }
    >
      {state !== 'waiting' && (
        <Note kind={state === 'approved' ? 'good' : 'warn'}>
          {by === undefined ? EXPIRED : `It is ${state} by ${by} at ${instant(at)}${why ? `: ${why}` : ''}.`}
        </Note>
      )}
      <Facts
        of={[
          ['Of', <a href={to(['deliveries', delivery])}>{route ?? job}</a>],
          ['Event', known(event)],
          ['URL', url],
          ...Object.entries(address),
          ['Until', instant(expires_at)],
          ...fields,
        ]}
      />
      <Block label={`What is sent: ${what}, ${id}`}>{text}</Block>
      {unseen !== null && <Note kind="warn">{`Beware: ${unseen}.`}</Note>}
      {state === 'waiting' && (
        <Operator>
          <div class="bar">
            <Act act={answer(true)} primary label={`Approve ${what}`}>
              Approve
            </Act>
            <Ask text="Reject" label={`Reject ${what}`} title={`Reject ${what}`} choices={{ Reject: answer(false) }}>
              <Field label="Why, for the record" value={reason} change={setReason} />
            </Ask>
          </div>
        </Operator>
      )}
    </Card>
  );
}
