/** What waits for a person: each shown exactly as it would be sent. */
import { useState } from 'preact/hooks';
import type { Output } from '../api.ts';
import { call } from '../api.ts';
import { useList } from '../parts/data.ts';
import { instant } from '../parts/format.ts';
import { Operator } from '../parts/role.tsx';
import { to } from '../parts/router.ts';
import { Act, Ago, Block, Card, Dialog, Facts, Head, Show } from '../parts/ui.tsx';

type Waiting = Output<'listApprovals'>['items'][number];

export function Approvals() {
  const list = useList('listApprovals', { limit: 50 });
  return (
    <>
      <Head title="Approvals" />
      <Show of={list}>
        {(items) => (
          <>
            {items.length === 0 && <p class="dim">Nothing waits for an answer.</p>}
            {items.map((one) => (
              <One key={one.id} of={one} changed={list.reload} />
            ))}
            {list.more !== null && (
              <button type="button" onClick={list.more}>
                Show more
              </button>
            )}
          </>
        )}
      </Show>
    </>
  );
}

function One({ of, changed }: { of: Waiting; changed: () => void }) {
  const [isRejecting, setRejecting] = useState(false);
  const { id, since, route, job, event, target, output, address, text, content, expires_at } = of;
  const answer = async (approve: boolean, reason?: string): Promise<string> => {
    const why = reason === undefined || reason === '' ? {} : { reason };
    await call('answerApproval', { id, approve, ...why });
    changed();
    return approve ? 'Approved: it is sent as it was shown.' : 'Rejected.';
  };
  const what = `${output ?? 'the answer'} of ${route ?? job}`;
  return (
    <Card>
      <div class="head">
        <h2>
          {output ?? 'Answer'} to {target}
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
          ...Object.entries(content).map(([name, value]) => [name, JSON.stringify(value)] as const),
        ]}
      />
      <Block label={`What is sent: ${what}`}>{text}</Block>
      <Operator>
        <div class="bar">
          <Act act={() => answer(true)} primary label={`Approve ${what}`}>
            Approve
          </Act>
          <button type="button" aria-label={`Reject ${what}`} onClick={() => setRejecting(true)}>
            Reject
          </button>
        </div>
      </Operator>
      {isRejecting && (
        <Reject what={what} close={() => setRejecting(false)} answer={(reason) => answer(false, reason)} />
      )}
    </Card>
  );
}

function Reject({
  what,
  close,
  answer,
}: {
  what: string;
  close: () => void;
  answer: (reason: string) => Promise<string>;
}) {
  const [reason, setReason] = useState('');
  return (
    <Dialog title={`Reject ${what}`} close={close}>
      <p class="field">
        <label>
          Why, for the record
          <input
            type="text"
            value={reason}
            maxLength={1000}
            onInput={({ currentTarget }) => setReason(currentTarget.value)}
          />
        </label>
      </p>
      <div class="bar">
        <Act act={() => answer(reason)} primary>
          Reject
        </Act>
        <button type="button" onClick={close}>
          Cancel
        </button>
      </div>
    </Dialog>
  );
}
