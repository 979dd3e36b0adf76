/**
 * `npm run bench [-- [--quick] [case …] [option …]]`: measures the runtime and the compiler and prints ratios to a bare
 * node:http server in the same run. Not part of `npm test`: figures of one machine at one time prove nothing alone.
 */
import { cpus } from 'node:os';
import { captureCase } from './cases/capture.ts';
import { clusterCase } from './cases/cluster.ts';
import { coldStartCase } from './cases/cold-start.ts';
import { compileCase } from './cases/compile.ts';
import { consoleCase } from './cases/console.ts';
import { deliverCase } from './cases/deliver.ts';
import { diffRequestsCase } from './cases/diff-requests.ts';
import { injectionCase } from './cases/injection.ts';
import { memoryCase } from './cases/memory.ts';
import { notFoundCase } from './cases/not-found.ts';
import { openLoopCase } from './cases/open-loop.ts';
import { renderCase } from './cases/render.ts';
import { durabilityCase, rejectionsCase } from './cases/requests.ts';
import { storeCase } from './cases/store.ts';
import { swapCase } from './cases/swap.ts';
import { verifyCase } from './cases/verify.ts';
import type { BenchArguments } from './harness/arguments.ts';
import { parseArguments } from './harness/arguments.ts';
import { buildChildren } from './harness/build.ts';
import { printTable } from './harness/print-table.ts';
import type { Case } from './lab.ts';
import { withLab } from './lab.ts';

const CASES: readonly Case[] = [
  rejectionsCase,
  notFoundCase,
  durabilityCase,
  openLoopCase,
  storeCase,
  clusterCase,
  captureCase,
  consoleCase,
  memoryCase,
  compileCase,
  swapCase,
  verifyCase,
  renderCase,
  deliverCase,
  coldStartCase,
  diffRequestsCase,
  injectionCase,
];

const { cases, quick, options } = readArguments();

function readArguments(): BenchArguments {
  try {
    return parseArguments(
      process.argv.slice(2),
      CASES.map(({ name }) => name),
    );
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exit(2);
  }
}

buildChildren();
console.log(`Node.js ${process.version}, ${cpus().length} x ${cpus()[0]?.model ?? 'unknown CPU'}\n`);
await withLab(quick, options, async (lab) => {
  for (const one of CASES) {
    if (cases.length > 0 && !cases.includes(one.name)) continue;
    console.log(`${one.title}\n`);
    console.log(`${printTable(one.header, await one.run(lab))}\n`);
  }
});
