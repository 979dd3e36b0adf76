/** Makes a job in the store, for commands and the running gateway. */
import { jobSignature } from '../../runtime/dispatch/scheduler/job.ts';
import type { JobRecord } from '../../runtime/store/job-mutations.ts';
import type { Store } from '../../runtime/store/store.ts';
import type { CliContext } from '../base/context.ts';
import { CliError } from '../base/errors.ts';
import type { DraftTable, JobDraft, SavedJob } from './draft-job.ts';
import { checkDraft, recordOfPlan } from './draft-job.ts';

interface NewJob extends JobDraft {
  readonly blueprint: JobRecord['blueprint'];
}

export interface JobMaker {
  readonly store: Store;
  readonly open: DraftTable;
  readonly context: Pick<CliContext, 'clock' | 'random'>;
}

/** Easy to read aloud and to type: no characters that look alike. */
const ALPHABET = 'abcdefghjkmnpqrstuvwxyz23456789';
const ID_LENGTH = 6;

function newId(random: CliContext['random'], isTaken: (id: string) => boolean): string {
  for (;;) {
    const id = [...random(ID_LENGTH)].map((byte) => ALPHABET[byte % ALPHABET.length]).join('');
    if (!isTaken(id)) return id;
  }
}

/**
 * @param numbered a name that is taken gets a number behind it instead of being refused
 * @throws CliError when the job cannot be made; nothing is stored then.
 */
export async function createJob(job: NewJob, { store, open, context }: JobMaker, numbered = false): Promise<SavedJob> {
  const { plan, warnings } = checkDraft(job, open);
  const { blueprint, config } = job;
  const { timezone } = config;
  const { records } = await store.read({ kind: 'jobs' });
  const configured = Object.values(open.table.jobs);
  const known = new Set([...configured, ...records].flatMap(({ id, name }) => [id, name]));
  const own = configured.filter(({ profile }) => profile === job.profile).map(({ name }) => name);
  const taken = new CliError(
    `there is a job "${job.name}" already`,
    `change it: hookwright job edit ${job.name}`,
    'or give this one another name',
  );
  if (!numbered && own.includes(job.name)) throw taken;
  const now = context.clock.now();
  const toolsets = config.toolsets === undefined ? null : plan.toolsets;
  const id = newId(context.random, (candidate) => known.has(candidate));
  const record = recordOfPlan(plan, { id, created_at: now, blueprint, toolsets, timezone });
  const put = { kind: 'put_job', job: record, expect: 'new' } as const;
  const stored = await store.write(numbered ? { ...put, numbered_beside: own } : put);
  if (stored.kind !== 'stored') throw taken;
  // It counts from now on, also when no gateway is there to see it.
  await store.write({ kind: 'watch_job', job: record.id, signature: jobSignature(record), now });
  return { record: { ...record, name: stored.name }, warnings };
}
