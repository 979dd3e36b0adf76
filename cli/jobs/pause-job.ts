/** Pauses a job, or lets it fire again, for `job pause` and `job resume`. */
import type { CliContext } from '../base/context.ts';
import { printLine } from '../output/print.ts';
import { makeStore } from '../store/use-store.ts';
import { findJob, openJobs } from './open-jobs.ts';

/** Which job is meant, as the command line says it. */
export interface JobReference {
  /** A name or an id. */
  readonly reference: string;
  readonly profile: string | undefined;
  readonly config: readonly string[] | undefined;
}

/** @throws CliError when there is no such job */
export async function pauseJob(job: JobReference, paused: boolean, context: CliContext): Promise<void> {
  const open = await openJobs(context, job.config);
  const { id, name } = findJob(open, job.reference, job.profile);
  const now = context.clock.now();
  await makeStore(context, (store) => store.write({ kind: 'pause_job', job: id, paused, now }));
  printLine(context, `job ${name} (${id}) ${paused ? 'paused' : 'resumed'}`);
}
