/** The changes that users make to jobs, and the removal of old instants. */

import type { DirectHandlers } from '../unit/apply.ts';
import { nameJob } from '../unit/jobs.ts';
import type { WriterRows } from './rows.ts';

type JobKind = 'put_job' | 'remove_job' | 'pause_job' | 'watch_job' | 'forget_ticks';

export function createJobHandlers({ db }: WriterRows): Pick<DirectHandlers, JobKind> {
  const named = db.query<[string, string]>('SELECT id, name FROM job WHERE profile = ? OR id = ?');
  const put = db.change('INSERT OR REPLACE INTO job (id, profile, name, body) VALUES (?, ?, ?, ?)');
  const remove = db.change('DELETE FROM job WHERE id = ?');
  const removeState = db.change('DELETE FROM job_state WHERE job = ?');
  const pause = db.change(
    'INSERT INTO job_state (job, paused, cursor, paused_until) VALUES (?1, ?2, ?3, ?4) ' +
      'ON CONFLICT (job) DO UPDATE SET paused = ?2, paused_until = ?4, cursor = coalesce(?3, cursor)',
  );
  const watch = db.change(
    'INSERT INTO job_state (job, signature, cursor) VALUES (?1, ?2, ?3) ' +
      'ON CONFLICT (job) DO UPDATE SET signature = ?2, cursor = ?3',
  );
  const changed = db.change(
    "INSERT INTO meta (key, value) VALUES ('jobs_version', '1') ON CONFLICT (key) DO UPDATE SET value = value + 1",
  );
  const forget = db.change(
    'DELETE FROM job_tick WHERE (job, due_at) IN (SELECT job, due_at FROM job_tick WHERE due_at < ? LIMIT ?)',
  );
  return {
    put_job(m) {
      const { job } = m;
      const jobs = named.all(job.profile, job.id).map(([id, name]) => ({ id, name }));
      const result = nameJob(m, jobs);
      if (result.kind !== 'stored') return result;
      put(job.id, job.profile, result.name, JSON.stringify({ ...job, name: result.name }));
      changed();
      return result;
    },
    remove_job({ id }) {
      if (remove(id) === 0) return false;
      removeState(id);
      changed();
      return true;
    },
    pause_job({ job, paused, until = null, now }) {
      pause(job, paused ? 1 : 0, paused ? null : now, paused ? until : null);
      changed();
      return null;
    },
    watch_job({ job, signature, now }) {
      watch(job, signature, now);
      return null;
    },
    forget_ticks: ({ before, limit }) => forget(before, limit),
  };
}
