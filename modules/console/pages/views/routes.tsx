/** Routes: a table with the state of each, a test event and a pause; or what one route does, in words. */
import { useState } from 'preact/hooks';
import type { Output } from '../api.ts';
import { CallError, call } from '../api.ts';
import { Ask, Copy, Pause } from '../parts/act.tsx';
import { useData, useList } from '../parts/data.ts';
import { actionText } from '../parts/format.ts';
import { useDead } from '../parts/gateway.tsx';
import { ListTable, ListView, named, pauseText, under } from '../parts/list.tsx';
import type { ViewProps } from '../parts/router.ts';
import { to } from '../parts/router.ts';
import { Ago, Badge, Block, Card, Code, Facts, Field, Head, Note, Show, State } from '../parts/ui.tsx';
import { EVENT, resultOf } from './requests.tsx';

type Route = Output<'listRoutes'>['items'][number];

const titleOf = ({ name, profile }: Route): string => (profile === 'default' ? name : `${name} (${profile})`);

export function Routes({ place }: ViewProps) {
  const dead = useDead();
  return (
    <ListView
      title="Routes"
      of="listRoutes"
      place={place}
      limit={200}
      empty="No routes yet."
      keyOf={({ profile, name }) => `${profile} ${name}`}
      columns={({ reload }) => [
        ['Route', (of) => named(['routes', of.name, of.profile], titleOf(of), of.description ?? of.words[0]), 'clip'],
        ['State', (of) => stateOf(of, dead)],
        ['Targets', ({ deliver, outputs }) => [deliver.join(', '), under(outputs.join(', '))]],
        ['Deliveries (24 h)', trafficOf, 'end'],
        ['', (of) => <Actions of={of} changed={reload} />, 'end'],
      ]}
    />
  );
}

/** @param dead the number of dead deliveries of a route, which wait for a replay */
function stateOf({ name, paused, state, kind }: Route, dead: (route: string) => number) {
  const text = dead(name) > 0 && `${dead(name).toLocaleString()} dead`;
  return [
    <State of={paused === null ? state : 'paused'} />,
    kind === 'dynamic' && [' ', <Badge>subscription</Badge>],
    paused !== null && under(pauseText(paused)),
    text && under(<a class="bad" href={to(['deliveries'], { route: name, state: 'dead' })} children={text} />),
  ];
}

/** The gateway counts no more than these. */
const MOST = 10_000;

const trafficOf = ({ name: route, traffic: { events, last_at } }: Route) => [
  <a
    href={to(['deliveries'], { route, range: '86400' })}
    children={[events.toLocaleString(), events === MOST && '+']}
  />,
  under(last_at === null ? 'never an event' : ['latest ', <Ago at={last_at} />]),
];

type ActionsProps = { of: Route; changed: () => void };

const Actions = ({ of, of: { name, profile, mode, paused }, changed }: ActionsProps) => (
  <span class="bar">
    <TestEvent of={of} />
    <Pause
      name={name}
      changed={changed}
      isPaused={paused !== null}
      what={WHILE_PAUSED[mode ?? ''] ?? HELD}
      pause={(time) => call('pauseRoute', { name, profile, ...time })}
      resume={() => call('resumeRoute', { name, profile })}
    />
  </span>
);

/** One route by name, and by profile if it is not the usual one. */
export function RouteView({ place: { path }, id }: ViewProps) {
  const loaded = useData('listRoutes', { limit: 200, profile: path[2] ?? 'default' });
  const route = loaded.data?.items.find(({ name }) => name === id);
  return (
    <>
      <Head title={route === undefined ? `Route ${id}` : titleOf(route)} of="Routes">
        {route?.url && <Copy text={() => route.url}>Copy URL</Copy>}
        {route !== undefined && <Actions of={route} changed={loaded.reload} />}
      </Head>
      <Show of={loaded}>{() => (route === undefined ? <p>Route {id} does not exist.</p> : <One of={route} />)}</Show>
    </>
  );
}

const One = ({ of }: { of: Route }) => (
  <div class="grid">
    <Card title="What it does">
      {of.description !== null && <p>{of.description}</p>}
      {of.reason !== null && <Note kind="warn">{of.reason}</Note>}
      <ul>
        {of.words.map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
      <Facts
        of={[
          ['State', stateOf(of, useDead())],
          ['Deliveries (24 h)', trafficOf(of)],
          ['URL', <Code of={of.url} />],
          ['Targets', [...of.deliver, ...of.outputs].join(', ')],
          ['Job', of.cron_job !== null && <a href={to(['jobs', of.cron_job])}>{of.cron_job}</a>],
          ['Configured in', of.place],
          ['Last action', of.paused === null && actionText(of.last_action)],
        ]}
      />
    </Card>
    <Card title="Newest requests" aside={<a href={to(['requests'], { route: of.name })}>All requests of this route</a>}>
      <ListTable
        list={useList('listRequests', { route: of.name, profile: of.profile, limit: 10 })}
        label="Newest requests"
        empty="No requests yet."
        more={null}
        columns={[EVENT, ['Outcome', resultOf], ['Received', ({ at }) => <Ago at={at} />, 'end plain']]}
      />
    </Card>
  </div>
);

const HELD = 'The route still accepts events; they run after it is resumed.';
const WHILE_PAUSED: Readonly<Record<string, string>> = {
  direct: 'The route rejects events while it is paused: their senders retry.',
  cron: 'The route still accepts events; one run of its job waits until it is resumed. The schedule of the job is not affected.',
};

/** Sends an event as its sender would. Names the targets, and asks again if messages would leave this machine. */
function TestEvent({ of: { name: route, deliver: answer, outputs } }: { of: Route }) {
  const deliver = [...answer, ...outputs];
  const [event, setEvent] = useState('');
  const [payload, setPayload] = useState('');
  const [{ leaves, sent }, setResult] = useState<{ leaves?: string; sent?: Output<'testRoute'> }>({});
  const act = async (): Promise<string> => {
    const fields = { ...(event === '' ? {} : { event }), ...(payload === '' ? {} : { payload }) };
    try {
      const answer = await call('testRoute', { name: route, confirmed: leaves !== undefined, ...fields });
      setResult((before) => ({ ...before, sent: answer }));
      return `The route responded with ${answer.status}.`;
    } catch (error) {
      if (error instanceof CallError && error.code === 'would_leave') setResult({ leaves: error.message });
      throw error;
    }
  };
  return (
    <Ask
      text="Send test"
      label={`Send test event to ${route}`}
      title={`Test event for ${route}`}
      opened={() => setResult({})}
      stays
      choices={{ [leaves === undefined ? 'Send' : `Send to ${deliver.join(', ') || 'the target'}`]: act }}
    >
      <p>
        {deliver.length === 0 ? 'The route sends nothing.' : `The result is sent to: ${deliver.join(', ')}.`}{' '}
        <span class="dim">The event is signed like a real one. Empty fields get values that pass the filters.</span>
      </p>
      <Field label="Event type" value={event} change={setEvent} />
      <Field label="Payload" type="textarea" value={payload} change={setPayload} />
      {leaves && <Note kind="warn">{leaves}</Note>}
      {sent && <Block title={`${sent.status} ${sent.event ?? ''}`} label="Response" children={sent.answer} />}
      {sent && <Block label="Sent payload" children={sent.payload} />}
    </Ask>
  );
}
