/** One request: how it was answered and why, with its payload; and what would become of it now. */
import { useState } from 'preact/hooks';
import type { Output } from '../api.ts';
import { call } from '../api.ts';
import { useData } from '../parts/data.ts';
import { bytes, instant } from '../parts/format.ts';
import type { Path } from '../parts/json-tree.tsx';
import { JsonTree, placeholder } from '../parts/json-tree.tsx';
import { Operator } from '../parts/role.tsx';
import { to } from '../parts/router.ts';
import { OutcomeBadge } from '../parts/state.tsx';
import { Act, Block, Card, Copy, Facts, Head, Note, Show } from '../parts/ui.tsx';
import { Explanation, Prompt } from './explanation.tsx';

type Kept = Output<'getRequest'>;

export function Request({ id }: { id: string }) {
  const found = useData('getRequest', { id }, false);
  const kept = found.data;
  const isWhole = kept !== null && (kept.body !== null || kept.body_base64 !== null);
  const explained = useData('explainRequest', isWhole ? { id } : null, false);
  const print = (form: 'curl' | 'test') => async (): Promise<string> => (await call('printRequest', { id, form })).text;
  const again = async (): Promise<string> => {
    const { id: made, status, outcome } = await call('replayRequest', { id });
    if (made !== null) location.hash = to(['requests', made]);
    return `Sent again: ${status} ${outcome}.`;
  };
  return (
    <>
      <Head title={titleOf(kept)} crumb={<a href={to(['requests'])}>Requests</a>}>
        {isWhole && (
          <>
            <Copy
              text={print('curl')}
              note={
                kept.verified && kept.scheme !== 'none'
                  ? 'Its signature is not kept: a route that checks one answers 401.'
                  : ''
              }
            >
              Copy as curl
            </Copy>
            <Copy text={print('test')}>Copy as a test</Copy>
            <Operator>
              <Act act={again}>Send again</Act>
            </Operator>
          </>
        )}
      </Head>
      <Show of={found}>
        {(kept) => (
          <>
            <Card title="How it was answered">
              <Answer of={kept} />
            </Card>
            {isWhole ? (
              <Show of={explained}>{(now) => <Explanation of={now} was={kept} />}</Show>
            ) : (
              <Note>
                Bodies of requests that are refused before they are verified or read are not kept: only the answer above
                tells why.
              </Note>
            )}
            <div class="grid">
              {isWhole && (
                <Card title="Prompt">
                  <Show of={explained}>{(now) => <Prompt of={now} />}</Show>
                </Card>
              )}
              <Card title="Payload">
                <Payload of={kept} />
              </Card>
            </div>
            <Card title="Headers">
              <Facts of={kept.headers.map(([name = '', value = '']) => [name, <span class="mono">{value}</span>])} />
            </Card>
          </>
        )}
      </Show>
    </>
  );
}

const titleOf = (kept: Kept | null): string => (kept === null ? 'Request' : `Request to ${kept.route}`);

function Answer({ of }: { of: Kept }) {
  const { id, at, route, event, delivery_id, outcome, reason, status, stage, scheme, cause, dispatch_id, replay_of } =
    of;
  return (
    <>
      <Facts
        of={[
          ['Id', <span class="mono">{id}</span>],
          ['Answer', <OutcomeBadge outcome={outcome} reason={reason} />],
          ['Status', String(status)],
          ['Decided by', stage === null ? null : `the stage ${stage}`],
          ['Route', <a href={to(['requests'], { route })}>{route}</a>],
          ['Event', event],
          ['Id of the sender', delivery_id === '' ? null : <span class="mono">{delivery_id}</span>],
          ['Signature', scheme],
          ['Came', instant(at)],
          [
            'Became',
            dispatch_id === null ? null : <a href={to(['deliveries', dispatch_id])}>delivery {dispatch_id}</a>,
          ],
          ['Repeats', replay_of === null ? null : <a href={to(['requests', replay_of])}>request {replay_of}</a>],
        ]}
      />
      {cause !== null && <Note kind="bad">{cause.text}</Note>}
    </>
  );
}

function Payload({ of: { body, body_base64, body_bytes } }: { of: Kept }) {
  const [path, setPath] = useState<Path | null>(null);
  if (body === null) {
    const size = body_bytes === null ? '' : ` (${bytes(body_bytes)})`;
    return <p class="dim">{body_base64 === null ? `The body is not kept${size}.` : `The body is no text${size}.`}</p>;
  }
  const payload = parsed(body);
  if (payload === undefined) return <Block label="Body">{body}</Block>;
  return (
    <>
      <Picked path={path} />
      <div class="tree">
        <JsonTree value={payload} pick={setPath} />
      </div>
    </>
  );
}

function Picked({ path }: { path: Path | null }) {
  if (path === null) return <p class="dim small">Choose a value for its path in a template.</p>;
  const text = placeholder(path);
  if (text === null) return <Note kind="warn">No template can name this value.</Note>;
  return (
    <p class="bar" role="status">
      <code>{text}</code>
      <Copy text={() => text}>Copy</Copy>
    </p>
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
