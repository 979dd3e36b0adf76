/** The SQL for the queries about jobs. */
import type { JobRecord, JobState, JobTick } from '../../../../runtime/store/job-mutations.ts';
import type { AskSnapshot, PgQueries, Statement } from './snapshot.ts';

type JobQueries = Pick<PgQueries, 'jobs' | 'jobs_version' | 'job_running' | 'job_ticks'>;
type VersionRow = { readonly value: string };

const VERSION: Statement = ["SELECT value FROM meta WHERE key = 'jobs_version'"];
const RUNNING =
  "SELECT 1 FROM job_state s JOIN work w ON w.ref = s.ref WHERE s.job = $1 AND w.state IN ('pending', 'running')";
const TICKS = 'SELECT due_at, outcome, ref, missed FROM job_tick WHERE job = $1 ORDER BY due_at DESC LIMIT $2';

export const jobQueries = (ask: AskSnapshot): JobQueries => ({
  async jobs() {
    const [version = [], records = [], states = []] = await ask<
      [VersionRow[], { body: string }[], (JobState & { job: string })[]]
    >(
      VERSION,
      ['SELECT body FROM job ORDER BY name COLLATE "C", id'],
      ['SELECT job, paused, "cursor", signature, ref FROM job_state'],
    );
    return {
      version: Number(version[0]?.value ?? 0),
      records: records.map(({ body }) => JSON.parse(body) as JobRecord),
      states: Object.fromEntries(states.map(({ job, ...state }) => [job, state])),
    };
  },
  async jobs_version() {
    const [rows = []] = await ask<[VersionRow[]]>(VERSION);
    return Number(rows[0]?.value ?? 0);
  },
  async job_running({ job }) {
    const [rows = []] = await ask([RUNNING, job]);
    return rows.length > 0;
  },
  async job_ticks({ job, limit }) {
    const [rows = []] = await ask<[JobTick[]]>([TICKS, job, limit]);
    return rows;
  },
});
