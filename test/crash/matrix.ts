/**
 * One cell of the crash matrix: kill at a point, start again, and check that nothing acknowledged is lost or doubled.
 */

import { mkdirSync } from 'node:fs';
import { CHECKPOINTS } from '../../runtime/dispatch/dispatcher.ts';
import { runSql } from '../helpers/postgres/database.ts';
import type { Findings } from './inspect-home.ts';
import { inspectHome } from './inspect-home.ts';
import { launch } from './launch.ts';
import type { CrashDatabase, CrashEvent, Kill, KillPoint } from './protocol.ts';

const COMMITS = ['commit.begun', 'commit.applied', 'commit.committed'] as const;

/** Every point, the first time it is reached and a later one. */
export const MATRIX: readonly Kill[] = [...CHECKPOINTS, ...COMMITS].flatMap((point: KillPoint) => [
  { point, nth: 1 },
  { point, nth: 3 },
]);

/** Enough of each mode that every point is reached three times. */
const EVENTS: readonly CrashEvent[] = [
  ...['a', 'b', 'c'].map((id) => ({ id: `failing-${id}`, mode: 'failing', key: '' }) as const),
  ...['a', 'b', 'c', 'd'].map((id) => ({ id: `agent-${id}`, mode: 'agent', key: '' }) as const),
  ...['a', 'b', 'c'].map((id) => ({ id: `group-1${id}`, mode: 'coalesce', key: 'one' }) as const),
  { id: 'group-2a', mode: 'coalesce', key: 'two' },
  ...['a', 'b', 'c'].map((id) => ({ id: `immediate-${id}`, mode: 'immediate', key: '' }) as const),
  ...['a', 'b', 'c'].map((id) => ({ id: `message-${id}`, mode: 'message', key: '' }) as const),
  ...['a', 'b', 'c'].map((id) => ({ id: `direct-${id}`, mode: 'direct', key: '' }) as const),
];

const ACKNOWLEDGED = new Set(['accepted', 'coalesced', 'delivered', 'duplicate']);

/** 503 responses to one event after which its sender retries. */
const MOST_TRIES = 1500;

export interface Cell extends Findings {
  readonly kill: Kill;
  /** Events that were acknowledged when the process was killed. */
  readonly acknowledged: number;
}

export async function runCell(home: string, kill: Kill, database: CrashDatabase | null = null): Promise<Cell> {
  mkdirSync(home, { recursive: true });
  const common = { home, startedAt: Date.now(), database, faults: 0, seed: 0 };
  const first = launch({ ...common, kill });
  for (const event of EVENTS) first.send(event);
  const wrong: string[] = [];
  const timer = setTimeout(() => {
    wrong.push(`${kill.point} was never reached`);
    first.kill();
  }, 300_000);
  await first.ended;
  clearTimeout(timer);
  const early = acknowledgedIn(first.answers);
  // Every sender retries: those without a response because they must, the others because they may.
  if (database !== null) await endLeases(database);
  const second = launch({ ...common, kill: null });
  await sendUntilTaken(second);
  second.finish();
  await second.ended;
  for (const id of early) {
    if (second.answers.get(id) !== 'duplicate') wrong.push(`${id}: taken again as ${second.answers.get(id)}`);
  }
  const found = await inspectHome(common, EVENTS, new Set([...early, ...acknowledgedIn(second.answers)]));
  return { ...found, wrong: [...wrong, ...found.wrong], kill, acknowledged: early.size };
}

/**
 * Retries as senders do. On PostgreSQL the first response may be 503, until the server has ended the dead process's
 * transactions.
 */
async function sendUntilTaken(child: ReturnType<typeof launch>): Promise<void> {
  let waiting: readonly (typeof EVENTS)[number][] = EVENTS;
  for (let tries = 0; waiting.length > 0 && tries < MOST_TRIES; tries++) {
    for (const event of waiting) child.send(event);
    while (child.answers.size < EVENTS.length) await new Promise((resolve) => setTimeout(resolve, 5));
    waiting = EVENTS.filter(({ id }) => child.answers.get(id) === 'overloaded');
    if (waiting.length > 0) await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** Skips the ten seconds for which a dead gateway holds its work. */
const endLeases = ({ url, schema }: CrashDatabase): Promise<unknown> =>
  runSql(url, `UPDATE ${schema}.node SET until = '-infinity'`);

export function acknowledgedIn(answers: ReadonlyMap<string, string>): ReadonlySet<string> {
  return new Set([...answers].filter(([, status]) => ACKNOWLEDGED.has(status)).map(([id]) => id));
}
