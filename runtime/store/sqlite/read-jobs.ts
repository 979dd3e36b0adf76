/** The SQL for the queries about jobs. */
import { decodeOr, isCount, isJobRecord } from '../decode.ts';
import type { Ref } from '../identity.ts';
import type { JobRecord, JobState, JobTick } from '../job-mutations.ts';
import type { QueryHandlers } from '../queries.ts';
import type { Connection } from './driver.ts';

type JobQuery = 'jobs' | 'jobs_version' | 'job_ticks';
type StateRow = readonly [
  job: string,
  paused: number | null,
  cursor: number | null,
  signature: string | null,
  ref: Ref | null,
  paused_until: number | null,
];

const readState = ([, paused, cursor, signature, ref, paused_until]: StateRow): JobState => ({
  paused: paused === null ? null : paused === 1,
  paused_until,
  cursor,
  signature,
  ref,
});

export function createJobQueries(db: Connection): Pick<QueryHandlers, JobQuery> {
  const records = db.query<[string]>('SELECT body FROM job ORDER BY name, id');
  const states = db.query<StateRow>('SELECT job, paused, cursor, signature, ref, paused_until FROM job_state');
  const version = db.query<[string]>("SELECT value FROM meta WHERE key = 'jobs_version'");
  const ticks = db.query<[number, string, Ref | null, number]>(
    'SELECT due_at, outcome, ref, missed FROM job_tick WHERE job = ? ORDER BY due_at DESC LIMIT ?',
  );
  const jobsVersion = (): number => decodeOr(version.get()?.[0], isCount, 0);
  return {
    jobs: () => ({
      version: jobsVersion(),
      records: records.all().flatMap(([body]) => decodeOr<JobRecord | readonly []>(body, isJobRecord, [])),
      states: Object.fromEntries(states.all().map((row) => [row[0], readState(row)])),
    }),
    jobs_version: jobsVersion,
    job_ticks: ({ job, limit }) =>
      ticks.all(job, limit).map(
        ([due_at, outcome, ref, missed]): JobTick => ({
          due_at,
          outcome: outcome as JobTick['outcome'],
          ref,
          missed,
        }),
      ),
  };
}
