/** Deliveries: a filtered table, and the replay of one or of all dead ones. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { CHOICES } from '../../runtime/api/built/operations.ts';
import type { Output } from '../api.ts';
import { call } from '../api.ts';
import { Ask } from '../parts/act.tsx';
import { useData } from '../parts/data.ts';
import { duration, known, parentOf } from '../parts/format.ts';
import { activeFilters, choicesOf, ListView, RANGE } from '../parts/list.tsx';
import { ReplayDead, resultOf } from '../parts/replay.tsx';
import type { ViewProps } from '../parts/router.ts';
import { to } from '../parts/router.ts';
import type { Column } from '../parts/ui.tsx';
import { Block, Note, State, Thing, When } from '../parts/ui.tsx';
import type { CapturedRequest } from './explanation.tsx';
import { Prompt } from './explanation.tsx';

const FILTERS = {
  ...RANGE,
  state: { label: 'State', choices: choicesOf(CHOICES.state) },
  route: { label: 'Route' },
  job: { label: 'Job' },
  grep: { label: 'Search', type: 'search', placeholder: 'Event, id, or target' },
} as const;

export const WAITS_FOR = {
  session: 'an earlier run of its session',
  pause: 'its route to resume',
  agent: 'its agent, which has its maximum of runs',
  approval: 'approval',
};

type Summary = Output<'listDeliveries'>['items'][number];

export function Deliveries({ place }: ViewProps) {
  const { state, route, job } = activeFilters(place, FILTERS);
  const of = { ...(route !== undefined && { route }), ...(job !== undefined && { job }) };
  return (
    <ListView
      title="Deliveries"
      of="listDeliveries"
      place={place}
      filters={FILTERS}
      empty="No matching deliveries."
      actions={(list) => state === 'dead' && list.items.length > 0 && <ReplayDead of={of} done={list.reload} />}
      columns={() => [EVENT, STATE, OWNER, TARGETS, DURATION, WHEN]}
    />
  );
}

/** A message of the gateway itself, such as about an approval, is a notice. The id of a run begins with its job, which has a column. */
const eventOf = ({ id, event, delivery_id, route, job }: Summary) => {
  const isOwn = (route ?? job) === null;
  const name = isOwn ? `${event} notice` : known(event, 'event');
  return <Thing path={['deliveries', id]} name={name} id={isOwn ? '' : delivery_id.replace(`${job}#`, '#')} />;
};

/** A reason has a separate line below the row. */
const targetsOf = (of: Summary) => [
  <span class="small">{of.targets}</span>,
  reasonOf(of) !== '' && <span class="reason">{reasonOf(of)}</span>,
];

/** From when it was accepted until it has ended. */
const durationOf = ({ accepted_at, finished_at: end }: Summary) => end !== null && duration(end - accepted_at);

export const EVENT: Column<Summary> = ['Event', eventOf];
export const STATE: Column<Summary> = ['State', ({ state }) => <State of={state} />];
export const OWNER: Column<Summary> = ['Route or job', parentOf, 'plain'];
const TARGETS: Column<Summary> = ['Targets', targetsOf, 'clip plain'];
export const DURATION: Column<Summary> = ['Duration', durationOf, 'end'];
export const WAITS: Column<Summary> = ['Waits for', ({ waits_for: what }) => what !== null && WAITS_FOR[what], 'clip'];
export const WHEN: Column<Summary> = ['Accepted (UTC)', ({ accepted_at }) => <When at={accepted_at} />, 'end plain'];

/** Why it waits or has failed. */
export const reasonOf = ({ reason, waits_for }: Pick<Summary, 'reason' | 'waits_for'>): string =>
  waits_for === null ? (reason?.slice(0, 300) ?? '') : `waits for ${WAITS_FOR[waits_for]}`;

/** The state of a delivery, with a link to it. */
export const StateLink = ({ of }: { of: Summary }) => (
  <a href={to(['deliveries', of.id])} title={reasonOf(of)} children={<State of={of.state} />} />
);

/** @property request only one that is captured with its body */
type ReplayProps = { of: Summary | null; request?: CapturedRequest | null; primary?: boolean; done: () => void };
type Way = readonly [text: string, about: string, content: ComponentChildren, act: () => Promise<string>];

/** Replays a delivery that has ended, or a request without one, after it has shown what each way sends where. */
export function Replay({ of, request = null, primary = false, done }: ReplayProps) {
  const [isOpen, setOpen] = useState(false);
  const { data: stored } = useData('getDelivery', isOpen && of !== null ? { id: of.id } : null, false);
  const from = request?.id ?? stored?.request_id ?? null;
  const { data: explained } = useData('explainRequest', isOpen && from !== null ? { id: from } : null, false);
  if (of === null ? request === null : !['done', 'dead', 'skipped'].includes(of.state)) return null;
  const replay = (how: { rerun?: boolean; again?: boolean }) => async (): Promise<string> => {
    const report = await call('replayDeliveries', {
      ids: [of?.id ?? ''],
      limit: 1,
      rerun: false,
      again: false,
      ...how,
    });
    done();
    const repeated = report.done.find(({ replay_of }) => replay_of !== null);
    if (repeated !== undefined) location.hash = to(['deliveries', repeated.id]);
    return resultOf(report);
  };
  const handle = async (): Promise<string> => {
    const { id: repeated, status, outcome } = await call('replayRequest', { id: from ?? '' });
    if (repeated !== null) location.hash = to(['requests', repeated]);
    return `Replayed: ${status} ${outcome}.`;
  };
  const { dispatch, mode, run, resends = false, failures = [], state } = stored ?? {};
  const targets = dispatch?.deliveries.map(({ target }) => target).join(', ') || 'no target';
  const isMessage = mode === 'direct' || mode === 'message';
  const again = state === 'done';
  const goes = `Sends this text to ${again ? 'all targets' : 'the targets that did not get it'}: ${targets}.`;
  const text = <Block label="Text of the replay">{isMessage ? dispatch?.prompt : run?.answer}</Block>;
  const prompt = <Block label="Prompt">{dispatch?.prompt}</Block>;
  const isCaptured = from !== null && (request !== null || explained !== null);
  const runs = stored !== null && !(resends && (isCaptured || isMessage));
  const ways: readonly Way[] = [
    ...(resends ? [['Send again', goes, text, replay({ again })] as const] : []),
    ...(runs ? [['Run again', `The answer goes to ${targets}.`, prompt, replay({ rerun: true })] as const] : []),
    ...(isCaptured ? [['Handle the request again', NEW, explained && <Prompt of={explained} />, handle] as const] : []),
  ];
  const title = of === null ? `Replay request to ${request?.route}` : `Replay delivery of ${parentOf(of)}`;
  const choices = Object.fromEntries(ways.map(([way, , , act]) => [way, act]));
  const isPermanent = failures.length > 0 && failures.every(({ outcome }) => outcome === 'permanent');
  return (
    <Ask text="Replay" primary={primary} label={title} title={title} choices={choices} opened={() => setOpen(true)}>
      {ways.length === 0 && <p class="dim">Loading…</p>}
      {isPermanent && <Note kind="warn">{SAME}</Note>}
      {ways.map(([way, about, content]) => (
        <section key={way}>
          <h3>{way}</h3>
          <p>{about}</p>
          {content}
        </section>
      ))}
    </Ask>
  );
}

const SAME =
  'Sent again, it goes to the same address and may fail again. Handled again, it uses the corrected configuration.';
const NEW = 'From the start, with the current configuration, as a new event.';
