/** Pauses a job, or lets it fire again, for `job pause` and `job resume`. */
import type { CliContext } from '../base/context.ts';
import { printLine } from '../output/print.ts';
import { makeStore } from '../store/use-store.ts';
import type { JobReference } from './open-jobs.ts';
import { openJob } from './open-jobs.ts';

/** @throws CliError when there is no such job */
export async function pauseJob(reference: JobReference, paused: boolean, context: CliContext): Promise<void> {
  const {
    job: { id, name },
  } = await openJob(context, reference);
  const now = context.clock.now();
  await makeStore(context, (store) => store.write({ kind: 'pause_job', job: id, paused, now }));
  printLine(context, `job ${name} (${id}) ${paused ? 'paused' : 'resumed'}`);
}
