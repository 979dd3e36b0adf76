/** Kept requests: filtered, live; one with how it was answered and why, its payload, and what would become of it now. */
import { useState } from 'preact/hooks';
import { CHOICES } from '../../runtime/api/built/operations.ts';
import type { Output } from '../api.ts';
import { call } from '../api.ts';
import { Act, Copy, Operator } from '../parts/act.tsx';
import { useData } from '../parts/data.ts';
import { bytes, count, instant, known } from '../parts/format.ts';
import type { Path } from '../parts/list.tsx';
import { JsonTree, ListView, placeholder } from '../parts/list.tsx';
import type { ViewProps } from '../parts/router.ts';
import { to } from '../parts/router.ts';
import { Ago, Block, Card, Facts, Head, Note, OutcomeBadge, Row, Show } from '../parts/ui.tsx';
import { Explanation, Prompt, said } from './explanation.tsx';

const FILTERS = {
  route: { label: 'Route', known: 'listRoutes' },
  outcome: { label: 'Outcome', choices: CHOICES.outcome },
  grep: { label: 'Text in it' },
} as const;

export const Requests = ({ place }: ViewProps) => (
  <ListView
    title="Requests"
    of="listRequests"
    place={place}
    filters={FILTERS}
    live={!place.query.get('grep')}
    empty="No request is kept that fits."
    note={({ data }) => data !== null && data.not_kept > 0 && <NotKept of={data.not_kept} />}
  >
    {({ id, at, route, event, outcome, reason, delivery_id }) => (
      <Row key={id} href={to(['requests', id])} name={route} about={known(event)} end={<Ago at={at} />}>
        <OutcomeBadge outcome={outcome} reason={reason} />
        <span class="dim small mono wide">{delivery_id.slice(0, 40)}</span>
      </Row>
    )}
  </ListView>
);

const NotKept = ({ of }: { of: number }) => (
  <Note>
    {count(of, 'request')} came since the gateway started that {of === 1 ? 'is' : 'are'} not kept and not listed: of a
    route, at most gateway.capture_per_second are kept in a second. What became of their events is not affected.
  </Note>
);

type Kept = Output<'getRequest'>;

const SIGNED = 'Its signature is not kept: a route that checks one answers 401.';
const NO_BODY =
  'Bodies of requests that are refused before they are verified or read are not kept: only the answer tells why.';

export function Request({ id }: ViewProps) {
  const found = useData('getRequest', { id }, false);
  const kept = found.data;
  const isWhole = kept !== null && (kept.body !== null || kept.body_base64 !== null);
  const explained = useData('explainRequest', isWhole ? { id } : null, false);
  return (
    <>
      <Head title={kept === null ? 'Request' : `Request to ${kept.route}`} of="Requests">
        {isWhole && <Actions of={kept} />}
      </Head>
      <Show of={found}>
        {(of) => (
          <>
            <Answer of={of} />
            {isWhole ? (
              <Show of={explained}>{(now) => <Explanation of={now} was={of} />}</Show>
            ) : (
              <Note>{NO_BODY}</Note>
            )}
            <div class="grid">
              {isWhole && (
                <Card title="Prompt">
                  <Show of={explained}>{(now) => <Prompt of={now} />}</Show>
                </Card>
              )}
              <Card title="Payload">
                <Payload of={of} />
              </Card>
            </div>
            <Card title="Headers">
              <Facts of={of.headers.map(([name = '', value = '']) => [name, <span class="mono">{value}</span>])} />
            </Card>
          </>
        )}
      </Show>
    </>
  );
}

function Actions({ of: { id, verified, scheme } }: { of: Kept }) {
  const print = (form: 'curl' | 'test') => async (): Promise<string> => (await call('printRequest', { id, form })).text;
  const again = async (): Promise<string> => {
    const { id: made, status, outcome } = await call('replayRequest', { id });
    if (made !== null) location.hash = to(['requests', made]);
    return `Sent again: ${status} ${outcome}.`;
  };
  return (
    <>
      <Copy text={print('curl')} note={verified && scheme !== 'none' ? SIGNED : ''}>
        Copy as curl
      </Copy>
      <Copy text={print('test')}>Copy as a test</Copy>
      <Operator>
        <Act act={again}>Send again</Act>
      </Operator>
    </>
  );
}

function Answer({ of }: { of: Kept }) {
  const { id, at, route, event, delivery_id, outcome, reason, status, stage, scheme, cause, replay_of, next } = of;
  const became = of.dispatch_id ?? '';
  return (
    <Card title="How it was answered">
      <Facts
        of={[
          ['Id', <span class="mono">{id}</span>],
          ['Answer', <OutcomeBadge outcome={outcome} reason={reason} />],
          ['Status', String(status)],
          ['Decided by', stage !== null && [`the stage ${stage}`, said(of)].filter(Boolean).join(': ')],
          ['Route', <a href={to(['requests'], { route })}>{route}</a>],
          ['Event', event],
          ['Id of the sender', delivery_id !== '' && <span class="mono">{delivery_id}</span>],
          ['Signature', scheme],
          ['Came', instant(at)],
          ['Became', became !== '' && <a href={to(['deliveries', became])}>delivery {became}</a>],
          ['Repeats', replay_of !== null && <a href={to(['requests', replay_of])}>request {replay_of}</a>],
          ['Next', became === '' && next],
        ]}
      />
      {cause !== null && <Note kind="bad">{cause.text}</Note>}
    </Card>
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
