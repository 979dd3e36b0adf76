/**
 * A cell of the crash matrix for scheduled jobs: kill a gateway between an instant and the end of its run, start it
 * again.
 */
import { join } from 'node:path';
import type { JobProcess, Kill } from '../helpers/job-process.ts';
import { openOfflineStore } from '../helpers/rescued-store.ts';
import { runJobProcess } from '../helpers/run-job-process.ts';

const START = Date.parse('2026-01-01T00:00:00Z');
const MINUTE = 60_000;
const INSTANT = `j@${new Date(START).toISOString()}`;

/**
 * Every point that a run passes. Commits: recovery, a look for work, the start of the watch, the claim of the instant.
 */
export const JOB_MATRIX: readonly Kill[] = [
  ...(['commit.begun', 'commit.applied', 'commit.committed'] as const).flatMap((point) => [
    { point, nth: 4 },
    { point, nth: 5 },
  ]),
  // The first look for work finds none.
  { point: 'work.taken', nth: 2 },
  ...(['job.stored', 'run.begin', 'run.answered', 'run.stored'] as const).map((point) => ({
    point,
    nth: 1,
  })),
  ...(['delivery.begin', 'delivery.sent', 'delivery.marked'] as const).map((point) => ({ point, nth: 1 })),
];

/** The problems afterwards, a line each: the instant must have run and been delivered, and must be the only one. */
export async function runJobCell(home: string, kill: Kill): Promise<readonly string[]> {
  const path = join(home, 'state.db');
  // The day begins after a quarter of a second.
  const first: JobProcess = {
    ...{ path, simulated_ms: START - 5 * MINUTE, speed: 1200, schedule: '0 0 * * *', misfire: 'once' },
    until_ms: START + 5 * MINUTE,
    kill,
  };
  const killed = await runJobProcess(first);
  // Later than the first one can have got, and long before the next day, on a slow machine too. A few looks at what is
  // due pass until its end.
  const noon = START + 720 * MINUTE;
  const later = { simulated_ms: noon, speed: 300, until_ms: noon + MINUTE };
  const second = { ...first, ...later, kill: null };
  const ended = await runJobProcess(second);
  const store = await openOfflineStore(path);
  const listed = await store.read({ kind: 'list', filter: { limit: 9 } });
  const stored = listed.map(({ delivery_id, state }) => `${delivery_id} ${state}`);
  const wrong = [...(await store.read({ kind: 'audit' }))];
  await store.close();
  const seen = [...killed.lines, ...ended.lines];
  if (killed.signal !== 'SIGKILL') wrong.push(`${kill.point} was never reached`);
  if (ended.signal !== null || ended.stderr !== '') wrong.push(`the second one failed: ${ended.stderr}`);
  if (stored.join() !== `${INSTANT} done`) wrong.push(`stored: ${stored.join(', ')}`);
  for (const effect of [`run ${INSTANT}`, `delivery ${INSTANT}`])
    if (!seen.includes(effect)) wrong.push(`no ${effect}`);
  return [...wrong, ...seen.filter((line) => !line.endsWith(INSTANT)).map((line) => `beside it: ${line}`)];
}
