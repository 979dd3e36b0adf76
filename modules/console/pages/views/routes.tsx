/** Routes: what each one does, its state, a test event and a pause. */
import { useState } from 'preact/hooks';
import type { Output } from '../api.ts';
import { CallError, call } from '../api.ts';
import { Ask, Operator, Pause } from '../parts/act.tsx';
import { instant } from '../parts/format.ts';
import { ListView } from '../parts/list.tsx';
import type { ViewProps } from '../parts/router.ts';
import { to } from '../parts/router.ts';
import { Badge, Block, Card, Field, Note, State } from '../parts/ui.tsx';

export const Routes = ({ place }: ViewProps) => (
  <ListView title="Routes" of="listRoutes" place={place} limit={200} cards empty="No routes yet.">
    {(route, { reload }) => <One key={`${route.profile} ${route.name}`} of={route} changed={reload} />}
  </ListView>
);

const HELD = 'The route still accepts events; they run after it is resumed.';
const WHILE_PAUSED: Readonly<Record<string, string>> = {
  direct: 'The route rejects events while it is paused: their senders retry.',
  cron: 'The route still accepts events; one run of its job waits until it is resumed. The schedule of the job is not affected.',
};

function One({ of, changed }: { of: Output<'listRoutes'>['items'][number]; changed: () => void }) {
  const { name, profile, mode, state, reason, description, words, url, kind, paused } = of;
  const until = paused?.until == null ? '' : ` until ${instant(paused.until)}`;
  const states = (
    <div class="bar">
      {paused === null ? <State of={state} /> : <Badge kind="warn">paused{until}</Badge>}
      {kind === 'dynamic' && <Badge>subscription</Badge>}
    </div>
  );
  return (
    <Card title={profile === 'default' ? name : `${name} (${profile})`} aside={states}>
      {description !== null && <p>{description}</p>}
      {reason !== null && <Note kind="warn">{reason}</Note>}
      <p class="dim">{words.join(' ')}</p>
      <p class="mono">{url}</p>
      <div class="bar">
        <TestEvent route={name} />
        <Pause
          name={name}
          changed={changed}
          isPaused={paused !== null}
          what={WHILE_PAUSED[mode ?? ''] ?? HELD}
          pause={(time) => call('pauseRoute', { name, profile, ...time })}
          resume={() => call('resumeRoute', { name, profile })}
        />
        <a href={to(['requests'], { route: name })}>Requests</a>
        <a href={to(['deliveries'], { route: name })}>Deliveries</a>
      </div>
    </Card>
  );
}

/** Sends an event as its sender would. Asks for confirmation if that sends messages to real targets. */
function TestEvent({ route }: { route: string }) {
  const [event, setEvent] = useState('');
  const [payload, setPayload] = useState('');
  const [leaves, setLeaves] = useState<string | null>(null);
  const [sent, setSent] = useState<Output<'testRoute'> | null>(null);
  const act = async (): Promise<string> => {
    const fields = { ...(event === '' ? {} : { event }), ...(payload === '' ? {} : { payload }) };
    try {
      const answer = await call('testRoute', { name: route, confirmed: leaves !== null, ...fields });
      setSent(answer);
      return `The route responded with ${answer.status}.`;
    } catch (error) {
      if (error instanceof CallError && error.code === 'would_leave') setLeaves(error.message);
      throw error;
    }
  };
  const begin = (): void => {
    setLeaves(null);
    setSent(null);
  };
  return (
    <Operator>
      <Ask
        text="Send test event"
        label={`Send test event to ${route}`}
        title={`Test event for ${route}`}
        opened={begin}
        stays
        choices={{ [leaves === null ? 'Send' : 'Send anyway']: act }}
      >
        <p class="dim">The event is signed like a real one. Empty fields get values that pass the filters.</p>
        <Field label="Event type" value={event} change={setEvent} />
        <Field label="Payload" type="textarea" value={payload} change={setPayload} />
        {leaves !== null && <Note kind="warn">{leaves}</Note>}
        {sent !== null && (
          <>
            <h3>
              {sent.status} {sent.event}
            </h3>
            <Block label="Response">{sent.answer}</Block>
            <Block label="Sent payload">{sent.payload}</Block>
          </>
        )}
      </Ask>
    </Operator>
  );
}
