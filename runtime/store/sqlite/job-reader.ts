/** The queries about jobs as SQL, over a connection that only reads. */
import type Database from 'libsql';
import type { JobReader, JobRecord, JobState, JobTick } from '../job-mutations.ts';
import { NO_STATE } from '../job-mutations.ts';
import type { Ref } from '../mutations.ts';

type StateRow = readonly [paused: 0 | 1 | null, cursor: number | null, signature: string | null, ref: Ref | null];
type TickRow = readonly [due_at: number, outcome: JobTick['outcome'], ref: Ref | null, missed: number];

const readState = ([paused, cursor, signature, ref]: StateRow): JobState => ({
  paused: paused === null ? null : paused === 1,
  ...{ cursor, signature, ref },
});

export function createJobReader(db: Database.Database): JobReader {
  const jobs = db.prepare('SELECT body FROM job ORDER BY name, id').raw();
  const stateOf = db.prepare('SELECT paused, cursor, signature, ref FROM job_state WHERE job = ?').raw();
  const states = db.prepare('SELECT paused, cursor, signature, ref, job FROM job_state').raw();
  const running = db
    .prepare("SELECT 1 FROM job_state s JOIN work w USING (ref) WHERE s.job = ? AND w.state IN ('pending', 'running')")
    .raw();
  const ticks = db
    .prepare('SELECT due_at, outcome, ref, missed FROM job_tick WHERE job = ? ORDER BY due_at DESC LIMIT ?')
    .raw();
  const version = db.prepare("SELECT value FROM meta WHERE key = 'jobs_version'").raw();
  return {
    list: () => (jobs.all([]) as [string][]).map(([body]) => JSON.parse(body) as JobRecord),
    state(job) {
      const row = stateOf.get([job]) as StateRow | undefined;
      return row === undefined ? NO_STATE : readState(row);
    },
    states: () =>
      new Map((states.all([]) as [...StateRow, string][]).map(([a, b, c, d, job]) => [job, readState([a, b, c, d])])),
    isRunning: (job) => running.get([job]) !== undefined,
    ticks: (job, limit) =>
      (ticks.all([job, limit]) as TickRow[]).map(([due_at, outcome, ref, missed]) => ({
        due_at,
        outcome,
        ref,
        missed,
      })),
    version: () => Number((version.get([]) as readonly [string] | undefined)?.[0] ?? 0),
  };
}
