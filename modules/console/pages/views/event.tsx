/** One event on one page, from its request to its deliveries. The request and the delivery each have an address. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { printPath } from '../../../../base/paths.ts';
import { call } from '../api.ts';
import { Copy } from '../parts/act.tsx';
import type { Loaded } from '../parts/data.ts';
import { useData } from '../parts/data.ts';
import { count, known, parentOf, upper } from '../parts/format.ts';
import type { Kind } from '../parts/icons.tsx';
import type { ViewProps } from '../parts/router.ts';
import { to } from '../parts/router.ts';
import type { Path } from '../parts/tree.tsx';
import { JsonTree } from '../parts/tree.tsx';
import { Block, Card, Code, External, Facts, Head, lookOf, Note, Show, State } from '../parts/ui.tsx';
import type { Both, CapturedRequest, Stored } from './explanation.tsx';
import { ExplanationCard, nextStep, whyStopped } from './explanation.tsx';
import { Replay } from './replay.tsx';
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

/** The cards are in one order on a small screen; on a large one the columns are about as long as each other. @param main the one that the address names */
function Page({ request: { data: request }, delivery: { data: delivery, reload }, main, of }: PageProps) {
  const isWhole = request !== null && (request.body !== null || request.body_base64 !== null);
  const explained = useData('explainRequest', isWhole ? { id: request.id } : null, false);
  const both = { request, delivery, explained: explained.data };
  const isLost = request?.dispatch_id === null && request.outcome !== 'duplicate' && explained.data?.taken === true;
  const canSucceed = isLost || delivery?.failures.some(({ outcome }) => outcome !== 'permanent');
  const checks = isWhole && <Show of={explained}>{(now) => <ExplanationCard of={now} was={request} />}</Show>;
  const isShort = delivery?.outputs.length === 0;
  const prompt = delivery !== null && <Block label="Prompt">{delivery.dispatch.prompt}</Block>;
  const input = [
    prompt && <Card title="Prompt" id="prompt" children={prompt} />,
    request !== null && <Payload of={request} isWhole={isWhole} />,
  ];
  const { outcome = '', delivery_id = '' } = request ?? {};
  const about = [<State of={delivery?.state ?? outcome} />, <Code of={delivery_id || (delivery?.delivery_id ?? '')} />];
  return (
    <>
      <Head title={titleOf(both)} of={of} about={main.data !== null && about}>
        {delivery?.waits_for === 'approval' && (
          <a class="button primary" href={to(approvalOf(delivery))}>
            Review message
          </a>
        )}
        <Replay of={{ ...both, request: isWhole ? request : null }} primary={canSucceed ?? false} done={reload} />
      </Head>
      <Show of={main}>
        {() => (
          <>
            {sentencesOf(both).map(([kind, what, then], at) => (
              <section key={at} class={`card verdict ${kind}`}>
                <b>{what}</b>
                {then && <p>{then}</p>}
              </section>
            ))}
            <div class="grid">
              <div class="stack">
                <Timeline {...both} />
                {delivery === null ? checks : <Work of={delivery} />}
                {isShort && input}
              </div>
              <div class="stack">
                {!isShort && input}
                {delivery !== null && checks}
                <Details {...both} />
                {request !== null && <Headers of={request.headers} />}
              </div>
            </div>
          </>
        )}
      </Show>
    </>
  );
}

/** The only message that needs approval has the id of its delivery. */
const approvalOf = ({ id, dispatch: { deliveries } }: Stored): readonly string[] =>
  deliveries.filter((one) => one.approve_ms !== undefined).length > 1 ? ['approvals'] : ['approvals', id];

function titleOf({ request, delivery }: Both): string {
  const route = delivery?.route ?? request?.route ?? '';
  if (route === '' && delivery?.job != null) return `Run of job ${parentOf(delivery)}`;
  const event = [known(request?.event || delivery?.event || ''), 'event'].filter(Boolean).join(' ');
  return `${route || (request?.path ?? 'gateway')}: ${event}`;
}

type Sentence = readonly [kind: Kind, what: ComponentChildren, then?: ComponentChildren];

/** What happened, and what to do, if the event did not reach all of its targets. */
function sentencesOf({ request, delivery, explained }: Both): readonly Sentence[] {
  if (delivery?.state === 'skipped') return [['calm', `Skipped: ${delivery.reason ?? 'nothing to deliver'}.`]];
  if (delivery !== null) return delivery.failures.map((failure) => failed(failure, delivery.configured.place));
  const [kind] = lookOf(request?.outcome ?? 'accepted');
  if (request === null || kind === 'good') return [];
  const what = [whyStopped(explained, request), request.cause && ` ${request.cause.text}`];
  return [[kind, what, nextStep(request, explained)]];
}

/** Also where it was sent, where that is configured, and whether a replay can help. */
function failed({ target, address, reason, outcome }: Stored['failures'][number], place: string | null): Sentence {
  const sent = Object.entries(address).map(([name, value]) => `${name} ${value}`);
  const set = place === null ? '' : sent.length === 0 ? `It is configured in ${place}. ` : `, set in ${place}. `;
  const where = sent.length === 0 ? set : `Sent to ${sent.join(', ')}${set || '. '}`;
  const mend = sent.length === 0 || place === null ? 'Mend the cause' : 'If it is wrong, correct it there';
  const again = outcome === 'ambiguous' ? 'It may have arrived: look there' : 'Make sure that the cause has ended';
  const then = `${outcome === 'permanent' ? mend : again}, then replay.`;
  return ['bad', `${target === null ? upper(reason) : `Not delivered to ${target}: ${reason}`}.`, where + then];
}

