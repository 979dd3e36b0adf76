/**
 * `npm run fuzz -- [--worker a,b] [--seconds N] [--cases N] [--seed N]`: runs the workers of the fuzz harness one after the
 * other, each for that time or number of cases, prints a table, and writes each finding to a file under `build/fuzz/`.
 * `--case FILE` runs one stored case again, alone. Exit 1 if anything was found.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ROOT } from '../../helpers/root.ts';
import type { Finding } from './run-worker.ts';
import { runAll, runWorker } from './run-worker.ts';
import { WORKERS } from './workers.ts';

const { values } = parseArgs({
  options: {
    worker: { type: 'string' },
    seconds: { type: 'string', default: '30' },
    cases: { type: 'string', default: '1000000000' },
    seed: { type: 'string' },
    case: { type: 'string' },
  },
});

function fail(message: string): never {
  console.error(message);
  process.exit(2);
}

function number(name: 'seconds' | 'cases' | 'seed', text: string): number {
  const value = Number(text);
  return Number.isFinite(value) && value >= 0 ? value : fail(`--${name} takes a number`);
}

const named = values.worker?.split(',') ?? WORKERS.map(({ name }) => name);
const workers = named.map((name) => {
  const found = WORKERS.find((worker) => worker.name === name);
  return found ?? fail(`there is no worker "${name}": ${WORKERS.map((worker) => worker.name).join(', ')}`);
});

function keep(finding: Finding): void {
  const folder = join(ROOT, 'build/fuzz');
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${finding.worker}-${finding.seed}.json`);
  writeFileSync(file, `${JSON.stringify(finding, null, 2)}\n`);
  console.log(`\n${finding.worker}: ${finding.reason}`);
  console.log(`  case: ${JSON.stringify(finding.case).slice(0, 2000)}`);
  console.log(`  ${finding.alone ? 'fails alone as well' : 'does not fail alone'}; kept in ${file}`);
  console.log(`  again: npm run fuzz -- --worker ${finding.worker} --seed ${finding.seed} --cases 500\n`);
}

async function again(file: string): Promise<never> {
  const { worker: name, case: one } = JSON.parse(readFileSync(file, 'utf8')) as Finding;
  const worker = WORKERS.find((known) => known.name === name) ?? fail(`there is no worker "${name}"`);
  await runAll(worker, [{ what: file, case: one }]);
  console.log(`${name}: the case holds`);
  process.exit(0);
}

if (values.case !== undefined) await again(values.case);
const seed = values.seed === undefined ? Date.now() % 2 ** 31 : number('seed', values.seed);
const limits = { seed, maxCases: number('cases', values.cases), maxMs: number('seconds', values.seconds) * 1000 };
console.log(`seed ${seed}`);
let found = 0;
for (const worker of workers) {
  const start = performance.now();
  const { cases, rounds, findings } = await runWorker(worker, limits, keep);
  found += findings.length;
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  console.log(`${worker.name.padEnd(16)} ${cases} cases, ${rounds} rounds, ${seconds} s, ${findings.length} findings`);
}
process.exit(found === 0 ? 0 : 1);
