/** Takes due work, and releases the work of processes that have ended. */

import type { MutationResults, Recover, Recovered, TakenAttempt, TakenRun, TakeWork } from '../contract.ts';
import type { Ref } from '../records.ts';
import { AgentRoom } from '../unit/agent-room.ts';
import { release } from '../unit/apply.ts';
import type { BlockColumns } from '../unit/blocked.ts';
import { takenAttempt } from '../unit/blocked.ts';
import { COUNT_RUNNING } from '../waits.ts';
import { laneCount } from './read-dispatches.ts';
import type { WriterRows } from './rows.ts';
import { ATTEMPTS, RUNS } from './turns.ts';

/** Abandoned work: held by processes other than ?1, or by ?1 but not in ?2 (JSON), the list of its work in progress. */
export const LEFT_RUNS =
  'SELECT ref, holder <> ?1 FROM work WHERE holder IS NOT NULL ' +
  "AND (holder <> ?1 OR state = 'running' AND ref NOT IN (SELECT value FROM json_each(?2)))";
export const RELEASE_ATTEMPTS =
  'UPDATE delivery SET holder = NULL WHERE holder IS NOT NULL ' +
  'AND (holder <> ?1 OR (ref, n) NOT IN (SELECT value ->> 0, value ->> 1 FROM json_each(?2)))';
export const HELD_ATTEMPTS = 'SELECT count(*) FROM delivery WHERE holder = ? AND lane = ?';

export function createTakeWork(rows: WriterRows): (m: TakeWork) => MutationResults['take_work'] {
  const { db, memory } = rows;
  const { counts, runs, attempts, pauses } = memory;
  const takeRuns = createTakeRuns(rows);
  const due = db.query<[Ref, number, BlockColumns['blocked_by'], number, number]>(ATTEMPTS.due);
  const held = db.query<[number]>(HELD_ATTEMPTS);
  const hold = db.change('UPDATE delivery SET holder = ? WHERE ref = ? AND n = ?');
  const takeAttempts = (m: TakeWork): readonly TakenAttempt[] => {
    const { holder, now, attempts: limit, attempts_per_target } = m;
    const room = (lane: string): number => attempts_per_target - (held.get(holder, lane)?.[0] ?? 0);
    return attempts.take({ now, limit }, room, (lane, count) => {
      const found = due
        .all(lane, now, count)
        .map(([ref, index, blocked_by, due_at, set_at]) => takenAttempt(ref, index, { blocked_by, due_at, set_at }));
      for (const { ref, index } of found) hold(holder, ref, index);
      return found;
    });
  };
  return (m) => {
    const taken = { runs: takeRuns(m), attempts: takeAttempts(m) };
    const next = [runs.nextDue(m.now), attempts.nextDue(m.now), pauses.nextEnd(m.now)].filter((at) => at !== null);
    const waiting = counts.waiting(pauses.lanes(m.now));
    return { ...taken, waiting, next_due_at: next.length === 0 ? null : Math.min(...next) };
  };
}

function createTakeRuns({ db, memory: { counts, runs, pauses } }: WriterRows): (m: TakeWork) => readonly TakenRun[] {
  const due = db.query<[Ref, number]>(RUNS.due);
  const start = db.change(
    "UPDATE work SET state = 'running', holder = ?, started_at = ? WHERE ref IN (SELECT value FROM json_each(?))",
  );
  const closeGroups = db.change('DELETE FROM coalesce_group WHERE ref IN (SELECT value FROM json_each(?))');
  const running = db.query<[string, number]>(COUNT_RUNNING);
  return ({ holder, now, runs: limit, agents = [] }) => {
    const free = agents.length === 0 ? null : new AgentRoom(agents, running.all().map(laneCount));
    const room = (lane: string): number => {
      if (pauses.has(lane, now)) return 0;
      const { max_concurrent, counts: counted } = counts.ofLane(lane);
      const most = max_concurrent === null ? limit : max_concurrent - counted.running;
      return free === null ? most : Math.min(most, free.of(lane));
    };
    return runs.take({ now, limit }, room, (lane, count) => {
      const found = due.all(lane, now, count);
      if (found.length === 0) return [];
      const refs = JSON.stringify(found.map(([ref]) => ref));
      start(holder, now, refs);
      if (counts.groups > 0) counts.groups -= closeGroups(refs);
      const of = counts.ofLane(lane);
      counts.change(of, 'pending', -found.length);
      counts.change(of, 'running', found.length);
      free?.use(lane, found.length);
      return found.map(([ref, failed]) => ({ ref, profile: of.profile, route: of.route, failed }));
    });
  };
}

export function createRecover({ db, memory, inUnit }: WriterRows): (m: Recover) => Recovered {
  const left = db.query<[Ref, 0 | 1]>(LEFT_RUNS);
  const releaseAttempts = db.change(RELEASE_ATTEMPTS);
  const resets = [
    "UPDATE work SET due_at = ?1 + due_at - set_at, set_at = ?1 WHERE state = 'pending' AND set_at > ?1",
    'UPDATE delivery SET due_at = ?1 + due_at - set_at, set_at = ?1 WHERE holder IS NULL AND set_at > ?1',
    "UPDATE guard_state SET expires_at = ?1 + expires_at - (body ->> 'since'), body = json_object('since', ?1, 'until', " +
      "?1 + expires_at - (body ->> 'since')) WHERE kind = 'pause' AND json_valid(body) AND body ->> 'since' > ?1 AND expires_at > 0",
    'UPDATE coalesce_group SET first_at = ?1 WHERE first_at > ?1',
  ].map((sql) => db.change(sql));
  return ({ holder, now, under_way }) => {
    const found = left.all(holder, JSON.stringify(under_way.runs));
    const released = inUnit((unit) =>
      release(
        unit,
        found.map(([ref, hasBegun]) => ({ ref, has_begun: hasBegun === 1 })),
        now,
      ),
    );
    const attempts = releaseAttempts(holder, JSON.stringify(under_way.attempts.map(({ ref, index }) => [ref, index])));
    for (const reset of resets) reset(now);
    for (const part of [memory.runs, memory.attempts, memory.pauses]) part.reload();
    return { ...released, attempts };
  };
}
