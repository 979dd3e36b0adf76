/** Captured requests: a filtered live list; or one request with its response, the reason, its payload and a re-evaluation. */
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
import { aboutText, ExplanationCard, Prompt } from './explanation.tsx';

const FILTERS = {
  route: { label: 'Route', known: 'listRoutes' },
  outcome: { label: 'Outcome', choices: CHOICES.outcome },
  grep: { label: 'Search' },
} as const;

export const Requests = ({ place }: ViewProps) => (
  <ListView
    title="Requests"
    of="listRequests"
    place={place}
    filters={FILTERS}
    live={!place.query.get('grep')}
    empty="No matching requests."
    note={({ data }) => data !== null && data.not_kept > 0 && <NotCaptured of={data.not_kept} />}
  >
    {({ id, at, route, path, event, outcome, reason, delivery_id }) => (
      <Row key={id} href={to(['requests', id])} name={route || path} about={known(event)} end={<Ago at={at} />}>
        <OutcomeBadge outcome={outcome} reason={reason} />
        <span class="dim small mono wide">{delivery_id.slice(0, 40)}</span>
      </Row>
    )}
  </ListView>
);

const NotCaptured = ({ of }: { of: number }) => (
  <Note>
    {count(of, 'request')} since start {of === 1 ? 'was' : 'were'} not captured: a route captures at most
    gateway.capture_per_second requests a second. Their events are processed as usual.
  </Note>
);

type CapturedRequest = Output<'getRequest'>;

const SIGNED = 'The signature is not included: a route that verifies it responds with 401.';
const NO_BODY = 'The body was not captured: the request was rejected before it was read or verified.';

export function Request({ id }: ViewProps) {
  const loaded = useData('getRequest', { id }, false);
  const request = loaded.data;
  const isWhole = request !== null && (request.body !== null || request.body_base64 !== null);
  const explained = useData('explainRequest', isWhole ? { id } : null, false);
  return (
    <>
      <Head title={request === null ? 'Request' : `Request to ${request.route || request.path}`} of="Requests">
        {isWhole && <Actions of={request} />}
      </Head>
      <Show of={loaded}>
        {(of) => (
          <>
            <Answer of={of} />
            {isWhole ? (
              <Show of={explained}>{(now) => <ExplanationCard of={now} was={of} />}</Show>
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

function Actions({ of: { id, verified, scheme } }: { of: CapturedRequest }) {
  const print = (form: 'curl' | 'test') => async (): Promise<string> => (await call('printRequest', { id, form })).text;
  const replay = async (): Promise<string> => {
    const { id: repeated, status, outcome } = await call('replayRequest', { id });
    if (repeated !== null) location.hash = to(['requests', repeated]);
    return `Replayed: ${status} ${outcome}.`;
  };
  return (
    <>
      <Copy text={print('curl')} note={verified && scheme !== 'none' ? SIGNED : ''}>
        Copy as curl
      </Copy>
      <Copy text={print('test')}>Copy as test</Copy>
      <Operator>
        <Act act={replay}>Replay</Act>
      </Operator>
    </>
  );
}

function Answer({ of }: { of: CapturedRequest }) {
  const { id, at, route, event, delivery_id, outcome, reason, status, stage, scheme, cause, replay_of } = of;
  const delivery = of.dispatch_id ?? '';
  return (
    <Card title="Response">
      <Facts
        of={[
          ['ID', <span class="mono">{id}</span>],
          ['Outcome', <OutcomeBadge outcome={outcome} reason={reason} />],
          ['Status', String(status)],
          ['Stage', stage !== null && [stage.replaceAll('_', ' '), aboutText(of)].filter(Boolean).join(': ')],
          ['Route', <a href={to(['requests'], { route })}>{route}</a>],
          ['Event', event],
          ['Delivery ID', delivery_id !== '' && <span class="mono">{delivery_id}</span>],
          ['Signature', scheme],
          ['Received', instant(at, 'second')],
          ['Delivery', delivery !== '' && <a href={to(['deliveries', delivery])}>{delivery}</a>],
          ['Replay of', replay_of !== null && <a href={to(['requests', replay_of])}>{replay_of}</a>],
          ['Next step', delivery === '' && reason !== 'filter' && nextStep(of)],
        ]}
      />
      {cause !== null && <Note kind="bad">{cause.text}</Note>}
    </Card>
  );
}

/** A pause ends in another view, and filters are explained below; for other reasons the gateway names the next step. */
const nextStep = ({ reason, route, next }: CapturedRequest) =>
  reason === 'route_paused' ? <a href={to(['routes'])}>Resume route {route}</a> : next;

function Payload({ of: { body, body_base64, body_bytes } }: { of: CapturedRequest }) {
  const [path, setPath] = useState<Path | null>(null);
  if (body === null) {
    const size = body_bytes === null ? '' : ` (${bytes(body_bytes)})`;
    return (
      <p class="dim">{body_base64 === null ? `The body was not captured${size}.` : `The body is binary${size}.`}</p>
    );
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
  if (path === null) return <p class="dim small">Select a value to see its template placeholder.</p>;
  const text = placeholder(path);
  if (text === null) return <Note kind="warn">A template cannot refer to this value.</Note>;
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
