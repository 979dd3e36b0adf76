/** The routes, in words. */
import { useState } from 'preact/hooks';
import type { Output } from '../api.ts';
import { CallError, call } from '../api.ts';
import { useList } from '../parts/data.ts';
import { instant } from '../parts/format.ts';
import { Pause } from '../parts/pause.tsx';
import { Operator } from '../parts/role.tsx';
import { to } from '../parts/router.ts';
import { State } from '../parts/state.tsx';
import { Act, Ask, Badge, Block, Card, Cards, Head, Note, TextField } from '../parts/ui.tsx';

type Route = Output<'listRoutes'>['items'][number];

export function Routes() {
  const list = useList('listRoutes', { limit: 200 });
  return (
    <>
      <Head title="Routes" />
      <Cards of={list} empty="There are no routes yet.">
        {(route) => <One key={`${route.profile} ${route.name}`} of={route} changed={list.reload} />}
      </Cards>
    </>
  );
}

function One({ of, changed }: { of: Route; changed: () => void }) {
  const { name, profile, mode, state, reason, description, words, url, kind, paused } = of;
  return (
    <Card>
      <div class="head">
        <h2>
          {name} {profile !== 'default' && <span class="dim">({profile})</span>}
        </h2>
        <div class="bar">
          {paused === null ? (
            <State of={state} />
          ) : (
            <Badge kind="warn">{paused.until === null ? 'paused' : `paused until ${instant(paused.until)}`}</Badge>
          )}
          {kind === 'dynamic' && <Badge>subscription</Badge>}
        </div>
      </div>
      {description !== null && <p>{description}</p>}
      {reason !== null && <Note kind="warn">{reason}</Note>}
      {words.map((sentence) => (
        <p key={sentence} class="dim">
          {sentence}
        </p>
      ))}
      <p class="mono">{url}</p>
      <div class="bar">
        <Operator>
          <Ask text="Send a test event" label={`Send a test event to ${name}`} title={`A test event for ${name}`}>
            {(close) => <TestEvent route={name} close={close} />}
          </Ask>
        </Operator>
        <Pause
          name={name}
          what={
            mode === 'direct'
              ? 'Its events are refused meanwhile, because their senders wait for the delivery.'
              : 'Its events are still taken; they run when it goes on.'
          }
          isPaused={paused !== null}
          pause={(seconds) => call('pauseRoute', { name, profile, ...(seconds === null ? {} : { seconds }) })}
          resume={() => call('resumeRoute', { name, profile })}
          changed={changed}
        />
        <a href={to(['requests'], { route: name })}>Requests</a>
        <a href={to(['deliveries'], { route: name })}>Deliveries</a>
      </div>
    </Card>
  );
}

/** Sends an event as its sender would. That messages leave is asked for once more. */
function TestEvent({ route, close }: { route: string; close: () => void }) {
  const [event, setEvent] = useState('');
  const [payload, setPayload] = useState('');
  const [leaves, setLeaves] = useState<string | null>(null);
  const [sent, setSent] = useState<Output<'testRoute'> | null>(null);
  const act = async (): Promise<string> => {
    const given = { ...(event === '' ? {} : { event }), ...(payload === '' ? {} : { payload }) };
    try {
      const answer = await call('testRoute', { name: route, confirmed: leaves !== null, ...given });
      setSent(answer);
      return `The answer is ${answer.status}.`;
    } catch (error) {
      if (error instanceof CallError && error.code === 'would_leave') setLeaves(error.message);
      throw error;
    }
  };
  return (
    <>
      <p class="dim">It is signed as its sender signs. What is left out is made up so that it passes the filters.</p>
      <p class="field">
        <TextField label="Event type" value={event} change={setEvent} />
      </p>
      <p class="field">
        <label>
          Payload
          <textarea
            value={payload}
            spellcheck={false}
            onChange={({ currentTarget }) => setPayload(currentTarget.value)}
          />
        </label>
      </p>
      {leaves !== null && <Note kind="warn">{leaves}</Note>}
      <div class="bar">
        <Act act={act} primary>
          {leaves === null ? 'Send' : 'Send it all the same'}
        </Act>
        <button type="button" onClick={close}>
          Close
        </button>
      </div>
      {sent !== null && (
        <>
          <h3>
            {sent.status} {sent.event}
          </h3>
          <Block label="Answer">{sent.answer}</Block>
          <Block label="Payload that was sent">{sent.payload}</Block>
        </>
      )}
    </>
  );
}
