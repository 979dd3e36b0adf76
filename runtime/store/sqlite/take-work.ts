/** Takes due work, and releases the work of processes that have ended. */
import type { MutationResults, Ref, TakenAttempt, TakenRun, TakeWork } from '../mutations.ts';
import type { GivenUp, Recover, Recovered } from '../recover.ts';
import { interruptedStep, UNANSWERED } from '../recover.ts';
import type { Rows, WorkRow } from './rows.ts';
import { ATTEMPTS, HELD_ATTEMPTS, LEFT_RUNS, RELEASE_ATTEMPTS, RUNS } from './work-queries.ts';

export function createTakeWork(rows: Rows): (m: TakeWork) => MutationResults['take_work'] {
  const { db, counts, runs, attempts } = rows;
  const takeRuns = createTakeRuns(rows);
  const due = db.query<[Ref, number]>(ATTEMPTS.due);
  const held = db.query<[number]>(HELD_ATTEMPTS);
  const hold = db.change('UPDATE delivery SET holder = ? WHERE ref = ? AND n = ?');
  const takeAttempts = (m: TakeWork): readonly TakenAttempt[] => {
    const { holder, now, attempts: limit, attempts_per_target } = m;
    const room = (lane: string): number => attempts_per_target - (held.get(holder, lane)?.[0] ?? 0);
    return attempts.take({ now, limit }, room, (lane, count) => {
      const found = due.all(lane, now, count).map(([ref, index]) => ({ ref, index }));
      for (const { ref, index } of found) hold(holder, ref, index);
      return found;
    });
  };
  return (m) => {
    const taken = { runs: takeRuns(m), attempts: takeAttempts(m) };
    const next = [runs.nextDue(m.now), attempts.nextDue(m.now)].filter((at) => at !== null);
    return { ...taken, waiting: counts.waiting, next_due_at: next.length === 0 ? null : Math.min(...next) };
  };
}

function createTakeRuns({ db, counts, runs }: Rows): (m: TakeWork) => readonly TakenRun[] {
  const due = db.query<[Ref, number]>(RUNS.due);
  const start = db.change(
    "UPDATE work SET state = 'running', holder = ?, started_at = ? WHERE ref IN (SELECT value FROM json_each(?))",
  );
  const closeGroups = db.change('DELETE FROM coalesce_group WHERE ref IN (SELECT value FROM json_each(?))');
  return ({ holder, now, runs: limit }) => {
    const room = (lane: string): number => {
      const { max_concurrent, counts: counted } = counts.ofLane(lane);
      return max_concurrent === null ? limit : max_concurrent - counted.running;
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
      return found.map(([ref, failed]) => ({ ref, profile: of.profile, route: of.route, failed }));
    });
  };
}

export function createRecover(rows: Rows): (m: Recover) => Recovered {
  const { db } = rows;
  const left = db.query<[Ref, 0 | 1, number | null, string | null]>(LEFT_RUNS);
  const release = db.change(RELEASE_ATTEMPTS);
  const head = db.query<[string, string, string | null, string | null]>(
    'SELECT id, profile, route, job FROM dispatch WHERE ref = ?',
  );
  const resetRuns = db.change(
    "UPDATE work SET due_at = ?1 + due_at - set_at, set_at = ?1 WHERE state = 'pending' AND set_at > ?1",
  );
  const resetAttempts = db.change(
    'UPDATE delivery SET due_at = ?1 + due_at - set_at, set_at = ?1 WHERE holder IS NULL AND set_at > ?1',
  );
  const resetGroups = db.change('UPDATE coalesce_group SET first_at = ?1 WHERE first_at > ?1');
  const giveUp = (ref: Ref, row: WorkRow, now: number): GivenUp => {
    const [id = '', profile = '', route = null, job = null] = head.get(ref) ?? [];
    rows.move(ref, row, { to: 'dead', at: now, reason: UNANSWERED });
    rows.noteError(ref, now, UNANSWERED);
    return { id, profile, route, job, reason: UNANSWERED };
  };
  return ({ holder, now, under_way }) => {
    const given_up: GivenUp[] = [];
    let runs = 0;
    for (const [ref, isInterrupted, startedAt, reasonText] of left.all(holder, JSON.stringify(under_way.runs))) {
      const row = rows.find(ref);
      if (row === undefined) continue;
      if (row[0] === 'running') {
        runs++;
        const reason = reasonText === null ? null : (JSON.parse(reasonText) as string);
        const steps = isInterrupted === 1 ? [interruptedStep(startedAt ?? now, now)] : [];
        rows.move(ref, row, { to: 'pending', at: now, reason, steps });
      } else given_up.push(giveUp(ref, row, now));
    }
    const attempts = release(holder, JSON.stringify(under_way.attempts.map(({ ref, index }) => [ref, index])));
    resetRuns(now);
    resetAttempts(now);
    resetGroups(now);
    rows.runs.reload();
    rows.attempts.reload();
    return { runs, attempts, given_up };
  };
}
