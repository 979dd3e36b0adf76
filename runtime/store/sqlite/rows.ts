/**
 * Units of work over the file: the rows of a unit are loaded when they are asked for (load-unit.ts), and what it has
 * changed is stored here, within the transaction of its group.
 */
import type { WorkRow } from '../unit/rows.ts';
import { WorkUnit } from '../unit/unit.ts';
import type { Connection } from './driver.ts';
import { createLoadUnit } from './load-unit.ts';
import { Memory, stepIds } from './memory.ts';

export interface WriterRows {
  readonly db: Connection;
  readonly memory: Memory;
  /** Runs `work` over a unit of work and stores what it has changed. */
  inUnit<T>(work: (unit: WorkUnit) => T): T;
}

export function createRows(db: Connection): WriterRows {
  const memory = new Memory(db);
  const begin = createLoadUnit(db, memory);
  const store = createStoreUnit(db, memory);
  return {
    db,
    memory,
    inUnit(work) {
      const unit = new WorkUnit(begin());
      const result = work(unit);
      store(unit);
      return result;
    },
  };
}

function createStoreUnit(db: Connection, { counts, runs, attempts, pauses }: Memory): (unit: WorkUnit) => void {
  const addClaim = db.change('INSERT INTO claim VALUES (?, ?)');
  const renewClaim = db.change('UPDATE claim SET expires_at = ?2 WHERE key = ?1');
  const putDispatch = db.change('INSERT INTO dispatch VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)');
  const replaceBody = db.change('UPDATE dispatch SET head = ?, body = ? WHERE ref = ?');
  const putMessage = db.change('INSERT OR REPLACE INTO message VALUES (?, ?, ?)');
  const putWork = db.change(
    'INSERT INTO work (ref, lane, state, due_at, set_at, holder, answered_at, session, turn, blocked_by) ' +
      'VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
  );
  const updateWork = db.change(
    'UPDATE work SET state = ?, due_at = ?, set_at = ?, holder = ?, started_at = ?, answered_at = ?, reason = ?, ' +
      'failed = ?, steps = ?, session = ?, blocked_by = ?, finished_at = ? WHERE ref = ?',
  );
  const unblock = db.change('UPDATE work SET blocked_by = NULL, set_at = ? WHERE ref = ?');
  const putGroup = db.change('INSERT OR REPLACE INTO coalesce_group VALUES (?, ?, ?, ?, 0, 0, ?)');
  const putAnswer = db.change('INSERT OR REPLACE INTO answer VALUES (?, ?, ?)');
  const putUsage = db.change('INSERT INTO usage VALUES (NULL, ?, ?, ?, ?, ?, ?)');
  const putStep = db.change('INSERT INTO step VALUES (?, ?)');
  const addDelivery = db.change('INSERT INTO delivery VALUES (?, ?, ?, ?, ?, ?, ?)');
  const retryDelivery = db.change(
    'UPDATE delivery SET due_at = ?, set_at = ?, holder = NULL, waiting = ? WHERE ref = ? AND n = ?',
  );
  const endDelivery = db.change('DELETE FROM delivery WHERE ref = ? AND n = ?');
  const putJob = db.change(
    'INSERT INTO job_state (job, cursor, ref) VALUES (?1, ?2, ?3) ON CONFLICT (job) DO UPDATE SET cursor = ?2, ref = ?3',
  );
  const putTick = db.change('INSERT INTO job_tick (job, due_at, outcome, ref, missed) VALUES (?, ?, ?, ?, ?)');
  const putGuard = db.change('INSERT OR REPLACE INTO guard_state VALUES (?, ?, ?, ?, ?)');
  const removeGuard = db.change('DELETE FROM guard_state WHERE id = ?');
  const putError = db.change("INSERT OR REPLACE INTO meta VALUES ('last_error', ?)");

  const update = (row: WorkRow, finished_at: number | null): void => {
    const { ref, state, due_at, set_at, holder, started_at, answered_at, reason, failed, steps } = row;
    const outcome = [started_at, answered_at, reason, failed, steps] as const;
    updateWork(state, due_at, set_at, holder, ...outcome, row.session, row.blocked_by, finished_at, ref);
  };
  const storeWork = (unit: WorkUnit): void => {
    for (const { row, finished_at } of unit.ended) {
      update(row, finished_at);
      if (row.group_key === null) continue;
      runs.forget(row.lane);
      counts.groups--;
    }
    for (const row of unit.newWork) {
      if (unit.reopened.has(row.ref)) {
        update(row, null);
        continue;
      }
      const { ref, lane, state, due_at, set_at, holder, answered_at, group_key, session, turn, blocked_by } = row;
      putWork(ref, lane, state, due_at, set_at, holder, answered_at, session, turn, blocked_by);
      if (state === 'pending' && blocked_by === null) runs.add(lane, due_at, set_at);
      if (group_key === null) continue;
      putGroup(group_key, ref, row.first_at, due_at, row.superseded);
      counts.groups++;
    }
    for (const row of unit.changedWork) {
      update(row, null);
      if (row.state === 'pending') runs.add(row.lane, row.due_at, row.set_at);
    }
    for (const { ref, lane, due_at, set_at } of unit.unblocked) {
      unblock(set_at, ref);
      runs.add(lane, due_at, set_at);
    }
  };
  const storeDeliveries = ({ droppedDeliveries, newDeliveries, changedDeliveries }: WorkUnit): void => {
    for (const { ref, n } of droppedDeliveries) endDelivery(ref, n);
    for (const { ref, n, lane, due_at, set_at, holder, waiting } of newDeliveries) {
      addDelivery(ref, n, lane, due_at, set_at, holder, waiting);
      attempts.add(lane, due_at, set_at);
    }
    for (const { ref, n, lane, due_at, set_at, waiting } of changedDeliveries) {
      retryDelivery(due_at, set_at, waiting, ref, n);
      attempts.add(lane, due_at, set_at);
    }
  };
  return (unit) => {
    for (const [key, expires_at] of unit.newClaims) addClaim(key, expires_at);
    for (const [key, expires_at] of unit.laterClaims) renewClaim(key, expires_at);
    for (const row of unit.newDispatches) {
      const { ref, id, profile, route, job, mode, accepted_at, max_concurrent, head, body, session, burst } = row;
      putDispatch(ref, id, profile, route, job, mode, accepted_at, max_concurrent, head, body, session, burst);
    }
    for (const { ref, head, body } of unit.changedBodies) replaceBody(head, body, ref);
    for (const [key, { ref, ttl_ms }] of [...unit.newMessages, ...unit.changedMessages]) putMessage(key, ref, ttl_ms);
    storeWork(unit);
    storeDeliveries(unit);
    for (const [ref, { text, program }] of unit.answers) putAnswer(ref, text, program);
    for (const { ref, n, step } of unit.newSteps) putStep(stepIds(ref)[0] + n, JSON.stringify(step));
    for (const { ref, at, agent, input_tokens, output_tokens, cost } of unit.newUsage)
      putUsage(ref, at, agent, input_tokens, output_tokens, cost);
    for (const { job, cursor, ref } of unit.changedJobs) putJob(job, cursor, ref);
    for (const { job, due_at, outcome, ref, missed } of unit.newTicks) putTick(job, due_at, outcome, ref, missed);
    for (const [id, { kind, key, body, expires_at }] of unit.changedGuard) {
      if (body === null) removeGuard(id);
      else putGuard(id, kind, JSON.stringify(key), body, expires_at);
      if (kind === 'pause') pauses.put(key, body);
    }
    if (unit.lastError !== null) putError(JSON.stringify(unit.lastError));
    for (const [lane, max_concurrent] of unit.newLimits) counts.ofLane(lane).max_concurrent = max_concurrent;
    for (const [lane, column, by] of unit.counts) counts.change(counts.ofLane(lane), column, by);
  };
}
