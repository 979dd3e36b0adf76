/** The changes of ../job-mutations.ts as SQL. Each handler runs inside the transaction of its batch. */
import type Database from 'libsql';
import { claimKey } from '../claim-key.ts';
import type { FireJob, JobMutation, JobMutationResults, JobTick, TickJob } from '../job-mutations.ts';
import type { Ref } from '../mutations.ts';
import type { InsertDispatch } from './accept.ts';
import type { TakeClaim } from './claims.ts';
import { createIsHeld } from './claims.ts';

export type JobHandlers = {
  readonly [K in JobMutation['kind']]: (mutation: Extract<JobMutation, { kind: K }>) => JobMutationResults[K];
};

/** Parts of the other handlers that firing a job is made of. */
export interface FiringParts {
  readonly claim: TakeClaim;
  readonly insert: InsertDispatch;
  readonly toInbox: (ref: Ref) => void;
}

export function createJobHandlers(db: Database.Database, parts: FiringParts): JobHandlers {
  const forget = db.prepare(
    'DELETE FROM job_tick WHERE (job, due_at) IN (SELECT job, due_at FROM job_tick WHERE due_at < ? LIMIT ?)',
  );
  return {
    ...createRecordHandlers(db),
    ...createFiring(db, parts),
    forget_ticks: ({ before, limit }) => forget.run([before, limit]).changes,
  };
}

function createRecordHandlers(
  db: Database.Database,
): Pick<JobHandlers, 'put_job' | 'remove_job' | 'pause_job' | 'watch_job'> {
  const named = db.prepare('SELECT id FROM job WHERE profile = ? AND name = ? AND id <> ?').raw();
  const known = db.prepare('SELECT 1 FROM job WHERE id = ?').raw();
  const put = db.prepare('INSERT OR REPLACE INTO job (id, profile, name, body) VALUES (?, ?, ?, ?)');
  const remove = db.prepare('DELETE FROM job WHERE id = ?');
  const removeState = db.prepare('DELETE FROM job_state WHERE job = ?');
  const pause = db.prepare(
    'INSERT INTO job_state (job, paused, cursor) VALUES (?1, ?2, ?3) ' +
      'ON CONFLICT (job) DO UPDATE SET paused = ?2, cursor = coalesce(?3, cursor)',
  );
  const watch = db.prepare(
    'INSERT INTO job_state (job, signature, cursor) VALUES (?1, ?2, ?3) ' +
      'ON CONFLICT (job) DO UPDATE SET signature = ?2, cursor = ?3',
  );
  const changed = db.prepare(
    "INSERT INTO meta (key, value) VALUES ('jobs_version', '1') ON CONFLICT (key) DO UPDATE SET value = value + 1",
  );
  return {
    put_job({ job, expect }) {
      const isKnown = known.get([job.id]) !== undefined;
      if (expect === 'old' && !isKnown) return 'unknown';
      if ((expect === 'new' && isKnown) || named.get([job.profile, job.name, job.id]) !== undefined)
        return 'name_taken';
      put.run([job.id, job.profile, job.name, JSON.stringify(job)]);
      changed.run([]);
      return 'stored';
    },
    remove_job({ id }) {
      if (remove.run([id]).changes === 0) return false;
      removeState.run([id]);
      changed.run([]);
      return true;
    },
    pause_job({ job, paused, now }) {
      pause.run([job, paused ? 1 : 0, paused ? null : now]);
      changed.run([]);
      return null;
    },
    watch_job({ job, signature, now }) {
      watch.run([job, signature, now]);
      return null;
    },
  };
}

type StateRow = readonly [paused: 0 | 1 | null, cursor: number | null, running: 0 | 1];

function createFiring(db: Database.Database, parts: FiringParts): Pick<JobHandlers, 'tick_job' | 'fire_job'> {
  const find = db
    .prepare(
      "SELECT s.paused, s.cursor, coalesce(w.state IN ('pending', 'running'), 0) " +
        'FROM job_state s LEFT JOIN work w ON w.ref = s.ref WHERE s.job = ?',
    )
    .raw();
  const stateOf = (job: string): StateRow => (find.get([job]) as StateRow | undefined) ?? [null, null, 0];
  const hasTick = db.prepare('SELECT 1 FROM job_tick WHERE job = ? AND due_at = ?').raw();
  const setCursor = db.prepare(
    'INSERT INTO job_state (job, cursor) VALUES (?1, ?2) ON CONFLICT (job) DO UPDATE SET cursor = ?2',
  );
  const setRef = db.prepare(
    'INSERT INTO job_state (job, ref) VALUES (?1, ?2) ON CONFLICT (job) DO UPDATE SET ref = ?2',
  );
  const addTick = db.prepare('INSERT INTO job_tick (job, due_at, outcome, ref, missed) VALUES (?, ?, ?, ?, ?)');
  const isHeld = createIsHeld(db);
  const start = ({ dispatch, job, now }: FireJob | (TickJob & Pick<FireJob, 'dispatch'>)): Ref => {
    const ref = parts.insert({ dispatch, max_concurrent: null }, 'pending', now);
    setRef.run([job, ref]);
    return ref;
  };
  return {
    tick_job(m) {
      const [paused, cursor, running] = stateOf(m.job);
      if ((cursor !== null && m.due_at <= cursor) || hasTick.get([m.job, m.due_at]) !== undefined) {
        return { kind: 'claimed' };
      }
      setCursor.run([m.job, m.due_at]);
      if (paused === null ? m.paused : paused === 1) return { kind: 'paused' };
      const note = (outcome: JobTick['outcome'], ref: Ref | null): void => {
        addTick.run([m.job, m.due_at, outcome, ref, m.missed]);
      };
      const { dispatch } = m;
      if (dispatch === null || running === 1) {
        note(dispatch === null ? 'missed' : 'overlapped', null);
        return { kind: dispatch === null ? 'missed' : 'running' };
      }
      const ref = start({ ...m, dispatch });
      note('fired', ref);
      return { kind: 'stored', ref };
    },
    fire_job(m) {
      if (m.claim !== null && isHeld(claimKey(m.claim), m.now)) return { kind: 'duplicate' };
      const [paused, , running] = stateOf(m.job);
      if (!m.even_paused && (paused === null ? m.paused : paused === 1)) return { kind: 'paused' };
      parts.claim(m.claim, m.now);
      if (running === 1) return { kind: 'running' };
      const ref = start(m);
      if (m.inbox) parts.toInbox(ref);
      return { kind: 'stored', ref };
    },
  };
}
