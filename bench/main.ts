/**
 * `npm run bench [-- [--quick] [case …]]`: measures the runtime and the compiler and prints ratios to a bare node:http
 * server in the same run. Not part of `npm test`: figures of one machine at one time prove nothing by themselves.
 */
import { cpus } from 'node:os';
import { coldStartCase } from './cases/cold-start.ts';
import { compileCase } from './cases/compile.ts';
import { deliverCase } from './cases/deliver.ts';
import { memoryCase } from './cases/memory.ts';
import { notFoundCase } from './cases/not-found.ts';
import { durabilityCase, rejectionsCase } from './cases/requests.ts';
import { storeCase } from './cases/store.ts';
import { swapCase } from './cases/swap.ts';
import { verifyCase } from './cases/verify.ts';
import { buildChildren } from './harness/build.ts';
import type { Case } from './harness/lab.ts';
import { withLab } from './harness/lab.ts';
import { printTable } from './harness/print-table.ts';

const CASES: readonly Case[] = [
  rejectionsCase,
  notFoundCase,
  durabilityCase,
  storeCase,
  memoryCase,
  compileCase,
  swapCase,
  verifyCase,
  deliverCase,
  coldStartCase,
];

const words = process.argv.slice(2);
const quick = words.includes('--quick');
const wanted = words.filter((word) => !word.startsWith('--'));
const unknown = [
  ...wanted.filter((word) => !CASES.some(({ name }) => name === word)),
  ...words.filter((word) => word.startsWith('--') && word !== '--quick'),
];
if (unknown.length > 0) {
  console.error(`unknown: ${unknown.join(' ')}; cases: ${CASES.map(({ name }) => name).join(' ')}; option: --quick`);
  process.exit(2);
}

buildChildren();
console.log(`Node.js ${process.version}, ${cpus().length} x ${cpus()[0]?.model ?? 'unknown CPU'}\n`);
await withLab(quick, async (lab) => {
  for (const one of CASES) {
    if (wanted.length > 0 && !wanted.includes(one.name)) continue;
    console.log(`${one.title}\n`);
    console.log(`${printTable(one.header, await one.run(lab))}\n`);
  }
});
