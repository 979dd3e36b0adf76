/** What waits for a person: each shown exactly as it would be sent; one by its id, also when it is answered or expired. */
import { useState } from 'preact/hooks';
import { unseenNote } from '../../../../base/unseen.ts';
import type { Output } from '../api.ts';
import { call } from '../api.ts';
import { useData, useList } from '../parts/data.ts';
import { instant } from '../parts/format.ts';
import { Operator } from '../parts/role.tsx';
import { to } from '../parts/router.ts';
import { Act, Ago, Ask, Block, Card, Cards, Choice, Facts, Head, Note, Show } from '../parts/ui.tsx';

type Waiting = Output<'listApprovals'>['items'][number];

export function Approvals() {
  const list = useList('listApprovals', { limit: 50 });
  return (
    <>
      <Head title="Approvals" />
      <Cards of={list} empty="Nothing waits for an answer.">
        {(one) => <One key={one.id} of={one} changed={list.reload} />}
      </Cards>
    </>
  );
}

/** What the link of a notice opens. */
export function Approval({ id }: { id: string }) {
  const loaded = useData('getApproval', { id });
  return (
    <>
      <Head title="Approval" crumb={<a href={to(['approvals'])}>Approvals</a>} />
      <Show of={loaded}>
        {(one) => (
          <>
            {one.state !== 'waiting' && <Ended of={one} />}
            <One of={one} changed={loaded.reload} />
          </>
        )}
      </Show>
    </>
  );
}

function Ended({ of: { state, answer } }: { of: Waiting }) {
  const why = answer?.reason == null ? '' : `: ${answer.reason}`;
  return (
    <Note kind={state === 'approved' ? 'good' : 'warn'}>
      {answer === null
        ? 'Expired: nobody has answered in time, and it is not sent.'
        : `It is ${state} by ${answer.by} at ${instant(answer.at)}${why}.`}
    </Note>
  );
}

function One({ of, changed }: { of: Waiting; changed: () => void }) {
  const { id, state, since, route, job, event, target, output, address, text, content, expires_at } = of;
  const answer = async (approve: boolean, reason?: string): Promise<string> => {
    const why = reason === undefined || reason === '' ? {} : { reason };
    await call('answerApproval', { id, approve, ...why });
    changed();
    return approve ? 'Approved: it is sent as it was shown.' : 'Rejected.';
  };
  const fields = Object.entries(content).map(([name, value]) => [name, JSON.stringify(value)] as const);
  const unseen = unseenNote([text, ...fields.map(([, value]) => value)].join('\n'));
  const what = `${output ?? 'the answer'} of ${route ?? job}`;
  return (
    <Card>
      <div class="head">
        <h2>
          <a href={to(['approvals', id])}>
            {output ?? 'Answer'} to {target}
          </a>
        </h2>
        {since !== null && (
          <span class="dim small">
            waits since <Ago at={since} />
          </span>
        )}
      </div>
      <Facts
        of={[
          ['Of', <a href={to(['deliveries'], { route, job: route === null ? job : null })}>{route ?? job}</a>],
          ['Event', event === 'unknown' ? null : event],
          ...Object.entries(address).map(([name, value]) => [name, value] as const),
          ['Until', expires_at === null ? null : instant(expires_at)],
          ...fields,
        ]}
      />
      <Block label={`What is sent: ${what}, ${id}`}>{text}</Block>
      {unseen !== null && <Note kind="warn">{`Beware: ${unseen}.`}</Note>}
      {state === 'waiting' && (
        <Operator>
          <div class="bar">
            <Act act={() => answer(true)} primary label={`Approve ${what}`}>
              Approve
            </Act>
            <Ask text="Reject" label={`Reject ${what}`} title={`Reject ${what}`}>
              {(close) => <Reject close={close} answer={(reason) => answer(false, reason)} />}
            </Ask>
          </div>
        </Operator>
      )}
    </Card>
  );
}

function Reject({ close, answer }: { close: () => void; answer: (reason: string) => Promise<string> }) {
  const [reason, setReason] = useState('');
  return (
    <>
      <p class="field">
        <label>
          Why, for the record
          <input
            type="text"
            value={reason}
            maxLength={500}
            onInput={({ currentTarget }) => setReason(currentTarget.value)}
          />
        </label>
      </p>
      <Choice close={close}>
        <Act act={() => answer(reason)} primary>
          Reject
        </Act>
      </Choice>
    </>
  );
}
