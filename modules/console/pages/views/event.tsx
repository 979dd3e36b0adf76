/** One event on one page, from its request to its deliveries. The request and the delivery each have an address. */
import { useState } from 'preact/hooks';
import { call } from '../api.ts';
import { Ask, Copy, Operator } from '../parts/act.tsx';
import type { Loaded } from '../parts/data.ts';
import { useData } from '../parts/data.ts';
import { bytes, known } from '../parts/format.ts';
import type { ViewProps } from '../parts/router.ts';
import { to } from '../parts/router.ts';
import type { Path } from '../parts/tree.tsx';
import { JsonTree, placeholder } from '../parts/tree.tsx';
import { Block, Card, External, Facts, Head, lookOf, Note, Show, State } from '../parts/ui.tsx';
import { Replay } from './deliveries.tsx';
import { aboutText, ExplanationCard, Prompt } from './explanation.tsx';
import type { CapturedRequest, Explanation, Stored } from './timeline.tsx';
import { runText, Timeline } from './timeline.tsx';

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
  const isDead = delivery?.state === 'dead';
  const again = isWhole && <ReplayRequest of={request} explained={explained.data} isMain={!isDead} />;
  const { outcome = '', reason = null } = request ?? {};
  const state = delivery === null ? <State of={outcome} reason={reason} /> : <State of={delivery.state} />;
  return (
    <>
      <Head title={titleOf({ request, delivery })} of={of} about={main.data !== null && state}>
        {!isDead && again}
        {delivery !== null && <Replay of={delivery} done={reload} text="Replay delivery" />}
        {isDead && again}
      </Head>
      <Show of={main}>
        {() => (
          <>
            <div class="grid">
              <div class="stack">
                <Timeline request={request} delivery={delivery} explained={explained.data} />
                {delivery !== null && <Outputs of={delivery} />}
              </div>
              <div class="stack">
                <Summary request={request} delivery={delivery} />
                <Card title="Prompt" id="prompt">
                  {delivery !== null && <Block label="Prompt">{delivery.dispatch.prompt}</Block>}
                  {delivery === null && !isWhole && <p class="dim">{NO_BODY}</p>}
                  {delivery === null && isWhole && <Show of={explained}>{(now) => <Prompt of={now} />}</Show>}
                </Card>
                {delivery !== null && <Run of={delivery.run} />}
              </div>
            </div>
            {isWhole && <Show of={explained}>{(now) => <ExplanationCard of={now} was={request} />}</Show>}
            {request !== null && <Received of={request} isWhole={isWhole} />}
          </>
        )}
      </Show>
    </>
  );
}

type Both = { readonly request: CapturedRequest | null; readonly delivery: Stored | null };

function titleOf({ request, delivery }: Both): string {
  const route = delivery?.route ?? request?.route ?? '';
  if (route === '' && delivery?.job != null) return `Run of job ${delivery.job}`;
  const event = ['Event', known(request?.event || delivery?.event || '')].filter(Boolean).join(' ');
  return route === '' ? `${event} ${request?.path ?? ''}`.trim() : `${event} for route ${route}`;
}

const NO_BODY = 'The body was not captured: the request was rejected before it was read or verified.';

const Received = ({ of, isWhole }: { of: CapturedRequest; isWhole: boolean }) => (
  <div class="grid">
    <Card title="Payload" id="payload" aside={isWhole && <Copies of={of} />}>
      <Payload of={of} />
    </Card>
    <Card title="Headers">
      <Facts of={of.headers.map(([name = '', value = '']) => [name, <span class="mono">{value}</span>])} />
    </Card>
  </div>
);

const SIGNED = 'The signature is not included: a route that verifies it responds with 401.';

function Copies({ of: { id, verified, scheme } }: { of: CapturedRequest }) {
  const print = (form: 'curl' | 'test') => async (): Promise<string> => (await call('printRequest', { id, form })).text;
  return (
    <span class="bar">
      <Copy text={print('curl')} note={verified && scheme !== 'none' ? SIGNED : ''}>
        Copy as curl
      </Copy>
      <Copy text={print('test')}>Copy as test</Copy>
    </span>
  );
}

type ReplayProps = { of: CapturedRequest; explained: Explanation | null; isMain: boolean };

function ReplayRequest({ of: { id, route }, explained, isMain }: ReplayProps) {
  const replay = async (): Promise<string> => {
    const { id: repeated, status, outcome } = await call('replayRequest', { id });
    if (repeated !== null) location.hash = to(['requests', repeated]);
    return `Replayed: ${status} ${outcome}.`;
  };
  const title = `Replay this request to ${route}`;
  return (
    <Operator>
      <Ask text="Replay request" primary={isMain} title={title} choices={{ 'Replay request': replay }}>
        <p>The request passes all checks again, as a new event with the current configuration.</p>
        {explained !== null && <Prompt of={explained} />}
      </Ask>
    </Operator>
  );
}

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
          ['Response', request !== null && `${request.status} ${request.outcome.replaceAll('_', ' ')}`],
          ['Stopped at', request !== null && lookOf(request.outcome)[0] !== 'good' && stageOf(request)],
          ['Reason', delivery?.reason],
          ['Next step', request !== null && id === '' && request.reason !== 'filter' && nextStep(request)],
          ['Route', route !== null && route !== '' && <a href={to(['routes', route])}>{route}</a>],
          ['Job', delivery?.job != null && <a href={to(['jobs', delivery.job])}>{delivery.job}</a>],
          ['Targets', targets],
          ['Session', delivery?.dispatch.session_key != null && delivery.dispatch.session],
          ['Signature', request?.scheme],
          ['Profile', delivery !== null && delivery.profile !== 'default' && delivery.profile],
          ["Sender's delivery ID", <span class="mono">{request?.delivery_id || delivery?.delivery_id}</span>],
          ['Stored request', request !== null && <Id of="requests" id={request.id} />],
          ['Stored delivery', id !== '' && <Id of="deliveries" id={id} />],
          ['Replay of delivery', from !== null && <Id of="deliveries" id={from} />],
          ['Replay of request', repeated !== null && <Id of="requests" id={repeated} />],
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

/** What the agent handed over: each field as text, and where it was posted; and what was dropped, and why. */
function Outputs({ of: { outputs, dispatch, state } }: { of: Stored }) {
  const { dropped = [] } = dispatch;
  if (outputs.length + dropped.length === 0) return null;
  return (
    <Card title="Outputs" id="outputs">
      {outputs.map(({ name, target, address, text, content, delivered, reason, message_id }, at) => (
        <section key={at} class="card">
          <div class="head">
            <h3>
              {name} to {target}
            </h3>
            <State of={delivered ? 'delivered' : state === 'dead' ? 'failed' : 'waiting'} />
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
      {dropped.map(({ output, reason, detail }, at) => (
        <Note key={at} kind="warn">
          Dropped {output ?? 'a line'}: {reason} ({detail})
        </Note>
      ))}
    </Card>
  );
}

function Run({ of }: { of: Stored['run'] }) {
  const { attempts, stderr, stdout, denied, answer, usage } = of;
  if (answer === null && attempts === 0) return null;
  const texts = [
    ['Answer', answer === '' ? '(empty)' : answer],
    ['Standard error', stderr],
    ['Standard output', stdout],
  ] as const;
  return (
    <Card title="Run" id="run" aside={<span class="dim small">{runText(of)}</span>}>
      <Facts
        of={[
          ['Attempts', attempts > 1 && String(attempts)],
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
