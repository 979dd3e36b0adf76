/** One event on one page, from its request to its deliveries. The request and the delivery each have an address. */
import { useState } from 'preact/hooks';
import { call } from '../api.ts';
import { Ask, Copy, Operator } from '../parts/act.tsx';
import type { Loaded } from '../parts/data.ts';
import { useData } from '../parts/data.ts';
import { bytes, duration, known } from '../parts/format.ts';
import type { ViewProps } from '../parts/router.ts';
import { to } from '../parts/router.ts';
import type { Path } from '../parts/tree.tsx';
import { JsonTree, placeholder } from '../parts/tree.tsx';
import { Block, Card, External, Facts, Head, Note, Show, State } from '../parts/ui.tsx';
import { Replay } from './deliveries.tsx';
import { aboutText, ExplanationCard, Prompt } from './explanation.tsx';
import type { CapturedRequest, Explanation, Stored } from './timeline.tsx';
import { Timeline } from './timeline.tsx';

export function RequestView({ id }: ViewProps) {
  const request = useData('getRequest', { id }, false);
  const dispatch = request.data?.dispatch_id ?? null;
  const delivery = useData('getDelivery', dispatch === null ? null : { id: dispatch });
  return <Page request={request} delivery={delivery} main={request} of="Requests" />;
}

export function DeliveryView({ id }: ViewProps) {
  const delivery = useData('getDelivery', { id });
  const from = delivery.data?.request_id ?? null;
  const request = useData('getRequest', from === null ? null : { id: from }, false);
  return <Page request={request} delivery={delivery} main={delivery} of="Deliveries" />;
}

interface PageProps {
  readonly request: Loaded<CapturedRequest>;
  readonly delivery: Loaded<Stored>;
  /** The one that the address names. */
  readonly main: Loaded<unknown>;
  readonly of: string;
}

function Page({ request: { data: request }, delivery: { data: delivery, reload }, main, of }: PageProps) {
  const isWhole = request !== null && (request.body !== null || request.body_base64 !== null);
  const explained = useData('explainRequest', isWhole ? { id: request.id } : null, false);
  const name = delivery?.route ?? delivery?.job ?? (request?.route || request?.path);
  const event = known(request?.event || delivery?.event || '') || 'event';
  return (
    <>
      <Head title={name === undefined ? 'Event' : `${event} to ${name}`} of={of}>
        {isWhole && <RequestActions of={request} explained={explained.data} />}
        {delivery !== null && <Replay of={delivery} done={reload} text="Replay delivery" />}
      </Head>
      <Show of={main}>
        {() => (
          <>
            <div class="grid">
              <Timeline request={request} delivery={delivery} explained={explained.data} />
              <Summary request={request} delivery={delivery} />
            </div>
            {delivery !== null && <Work of={delivery} />}
            {request !== null && (
              <Received of={request} explained={isWhole ? explained : null} hasRun={delivery !== null} />
            )}
          </>
        )}
      </Show>
    </>
  );
}

const Work = ({ of: { outputs, run, dispatch } }: { of: Stored }) => (
  <>
    {outputs.length > 0 && <Outputs of={outputs} />}
    {(dispatch.dropped ?? []).map(({ output, reason, detail }, at) => (
      <Note key={at} kind="warn">
        Dropped {output ?? 'a line'}: {reason} ({detail})
      </Note>
    ))}
    {(run.answer !== null || run.attempts > 0) && <Run of={run} />}
    <Card title="Prompt">
      <Block label="Prompt">{dispatch.prompt}</Block>
    </Card>
  </>
);

const NO_BODY = 'The body was not captured: the request was rejected before it was read or verified.';

type ReceivedProps = { of: CapturedRequest; explained: Loaded<Explanation> | null; hasRun: boolean };

/** @param explained null: the request was not captured as a whole */
const Received = ({ of, explained, hasRun }: ReceivedProps) => (
  <>
    {explained === null ? (
      <Note>{NO_BODY}</Note>
    ) : (
      <Show of={explained}>{(now) => <ExplanationCard of={now} was={of} />}</Show>
    )}
    {explained !== null && !hasRun && (
      <Card title="Prompt">
        <Show of={explained}>{(now) => <Prompt of={now} />}</Show>
      </Card>
    )}
    <div class="grid">
      <Card title="Payload" id="payload">
        <Payload of={of} />
      </Card>
      <Card title="Headers">
        <Facts of={of.headers.map(([name = '', value = '']) => [name, <span class="mono">{value}</span>])} />
      </Card>
    </div>
  </>
);

const SIGNED = 'The signature is not included: a route that verifies it responds with 401.';

type ActionsProps = { of: CapturedRequest; explained: Explanation | null };

