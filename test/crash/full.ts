/** `npm run test:crash`: the whole crash matrix, on both engines, and a long run of random kills, printed as a table. */
import { randomInt } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { skipWithoutPostgres } from '../helpers/postgres/binaries.ts';
import { sharedServer } from '../helpers/postgres/shared-cluster.ts';
import { JOB_MATRIX, runJobCell } from './jobs.ts';
import { MATRIX, runCell } from './matrix.ts';
import { killAtRandom } from './random-kills.ts';

const root = mkdtempSync(join(tmpdir(), 'hookwright-crash-'));
let failed = 0;

function report(name: string, wrong: readonly string[], rest: string): void {
  if (wrong.length > 0) failed++;
  console.log(`${name.padEnd(32)} ${wrong.length === 0 ? 'kept' : 'BROKEN'}  ${rest}`);
  for (const line of wrong.slice(0, 20)) console.log(`    ${line}`);
}

try {
  console.log('killed at                acknowledged before the kill, dispatches stored, runs repeated');
  for (const [index, kill] of MATRIX.entries()) {
    const cell = await runCell(join(root, `cell-${index}`), kill);
    report(`${kill.point} #${kill.nth}`, cell.wrong, `${cell.acknowledged}, ${cell.dispatches}, ${cell.repeatedRuns}`);
  }
  const url = skipWithoutPostgres() === false ? await sharedServer() : null;
  for (const [index, kill] of url === null ? [] : MATRIX.entries()) {
    const database = { url: url ?? '', schema: `crash_${index}` };
    const cell = await runCell(join(root, `postgres-${index}`), kill, database);
    report(
      `PostgreSQL, ${kill.point} #${kill.nth}`,
      cell.wrong,
      `${cell.acknowledged}, ${cell.dispatches}, ${cell.repeatedRuns}`,
    );
  }
  for (const [index, kill] of JOB_MATRIX.entries()) {
    report(`job, ${kill.point} #${kill.nth}`, await runJobCell(join(root, `job-${index}`), kill), '');
  }
  const seed = Number(process.env.HOOKWRIGHT_SEED ?? randomInt(2 ** 31));
  const random = await killAtRandom({ home: join(root, 'random'), kills: 40, events: 120, lifeMs: 600, seed });
  report(
    'random',
    random.wrong,
    `${random.kills} kills, ${random.events} events, ${random.repeatedRuns} runs repeated, HOOKWRIGHT_SEED=${seed}`,
  );
} finally {
  rmSync(root, { recursive: true, force: true });
}
process.exit(failed === 0 ? 0 : 1);
