/** The replay of an event, and of dead deliveries. */
import type { ComponentChildren } from 'preact';
import type { Output } from '../api.ts';
import { call } from '../api.ts';
import { Ask } from '../parts/act.tsx';
import { parentOf } from '../parts/format.ts';
import { to } from '../parts/router.ts';
import { Block, Note } from '../parts/ui.tsx';
import type { Both } from './explanation.tsx';
import { Prompt } from './explanation.tsx';

type DeadProps = { of: { route?: string; job?: string }; done: () => void; count?: number };

/** Replays the dead deliveries of a route or job, or all of them. @param count their number, if known */
export function ReplayDead({ of, done, count }: DeadProps) {
  const name = of.route ?? of.job;
  const replay = async (): Promise<string> => {
    const report = await call('replayDeliveries', { state: 'dead', limit: 1000, rerun: false, again: false, ...of });
    done();
    return resultOf(report);
  };
  const title = `Replay dead deliveries${name === undefined ? '' : ` of ${name}`}`;
  return (
    <Ask text={count === 1 ? 'Replay' : 'Replay all'} label={title} title={title} choices={{ Replay: replay }}>
      <p>Sends them to the targets that have not received them. An agent that has not answered runs again.</p>
    </Ask>
  );
}

/** The result of a replay, in words. */
function resultOf({ done, refused }: Output<'replayDeliveries'>): string {
  const reasons = [...new Set(refused.map(({ reason }) => reason))].slice(0, 3).join('; ');
  return `${done.length} replayed${refused.length === 0 ? '' : `, ${refused.length} rejected: ${reasons}`}.`;
}

/** @property of its request only if it is captured with its body */
type ReplayProps = { of: Both; primary: boolean; done: () => void };
type Way = readonly [text: string, about: string, content: ComponentChildren, act: () => Promise<string>];

/** Replays a delivery that has ended, or a request without one, after it has shown what each way sends where. */
export function Replay({ of: { request, delivery, explained }, primary, done }: ReplayProps) {
  if (delivery === null ? request === null : !['done', 'dead', 'skipped'].includes(delivery.state)) return null;
  const replay = (how: { rerun?: boolean; again?: boolean }) => async (): Promise<string> => {
    const ids: [string] = [delivery?.id ?? ''];
    const report = await call('replayDeliveries', { ids, limit: 1, rerun: false, again: false, ...how });
    done();
    const repeated = report.done.find(({ replay_of }) => replay_of !== null);
    if (repeated !== undefined) location.hash = to(['deliveries', repeated.id]);
    return resultOf(report);
  };
  const handle = async (): Promise<string> => {
    const { id: repeated, status, outcome } = await call('replayRequest', { id: request?.id ?? '' });
    if (repeated !== null) location.hash = to(['requests', repeated]);
    return `Replayed: ${status} ${outcome}.`;
  };
  const { dispatch, mode, run, resends = false, failures = [], state } = delivery ?? {};
  const own = dispatch?.deliveries.filter(({ output }) => output === undefined) ?? [];
  const targets = own.map(({ target }) => target).join(', ') || 'no target';
  const isMessage = mode === 'direct' || mode === 'message';
  const again = state === 'done';
  const goes = `Sends this ${again ? 'to all targets again' : 'to the targets that did not get it'}.`;
  const outputs = delivery?.outputs.filter(({ delivered }) => again || !delivered) ?? [];
  const text = (
    <>
      {own.length > 0 && <Block title={`Text to ${targets}`}>{isMessage ? dispatch?.prompt : run?.answer}</Block>}
      {outputs.map((each, at) => (
        <Block key={at} title={`${each.name} to ${each.target}`} children={contentOf(each)} />
      ))}
    </>
  );
  const prompt = <Block label="Prompt">{dispatch?.prompt}</Block>;
  const names = dispatch?.outputs?.map(({ name }) => name).join(', ');
  const start = names ? `${NEW} Its agent may hand over other outputs: ${names}.` : NEW;
  const runs = delivery !== null && !(resends && (request !== null || isMessage));
  const ways: readonly Way[] = [
    ...(resends ? [['Send again', goes, text, replay({ again })] as const] : []),
    ...(runs ? [['Run again', `The answer goes to ${targets}.`, prompt, replay({ rerun: true })] as const] : []),
    ...(request ? [['Handle the request again', start, explained && <Prompt of={explained} />, handle] as const] : []),
  ];
  const title = delivery === null ? `Replay request to ${request?.route}` : `Replay delivery of ${parentOf(delivery)}`;
  const choices = Object.fromEntries(ways.map(([way, , , act]) => [way, act]));
  const isPermanent = failures.length > 0 && failures.every(({ outcome }) => outcome === 'permanent');
  return (
    <Ask text="Replay" primary={primary} label={title} title={title} choices={choices}>
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

/** The fields and the text of an output. */
const contentOf = ({ address, content, text }: NonNullable<Both['delivery']>['outputs'][number]): string =>
  [...Object.entries({ ...address, ...content }).map(([name, value]) => `${name}: ${value}`), text].join('\n');

const SAME =
  'Sent again, it goes to the same address and may fail again. Handled again, it uses the corrected configuration.';
const NEW = 'From the start, with the current configuration, as a new event.';
