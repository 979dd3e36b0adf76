/**
 * `npm run test:interop [-- <agent> …]`: every entry of catalog/agents/ with the real program, against a double of its model's
 * server on this machine. It writes the table of docs/agents.md for the agents that it has tried. The programs come from the
 * package beside this file, or from the folder `HOOKWRIGHT_REAL_AGENTS`.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../../runtime/platform/clock.ts';
import { runProcess } from '../../../runtime/platform/process/run-process.ts';
import type { AgentConfig } from '../../../schemas/generated/types.ts';
import { CATALOG } from '../../helpers/compile.ts';
import type { KnownRun } from '../../helpers/known-agent.ts';
import { compileAgent, knownAgent } from '../../helpers/known-agent.ts';
import { ROOT } from '../../helpers/root.ts';
import { startModelDouble, TOKENS } from './model-double.ts';

const FOLDER = join(ROOT, 'test/interop/agents');
const BIN = process.env.HOOKWRIGHT_REAL_AGENTS ?? join(FOLDER, 'node_modules/.bin');
const PAGE = join(ROOT, 'docs/agents.md');

type Run = ReturnType<typeof knownAgent>;

/** Null: as it should be; else what is wrong. */
type Check = (run: Run, agent: Tried) => Promise<string | null>;

interface Tried {
  readonly name: string;
  /** Prompt and answer tokens of one answer; null: the program reports none. */
  readonly tokens: readonly [number, number] | null;
}

const answers = (wanted: string, { answer, reason }: KnownRun): string | null =>
  answer?.trim() === wanted ? null : `it answered ${JSON.stringify(answer ?? reason)}`;

const fails = ({ answer, reason }: KnownRun): string | null => {
  if (answer !== null) return `it answered ${JSON.stringify(answer)}`;
  return reason?.includes('secret thought') === true ? 'the reason has a thought' : null;
};

const CHECKS: Readonly<Record<string, Check>> = {
  answer: async (run) => answers('ANSWER a', await run('Repeat SAY:a')),
  usage: async (run, { tokens }) => {
    const { usage } = await run('Repeat SAY:a');
    if (tokens === null) return usage === null ? null : 'it reports usage';
    const found = [usage?.input_tokens, usage?.output_tokens];
    return found.join() === tokens.join() ? null : `${found.join(' and ')} in place of ${tokens.join(' and ')}`;
  },
  sessions: async (run, { tokens }) => {
    for (const [prompt, wanted] of [
      ['SAY:a', 'ANSWER a'],
      ['SAY:b', 'ANSWER a,b'],
      ['SAY:c', 'ANSWER a,b,c'],
    ] as const) {
      const result = await run(`Repeat ${prompt}`, { continued: true });
      const problem = answers(wanted, result);
      if (problem !== null) return problem;
      if (tokens !== null && result.usage?.input_tokens !== tokens[0]) return 'usage of earlier runs was counted again';
    }
    return null;
  },
  commands: async (run) => answers('ANSWER a', await run('/cost SAY:a')),
  files: async (run) => answers('ANSWER a', await run('@/etc/passwd @/etc SAY:a')),
  ...Object.fromEntries(
    ['400', '401', '429', '500'].map((status): [string, Check] => [
      `status ${status}`,
      async (run) => {
        const result = await run(`STATUS:${status}`);
        const named = /asked to fail|status|error|auth|limit/i.test(result.reason ?? '');
        return fails(result) ?? (named ? null : `the reason is ${JSON.stringify(result.reason)}`);
      },
    ]),
  ),
  empty: async (run) => fails(await run('EMPTY')),
  truncated: async (run) => fails(await run('TRUNCATED')),
  refused: async (run) => fails(await run('REFUSED')),
  thoughts: async (run) => fails(await run('THINKONLY')),
  timeout: async (run) => fails(await run('HANG')),
};

/** The time limit of most runs, and of the one that has to be killed, in seconds. */
const [LIMIT, SHORT] = [180, 20];

async function tryAgent(use: string, url: string): Promise<string> {
  const { key = '', base_url: host = 'https://models.test/v1' } = CATALOG.agents[use] ?? {};
  const home = mkdtempSync(join(tmpdir(), 'hookwright-interop-'));
  const program = join(BIN, CATALOG.agents[use]?.command[0]?.toString() ?? '');
  const agent: AgentConfig = {
    use,
    command: [program],
    key: `env:${key}`,
    model: use === 'gemini-cli' ? 'gemini-2.5-flash' : 'double',
    base_url: `${url}${new URL(host).pathname.replace(/\/$/, '')}`,
  };
  const confine = () => (request: Parameters<typeof runProcess>[0]) =>
    runProcess(request, { clock: systemClock, home });
  const tokens = Object.hasOwn(TOKENS, key) ? TOKENS[key as keyof typeof TOKENS] : null;
  const wrong: string[] = [];
  for (const [name, check] of Object.entries(CHECKS)) {
    const plan = compileAgent({ ...agent, timeout_seconds: name === 'timeout' ? SHORT : LIMIT });
    const problem = await check(knownAgent(plan, { home, confine, env: { HOME: home } }), { name: use, tokens });
    console.log(`${problem === null ? 'ok    ' : 'failed'} ${use} ${name}${problem === null ? '' : `: ${problem}`}`);
    if (problem !== null) wrong.push(name);
  }
  rmSync(home, { recursive: true, force: true });
  const count = Object.keys(CHECKS).length;
  const printed = spawnSync(program, ['--version'], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, HOME: tmpdir() },
  });
  const version = /\d+\.\d+\.\d+/.exec(printed.stdout)?.[0] ?? '';
  const result = `${count - wrong.length} of ${count}${wrong.length === 0 ? '' : `, not: ${wrong.join(', ')}`}`;
  return `| \`${use}\` | ${version} | ${new Date().toISOString().slice(0, 10)} | ${result} |`;
}

const BEGIN = '<!-- interop -->';

/** Replaces the rows of these agents in the table of the page. */
function writeRows(rows: readonly string[]): void {
  const page = readFileSync(PAGE, 'utf8');
  const [before = '', rest = ''] = page.split(`${BEGIN}\n`);
  const lines = rest.split('\n');
  const end = lines.findIndex((line, index) => index > 0 && !line.startsWith('|'));
  const table = lines.slice(0, end).filter((line) => line !== '');
  const nameOf = (row: string): string => row.split('|')[1]?.trim() ?? '';
  const kept = table.slice(2).filter((row) => !rows.some((own) => nameOf(own) === nameOf(row)));
  const all = [...table.slice(0, 2), ...[...kept, ...rows].toSorted()];
  writeFileSync(PAGE, `${before}${BEGIN}\n\n${all.join('\n')}\n${lines.slice(end).join('\n')}`);
}

if (!existsSync(BIN)) spawnSync('npm', ['ci', '--ignore-scripts', '--prefix', FOLDER], { stdio: 'inherit' });
const named = process.argv.slice(2);
const agents = named.length === 0 ? Object.keys(CATALOG.agents) : named;
const double = await startModelDouble();
const rows: string[] = [];
for (const use of agents) rows.push(await tryAgent(use, double.url));
double.close();
console.log(rows.join('\n'));
writeRows(rows);
process.exitCode = rows.some((row) => row.includes('not:')) ? 1 : 0;
