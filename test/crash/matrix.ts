/** One cell of the crash matrix: kill at a point, start again, and nothing acknowledged may be lost or doubled. */

import { CHECKPOINTS } from '../../runtime/dispatch/observer.ts';
import { launch } from './launch.ts';
import type { CrashEvent, Kill, KillPoint } from './protocol.ts';
import type { Verdict } from './verdict.ts';
import { judgeHome } from './verdict.ts';

const COMMITS = ['commit.begun', 'commit.applied', 'commit.committed'] as const;
/** What only a batch in the journal comes to; its ends are a second record, which nobody waits for a sync of. */
const JOURNAL: readonly Kill[] = [
  { point: 'journal.written', nth: 1 },
  { point: 'journal.written', nth: 2 },
  { point: 'journal.synced', nth: 1 },
  { point: 'commit.following', nth: 1 },
  { point: 'commit.followed', nth: 1 },
];

/** Every point, the first time it is reached and a later one. */
export const MATRIX: readonly Kill[] = [
  ...[...CHECKPOINTS, ...COMMITS].flatMap((point: KillPoint) => [
    { point, nth: 1 },
    { point, nth: point.startsWith('group.') ? 2 : 3 },
  ]),
  ...JOURNAL,
];

/** Later visits come with all in the journal that can be, first ones with none of so few changes. */
const journalFrom = (kill: Kill): number | null => (kill.nth > 1 || JOURNAL.includes(kill) ? 1 : null);

/** Any other change has the writer follow the journal, and then the ends of its dispatches go to the tables. */
const eventsFor = (kill: Kill): readonly CrashEvent[] =>
  JOURNAL.includes(kill) ? EVENTS.filter(({ mode }) => mode === 'immediate') : EVENTS;

/** Enough of each mode that every point is reached three times. */
const EVENTS: readonly CrashEvent[] = [
  ...['a', 'b', 'c', 'd'].map((id) => ({ id: `agent-${id}`, mode: 'agent', key: '' }) as const),
  ...['a', 'b', 'c'].map((id) => ({ id: `group-1${id}`, mode: 'coalesce', key: 'one' }) as const),
  { id: 'group-2a', mode: 'coalesce', key: 'two' },
  ...['a', 'b', 'c'].map((id) => ({ id: `immediate-${id}`, mode: 'immediate', key: '' }) as const),
  ...['a', 'b', 'c'].map((id) => ({ id: `direct-${id}`, mode: 'direct', key: '' }) as const),
];

const ACKNOWLEDGED = new Set(['accepted', 'coalesced', 'delivered', 'duplicate']);

export interface Cell extends Verdict {
  readonly kill: Kill;
  /** Events that had been acknowledged when the process was killed. */
  readonly acknowledged: number;
}

export async function runCell(home: string, kill: Kill): Promise<Cell> {
  const events = eventsFor(kill);
  const first = launch({ home, kill, journalFrom: journalFrom(kill), faults: 0 });
  for (const event of events) first.send(event);
  const wrong: string[] = [];
  const timer = setTimeout(() => {
    wrong.push(`${kill.point} was never reached`);
    first.kill();
  }, 300_000);
  await first.ended;
  clearTimeout(timer);
  const early = acknowledgedIn(first.answers);
  // Every sender comes again: those without an answer because they must, the others because they may.
  const second = launch({ home, kill: null, journalFrom: journalFrom(kill), faults: 0 });
  for (const event of events) second.send(event);
  while (second.answers.size < events.length) await new Promise((resolve) => setTimeout(resolve, 5));
  second.finish();
  await second.ended;
  for (const id of early) {
    if (second.answers.get(id) !== 'duplicate') wrong.push(`${id}: taken again as ${second.answers.get(id)}`);
  }
  const verdict = judgeHome(home, events, new Set([...early, ...acknowledgedIn(second.answers)]));
  return { ...verdict, wrong: [...wrong, ...verdict.wrong], kill, acknowledged: early.size };
}

export function acknowledgedIn(answers: ReadonlyMap<string, string>): ReadonlySet<string> {
  return new Set([...answers].filter(([, status]) => ACKNOWLEDGED.has(status)).map(([id]) => id));
}
