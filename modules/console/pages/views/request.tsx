/** One request: how it was answered and why, with its payload; and what would become of it now. */
import { useState } from 'preact/hooks';
import type { Output } from '../api.ts';
import { useData } from '../parts/data.ts';
import { bytes, instant } from '../parts/format.ts';
import type { Path } from '../parts/json-tree.tsx';
import { JsonTree, placeholder } from '../parts/json-tree.tsx';
import { to } from '../parts/router.ts';
import { OutcomeBadge } from '../parts/state.tsx';
import { Block, Card, Copy, Facts, Head, Note, Show } from '../parts/ui.tsx';

type Kept = Output<'getRequest'>;

export function Request({ id }: { id: string }) {
  const found = useData('getRequest', { id }, false);
  return (
    <>
      <Head title={`Request ${id}`} crumb={<a href={to(['requests'])}>Requests</a>} />
      <Show of={found}>
        {(kept) => (
          <>
            <Card title="How it was answered">
              <Answer of={kept} />
            </Card>
            <div class="grid">
              <Card title="Payload">
                <Payload of={kept} />
              </Card>
              <Card title="Headers">
                <Facts of={kept.headers.map(([name = '', value = '']) => [name, <span class="mono">{value}</span>])} />
              </Card>
            </div>
          </>
        )}
      </Show>
    </>
  );
}

function Answer({ of }: { of: Kept }) {
  const { at, route, event, delivery_id, outcome, reason, status, stage, scheme, cause, dispatch_id, replay_of } = of;
  return (
    <>
      <Facts
        of={[
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
