/**
 * `npm run test:interop [-- <agent> … | --check <check>]`: every entry of catalog/agents/ with the real program, against a double of
 * its model's server on this machine, and `agent.openai` beside the official library (`openai`). It writes the tables of docs/agents.md
 * for what it has tried. The programs come from the
 * package beside this file, or from the folder `HOOKWRIGHT_REAL_AGENTS`.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { CATALOG } from '../../helpers/compile.ts';
import { KEY } from '../../helpers/known-agent.ts';
import { ROOT } from '../../helpers/root.ts';
import type { Result } from './checks.ts';
import { CHECKS, runCheck } from './checks.ts';
import { startModelDouble } from './model-double.ts';
import { compareWithLibrary } from './openai-sdk.ts';
import type { Column } from './table.ts';
import { writeTable } from './table.ts';

const FOLDER = join(ROOT, 'test/interop/agents');
const BIN = process.env.HOOKWRIGHT_REAL_AGENTS ?? join(FOLDER, 'node_modules/.bin');

/** The lock has no entries of other systems, which `npm ci` wants. Two programs link their binary when they are built. */
function install(): void {
  const npm = (...args: string[]) => spawnSync('npm', ['--prefix', FOLDER, ...args], { stdio: 'inherit' });
  npm('install', '--no-save', '--ignore-scripts', '--no-audit', '--no-fund');
  npm('rebuild', '@anthropic-ai/claude-code', 'opencode-ai');
}

function versionOf(program: string, home: string): string {
  const env = { PATH: process.env.PATH, HOME: home };
  const { stdout, stderr } = spawnSync(program, ['--version'], { encoding: 'utf8', env });
  return /\d+\.\d+\.\d+/.exec(`${stdout}\n${stderr}`)?.[0] ?? 'unknown';
}

const say = (name: string, check: string, result: Result, ms: number): void => {
  const [word, text] =
    result === null
      ? ['ok    ', '']
      : typeof result === 'string'
        ? ['failed', `: ${result}`]
        : ['none  ', `: ${result.none}`];
  console.log(`${word} ${name} ${check}${text} (${Math.round(ms / 1000)} s)`);
};

if (!existsSync(BIN)) install();
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { check: { type: 'string', multiple: true } },
});
const wanted = positionals.length === 0 ? [...Object.keys(CATALOG.agents), 'openai'] : positionals;
const names = wanted.filter((name) => name !== 'openai');
const root = realpathSync(mkdtempSync(join(tmpdir(), 'hookwright-interop-')));
const double = await startModelDouble(KEY, root);
const columns: Column[] = [];
for (const name of names) {
  const program = join(realpathSync(BIN), CATALOG.agents[name]?.command[0]?.toString() ?? '');
  const home = mkdtempSync(join(root, 'home-'));
  const results: Record<string, Result> = {};
  for (const check of values.check ?? Object.keys(CHECKS)) {
    const start = performance.now();
    const result = await runCheck(check, { name, program, double, home }).catch((error: unknown) => String(error));
    say(name, check, result, performance.now() - start);
    results[check] = result;
  }
  columns.push({ name, version: versionOf(program, home), results });
}
double.close();
rmSync(root, { recursive: true, force: true });
if (columns.length > 0) writeTable(columns, Object.keys(CHECKS));
const isSame = !wanted.includes('openai') || (await compareWithLibrary(dirname(realpathSync(BIN))));
process.exitCode =
  !isSame || columns.some(({ results }) => Object.values(results).some((result) => typeof result === 'string')) ? 1 : 0;