const SIGNED = 'The signature is not included: a route that verifies it responds with 401.';

/** @param isWhole it can be sent again */
export function Payload({ of, isWhole = false }: { of: CapturedRequest; isWhole?: boolean }) {
  const { id, verified, scheme, body, body_base64 } = of;
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
  return (
    <Card title="Payload" id="payload" aside={isWhole && copies}>
      {body === null && <p class="dim">The body {body_base64 === null ? 'was not captured' : 'is binary'}.</p>}
      {body !== null && payload === undefined && <Block label="Body">{body}</Block>}
      {payload !== undefined && isWhole && <Picked path={path} />}
      {payload !== undefined && (
        <div class="tree">
          <JsonTree value={payload} pick={setPath} />
        </div>
      )}
    </Card>
  );
}

/** What the timeline does not say. */
function Details({ request, delivery }: Both) {
  const { route = request?.route, job = null, job_name = job, dispatch, profile = 'default' } = delivery ?? {};
  // Also of outputs that the agent has not handed over yet.
  const all = [...(dispatch?.deliveries ?? []), ...(dispatch?.outputs ?? []).map(({ delivery: of }) => of)];
  return (
    <Card title="Details" id="details">
      <Facts
        of={[
          ['Route', route && <a href={to(['routes', route, profile])}>{route}</a>],
          ['Job', job !== null && <a href={to(['jobs', job])}>{job_name}</a>],
          ['Configured in', delivery?.configured.place],
          ['Targets', [...new Set(all.map(({ target }) => target))].join(', ')],
          ['Session', dispatch?.session_key != null && <a href={to(['sessions'])}>{dispatch.session}</a>],
          ['Profile', profile !== 'default' && profile],
          ['Stored request', stored('requests', request?.id)],
          ['Stored delivery', stored('deliveries', delivery?.id ?? request?.dispatch_id)],
          ['Replay of delivery', stored('deliveries', delivery?.replay_of)],
          ['Replay of request', stored('requests', request?.replay_of)],
        ]}
      />
    </Card>
  );
}

/** A link, unless it is this page. */
const stored = (of: string, id: string | null | undefined): ComponentChildren =>
  id && (location.hash === to([of, id]) ? <Code of={id} /> : <a href={to([of, id])}>{<Code of={id} />}</a>);

/** Headers of connections and browsers, which say nothing about the event. */
const PLUMBING = /^(accept(-.*)?|connection|content-length|sec-.*|priority|te)$/i;

function Headers({ of }: { of: CapturedRequest['headers'] }) {
  const facts = of.map(([name = '', value]) => [name, <Code of={value ?? ''} />] as const);
  const others = facts.filter(([name]) => PLUMBING.test(name));
  return (
    <Card title="Headers">
      <Facts of={facts.filter((each) => !others.includes(each))} />
      {others.length > 0 && (
        <details>
          <summary class="dim small">{count(others.length, 'more header')}</summary>
          <Facts of={others} />
        </details>
      )}
    </Card>
  );
}

/** What the agent answered and handed over: each field as text, and where it was posted; and what was dropped, and why. */
function Work({ of: { run, outputs, dispatch, state } }: { of: Stored }) {
  const { stderr, stdout, denied, answer } = run;
  const { dropped = [] } = dispatch;
  const isSilent = answer === null && denied.length === 0 && stderr + stdout === '';
  return (
    <>
      {!isSilent && (
        <Card title="Run" id="run" aside={<span class="dim small">{runText(run)}</span>}>
          {denied.length > 0 && <Note kind="warn">The sandbox blocked: {denied.join(', ')}</Note>}
          {answer !== null && <Block title="Answer">{answer || '(empty)'}</Block>}
          {stderr !== '' && <Block title="Standard error">{stderr}</Block>}
          {stdout !== '' && <Block title="Standard output">{stdout}</Block>}
        </Card>
      )}
      {outputs.length + dropped.length > 0 && (
        <Card title="Outputs" id="outputs">
          {outputs.map(({ name, target, address, text, content, delivered, reason, message_id }, at) => (
            <section key={at} class="card">
              <div class="head">
                <h3>
                  {name} to {target}
                </h3>
                <State of={delivered ? 'delivered' : state === 'dead' ? 'failed' : 'waiting'} />
              </div>
              <Facts of={Object.entries({ ...address, ...content, Reason: reason, Posted: linked(message_id) })} />
              {text !== '' && <Block label={`Text of ${name}`}>{text}</Block>}
            </section>
          ))}
          {dropped.map(({ output, reason, detail }, at) => (
            <Note key={at} kind="warn">
              Dropped {output ?? 'a line'}: {reason} ({detail})
            </Note>
          ))}
        </Card>
      )}
    </>
  );
}

const linked = (url: string | null) => url && <External url={url} />;

function Picked({ path }: { path: Path | null }) {
  if (path === null)
    return <p class="dim small">Select a value to see how a template names it, such as {'{issue.title}'}.</p>;
  const text = `{${printPath(path.map(String))}}`;
  return (
    <p class="bar" role="status">
      <code>{text}</code>
      <Copy text={() => text}>Copy</Copy>
    </p>
  );
}

/** A template can refer to the members of an object or a list only. */
function parsed(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return Object(value) === value ? (value as object) : undefined;
  } catch {
    return undefined;
  }
}