function RequestActions({ of: { id, verified, scheme, route }, explained }: ActionsProps) {
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
        <Ask text="Replay request" title={`Replay this request to ${route}`} choices={{ 'Replay request': replay }}>
          <p>The request passes all stages again, as a new event with the current configuration.</p>
          {explained !== null && <Prompt of={explained} />}
        </Ask>
      </Operator>
    </>
  );
}

type Both = { readonly request: CapturedRequest | null; readonly delivery: Stored | null };

function Summary({ request, delivery }: Both) {
  const { route = delivery?.route ?? null, cause = null } = request ?? {};
  const id = delivery?.id ?? request?.dispatch_id ?? '';
  const from = delivery?.replay_of ?? null;
  const repeated = request?.replay_of ?? null;
  const targets = delivery?.dispatch.deliveries.map(({ target }) => target).join(', ');
  return (
    <Card title="Summary">
      <Facts
        of={[
          ['Response', request !== null && <State of={request.outcome} reason={request.reason} />],
          ['Status', request !== null && String(request.status)],
          ['Stage', request !== null && request.stage !== null && stageOf(request)],
          ['State', delivery !== null && <State of={delivery.state} />],
          ['Reason', delivery?.reason],
          ['Next step', request !== null && id === '' && request.reason !== 'filter' && nextStep(request)],
          ['Route', route !== null && route !== '' && <a href={to(['requests'], { route })}>{route}</a>],
          ['Job', delivery?.job != null && <a href={to(['jobs', delivery.job])}>{delivery.job}</a>],
          ['Targets', targets],
          ['Session', delivery?.dispatch.session_key != null && delivery.dispatch.session],
          ['Signature', request?.scheme],
          ['Delivery ID', <span class="mono">{request?.delivery_id || delivery?.delivery_id}</span>],
          ['Request', request !== null && <Id of="requests" id={request.id} />],
          ['Delivery', id !== '' && <Id of="deliveries" id={id} />],
          ['Replay of', from !== null && <Id of="deliveries" id={from} />],
          ['Replay of request', repeated !== null && <Id of="requests" id={repeated} />],
          ['Profile', delivery !== null && delivery.profile !== 'default' && delivery.profile],
        ]}
      />
      {cause !== null && <Note kind="bad">{cause.text}</Note>}
    </Card>
  );
}

const Id = ({ of, id }: { of: string; id: string }) => (
  <a class="mono" href={to([of, id])}>
    {id}
  </a>
);

const stageOf = (request: CapturedRequest): string =>
  [(request.stage ?? '').replaceAll('_', ' '), aboutText(request)].filter(Boolean).join(': ');

/** A pause ends in another view, and filters are explained below; for other reasons the gateway names the next step. */
const nextStep = ({ reason, route, next }: CapturedRequest) =>
  reason === 'route_paused' ? <a href={to(['routes', route])}>Resume route {route}</a> : next;

/** What the agent handed over: each field as text, and where it was posted. */
const Outputs = ({ of }: { of: Stored['outputs'] }) => (
  <Card title="Outputs" id="outputs">
    {of.map(({ name, target, address, text, content, delivered, reason, message_id }, at) => (
      <section key={at} class="card">
        <div class="head">
          <h3>
            {name} to {target}
          </h3>
          <State of={delivered ? 'delivered' : 'waiting'} />
        </div>
        <Facts
          of={[
            ...Object.entries(address),
            ...Object.entries(content),
            ['Reason', reason],
            ['Posted', message_id !== null && <External url={message_id} />],
          ]}
        />
        {text !== '' && <Block label={`Text of ${name}`}>{text}</Block>}
      </section>
    ))}
  </Card>
);

function Run({ of }: { of: Stored['run'] }) {
  const { attempts, duration_ms, exit_code, signal, stderr, stdout, denied, answer, usage } = of;
  const texts = [
    ['Answer', answer === '' ? '(empty)' : answer],
    ['Standard error', stderr],
    ['Standard output', stdout],
  ] as const;
  return (
    <Card title="Run" id="run">
      <Facts
        of={[
          ['Attempts', String(attempts)],
          ['Duration', duration_ms !== null && duration(duration_ms)],
          ['Exit', exit_code === null ? signal : `code ${exit_code}`],
          ['Tokens', usage !== null && `${usage.input_tokens ?? 0} in, ${usage.output_tokens ?? 0} out`],
          ['Cost', usage?.cost],
        ]}
      />
      {denied.length > 0 && <Note kind="warn">The sandbox blocked: {denied.join(', ')}</Note>}
      {texts.map(
        ([label, text]) =>
          (text ?? '') !== '' && (
            <Block key={label} title label={label}>
              {text}
            </Block>
          ),
      )}
    </Card>
  );
}

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
