/** The SQL for the changes of ../job-mutations.ts. */

import type { Headed, LargeTexts } from '../encode.ts';
import type { FireJob, JobMutation, JobTick, PutJob, TickJob } from '../job-mutations.ts';
import type { Ref } from '../mutations.ts';
import type { Rows } from './rows.ts';
import type { SqlHandlers } from './sql-handlers.ts';

type JobHandlers = Pick<SqlHandlers, JobMutation['kind']>;

export function createJobHandlers(rows: Rows): JobHandlers {
  const forget = rows.db.change(
    'DELETE FROM job_tick WHERE (job, due_at) IN (SELECT job, due_at FROM job_tick WHERE due_at < ? LIMIT ?)',
  );
  return {
    ...createRecordHandlers(rows),
    ...createFiring(rows),
    forget_ticks: ({ before, limit }) => forget(before, limit),
  };
}

function createRecordHandlers({ db }: Rows): Pick<JobHandlers, 'put_job' | 'remove_job' | 'pause_job' | 'watch_job'> {
  const named = db.query('SELECT 1 FROM job WHERE profile = ? AND name = ? AND id <> ?');
  const known = db.query('SELECT 1 FROM job WHERE id = ?');
  const put = db.change('INSERT OR REPLACE INTO job (id, profile, name, body) VALUES (?, ?, ?, ?)');
  const remove = db.change('DELETE FROM job WHERE id = ?');
  const removeState = db.change('DELETE FROM job_state WHERE job = ?');
  const pause = db.change(
    'INSERT INTO job_state (job, paused, cursor) VALUES (?1, ?2, ?3) ' +
      'ON CONFLICT (job) DO UPDATE SET paused = ?2, cursor = coalesce(?3, cursor)',
  );
  const watch = db.change(
    'INSERT INTO job_state (job, signature, cursor) VALUES (?1, ?2, ?3) ' +
      'ON CONFLICT (job) DO UPDATE SET signature = ?2, cursor = ?3',
  );
  const changed = db.change(
    "INSERT INTO meta (key, value) VALUES ('jobs_version', '1') ON CONFLICT (key) DO UPDATE SET value = value + 1",
  );
  const isTaken = ({ id, profile }: PutJob['job'], name: string): boolean => named.get(profile, name, id) !== undefined;
  return {
    put_job({ job, expect, numbered_beside: beside }) {
      const isKnown = known.get(job.id) !== undefined;
      if (expect === 'old' && !isKnown) return { kind: 'unknown' };
      if (expect === 'new' && isKnown) return { kind: 'name_taken' };
      let { name } = job;
      for (let n = 2; beside !== undefined && (beside.includes(name) || isTaken(job, name)); n++)
        name = `${job.name}-${n}`;
      if (isTaken(job, name)) return { kind: 'name_taken' };
      put(job.id, job.profile, name, JSON.stringify({ ...job, name }));
      changed();
      return { kind: 'stored', name };
    },
    remove_job({ id }) {
      if (remove(id) === 0) return false;
      removeState(id);
      changed();
      return true;
    },
    pause_job({ job, paused, now }) {
      pause(job, paused ? 1 : 0, paused ? null : now);
      changed();
      return null;
    },
    watch_job({ job, signature, now }) {
      watch(job, signature, now);
      return null;
    },
  };
}

type StateRow = readonly [paused: number | null, cursor: number | null, running: number];

function createFiring(rows: Rows): Pick<JobHandlers, 'tick_job' | 'fire_job'> {
  const { db } = rows;
  const find = db.query<StateRow>(
    "SELECT s.paused, s.cursor, coalesce(w.state IN ('pending', 'running'), 0) " +
      'FROM job_state s LEFT JOIN work w ON w.ref = s.ref WHERE s.job = ?',
  );
  const stateOf = (job: string): StateRow => find.get(job) ?? [null, null, 0];
  const hasTick = db.query('SELECT 1 FROM job_tick WHERE job = ? AND due_at = ?');
  const setCursor = db.change(
    'INSERT INTO job_state (job, cursor) VALUES (?1, ?2) ON CONFLICT (job) DO UPDATE SET cursor = ?2',
  );
  const setRef = db.change('INSERT INTO job_state (job, ref) VALUES (?1, ?2) ON CONFLICT (job) DO UPDATE SET ref = ?2');
  const addTick = db.change('INSERT INTO job_tick (job, due_at, outcome, ref, missed) VALUES (?, ?, ?, ?, ?)');
  const start = (
    { job, now }: Pick<TickJob, 'job' | 'now'>,
    head: Headed<FireJob>['dispatch'],
    texts: LargeTexts,
  ): Ref => {
    const ref = rows.insert({ head, texts, state: 'pending', due_at: now, now });
    setRef(job, ref);
    return ref;
  };
  return {
    tick_job(m, texts) {
      const [paused, cursor, running] = stateOf(m.job);
      if ((cursor !== null && m.due_at <= cursor) || hasTick.get(m.job, m.due_at) !== undefined) {
        return { kind: 'claimed' };
      }
      setCursor(m.job, m.due_at);
      if (paused === null ? m.paused : paused === 1) return { kind: 'paused' };
      const note = (outcome: JobTick['outcome'], ref: Ref | null): void => {
        addTick(m.job, m.due_at, outcome, ref, m.missed);
      };
      if (m.dispatch === null || running === 1) {
        note(m.dispatch === null ? 'missed' : 'overlapped', null);
        return { kind: m.dispatch === null ? 'missed' : 'running' };
      }
      const ref = start(m, m.dispatch, texts);
      note('fired', ref);
      return { kind: 'stored', ref };
    },
    fire_job(m, texts) {
      if (rows.isClaimed(m.claim, m.now)) return { kind: 'duplicate' };
      const [paused, , running] = stateOf(m.job);
      if (!m.even_paused && (paused === null ? m.paused : paused === 1)) return { kind: 'paused' };
      rows.claim(m.claim);
      if (running === 1) return { kind: 'running' };
      return { kind: 'stored', ref: start(m, m.dispatch, texts) };
    },
  };
}
