/** The replay of dead deliveries. */
import type { Output } from '../api.ts';
import { call } from '../api.ts';
import { Ask } from './act.tsx';

type ReplayProps = { of: { route?: string; job?: string }; done: () => void; count?: number };

/** Replays the dead deliveries of a route or job, or all of them. @param count their number, if known */
export function ReplayDead({ of, done, count }: ReplayProps) {
  const name = of.route ?? of.job;
  const replay = async (): Promise<string> => {
    const report = await call('replayDeliveries', { state: 'dead', limit: 1000, rerun: false, again: false, ...of });
    done();
    return resultOf(report);
  };
  const title = `Replay dead deliveries${name === undefined ? '' : ` of ${name}`}`;
  return (
    <Ask text={count === 1 ? 'Replay' : 'Replay all'} label={title} title={title} choices={{ Replay: replay }}>
      <p>
        Sends {count === undefined || count > 1000 ? 'up to 1,000 deliveries' : `${count} of them`}, newest first, to
        the targets that have not received them. Deliveries without an answer run again.
      </p>
    </Ask>
  );
}

/** The result of a replay, in words. */
export function resultOf({ done, refused }: Output<'replayDeliveries'>): string {
  const reasons = [...new Set(refused.map(({ reason }) => reason))].slice(0, 3).join('; ');
  return `${done.length} replayed${refused.length === 0 ? '' : `, ${refused.length} rejected: ${reasons}`}.`;
}
