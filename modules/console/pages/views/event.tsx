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
import type { Explanation } from './explanation.tsx';
import { aboutText, ExplanationCard, Prompt, whyIgnored } from './explanation.tsx';
import type { Both, CapturedRequest, Stored } from './timeline.tsx';
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

type PageProps = { request: Loaded<CapturedRequest>; delivery: Loaded<Stored>; main: Loaded<unknown>; of: string };

/** @param main the one that the address names */
function Page({ request: { data: request }, delivery: { data: delivery, reload }, main, of }: PageProps) {
  const isWhole = request !== null && (request.body !== null || request.body_base64 !== null);
  const explained = useData('explainRequest', isWhole ? { id: request.id } : null, false);
  const isLost = delivery === null && explained.data?.taken === true;
  const { outcome = '', reason = null } = request ?? {};
  const state = <State of={delivery?.state ?? outcome} reason={delivery === null ? reason : null} />;
  const checks = isWhole && <Show of={explained}>{(now) => <ExplanationCard of={now} was={request} />}</Show>;
  return (
    <>
      <Head title={titleOf({ request, delivery })} of={of} about={main.data !== null && state}>
        {delivery?.waits_for === 'approval' && (
          <a class="button primary" href={to(['approvals'])}>
            Review the message
          </a>
        )}
        {delivery !== null && <Replay of={delivery} done={reload} text="Replay delivery" />}
        {isWhole && <ReplayRequest of={request} explained={explained.data} isMain={isLost} />}
      </Head>
      <Show of={main}>
        {() => (
          <div class="grid">
            <div class="stack">
              <Timeline request={request} delivery={delivery} explained={explained.data} />
              {delivery !== null && (
                <Card title="Prompt" id="prompt">
                  <Block label="Prompt">{delivery.dispatch.prompt}</Block>
                </Card>
              )}
              {checks}
              {request !== null && <Payload of={request} isWhole={isWhole} />}
            </div>
            <div class="stack">
              <Summary request={request} delivery={delivery} explained={explained.data} />
              {delivery !== null && <Run of={delivery.run} />}
              {delivery !== null && <Outputs of={delivery} />}
              {request !== null && (
                <Card title="Headers">
                  <Facts of={request.headers.map(([name = '', value]) => [name, <span class="mono">{value}</span>])} />
                </Card>
              )}
            </div>
          </div>
        )}
      </Show>
    </>
  );
}

function titleOf({ request, delivery }: Omit<Both, 'explained'>): string {
  const route = delivery?.route ?? request?.route ?? '';
  if (route === '' && delivery?.job != null) return `Run of job ${delivery.job}`;
  const event = [known(request?.event || delivery?.event || ''), 'event'].filter(Boolean).join(' ');
  return `${route || (request?.path ?? 'gateway')}: ${event}`;
}

const SIGNED = 'The signature is not included: a route that verifies it responds with 401.';

function Payload({ of, isWhole }: { of: CapturedRequest; isWhole: boolean }) {
  const { id, verified, scheme, body, body_base64, body_bytes } = of;
  const [path, setPath] = useState<Path | null>(null);
  const print = (form: 'curl' | 'test') => async (): Promise<string> => (await call('printRequest', { id, form })).text;
  const copies = (
    <span class="bar">
      <Copy text={print('curl')} note={verified && scheme !== 'none' ? SIGNED : ''}>
        Copy as curl
      </Copy>
      <Copy text={print('test')}>Copy as hookwright test</Copy>
    </span>
  );
  const payload = parsed(body ?? '');
  const size = body_bytes === null ? '' : ` (${bytes(body_bytes)})`;
  return (
    <Card title="Payload" id="payload" aside={isWhole && copies}>
      {body === null && (
        <p class="dim">{`The body ${body_base64 === null ? 'was not captured' : 'is binary'}${size}.`}</p>
      )}
      {body !== null && payload === undefined && <Block label="Body">{body}</Block>}
      {payload !== undefined && <Picked path={path} />}
      {payload !== undefined && (
        <div class="tree">
          <JsonTree value={payload} pick={setPath} />
        </div>
      )}
    </Card>
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

/** The targets of the answer, and those of the outputs, also before the agent has handed any over. */
function targetsOf({ dispatch: { deliveries, outputs = [] } }: Stored): string {
  const all = [...deliveries, ...outputs.map(({ delivery, name }) => ({ ...delivery, output: name }))];
  const names = (isOutput: boolean): string =>
    [...new Set(all.filter(({ output }) => isOutput === (output !== undefined)).map(({ target }) => target))].join(
      ', ',
    );
  return [names(false), names(true) && `outputs to ${names(true)}`].filter(Boolean).join('; ');
}

function Summary({ request, delivery, explained }: Both) {
  const { route = delivery?.route ?? null, cause = null } = request ?? {};
  const id = delivery?.id ?? request?.dispatch_id ?? '';
  const from = delivery?.replay_of ?? null;
  const repeated = request?.replay_of ?? null;
  return (
    <Card title="Summary">
      <Facts
        of={[
          ['Response', request !== null && `${request.status} ${request.outcome.replaceAll('_', ' ')}`],
          ['Stopped at', request !== null && lookOf(request.outcome)[0] !== 'good' && stageOf(request)],
          ['Reason', delivery === null ? request !== null && whyIgnored(explained, request) : delivery.reason],
          ['Next step', request !== null && id === '' && request.reason !== 'filter' && nextStep(request)],
          ['Route', route !== null && route !== '' && <a href={to(['routes', route])}>{route}</a>],
          ['Job', delivery?.job != null && <a href={to(['jobs', delivery.job])}>{delivery.job}</a>],
          ['Targets', delivery !== null && targetsOf(delivery)],
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
  const { attempts, stderr, stdout, denied, answer } = of;
  if (answer === null && attempts === 0) return null;
  return (
    <Card title="Run" id="run" aside={<span class="dim small">{runText(of)}</span>}>
      {denied.length > 0 && <Note kind="warn">The sandbox blocked: {denied.join(', ')}</Note>}
      {answer === null && runText(of) === '' && <p class="dim">The run has not ended yet.</p>}
      {answer !== null && <Block title="Answer">{answer || '(empty)'}</Block>}
      {stderr !== '' && <Block title="Standard error">{stderr}</Block>}
      {stdout !== '' && <Block title="Standard output">{stdout}</Block>}
    </Card>
  );
}

function Picked({ path }: { path: Path | null }) {
  if (path === null)
    return <p class="dim small">Select a value to see how a template names it, such as {'{issue.title}'}.</p>;
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
