/** What is tried with each program. */
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../../runtime/platform/clock.ts';
import { runProcess } from '../../../runtime/platform/process/run-process.ts';
import type { AgentConfig } from '../../../schemas/generated/types.ts';
import { CATALOG } from '../../helpers/compile.ts';
import type { KnownRun } from '../../helpers/known-agent.ts';
import { compileAgent, KEY, knownAgent } from '../../helpers/known-agent.ts';
import { withGateway } from './handed-over.ts';
import type { ModelDouble } from './model-double.ts';
import { TOKENS, toolsOf } from './model-double.ts';
import { packagesOf, relayed, walledAgent } from './walls.ts';

/** A program to try. */
export interface Tried {
  readonly name: string;
  readonly program: string;
  readonly double: ModelDouble;
  /** An empty folder, which is also the user's home. */
  readonly home: string;
}

/** Null: as it should be; `none`: the program cannot, and why; else what is wrong. */
export type Result = string | null | { readonly none: string };

type Check = (tried: Tried) => Promise<Result>;

/** The time limit of most runs, and of the one that has to be killed, in seconds. */
const [LIMIT, SHORT] = [300, 20];

const entryOf = ({ name }: Tried) =>
  CATALOG.agents[name] ?? { title: '', command: [''], output: { answer: { path: '' } } };

/** Prompt and answer tokens of one answer; null: the program reports none. */
function tokensOf(tried: Tried): readonly [number, number] | null {
  const { key = '', output } = entryOf(tried);
  return output.usage !== undefined && Object.hasOwn(TOKENS, key) ? TOKENS[key as keyof typeof TOKENS] : null;
}

/** @param server an address of the double */
function agentOf(tried: Tried, server: string): AgentConfig & { readonly command: [string] } {
  const { key = '', base_url: host = 'https://models.test/v1' } = entryOf(tried);
  return {
    use: tried.name,
    command: [tried.program],
    key: `env:${key}`,
    model: tried.name === 'gemini-cli' ? 'gemini-2.5-flash' : 'double',
    base_url: `${server}${new URL(host).pathname.replace(/\/$/, '')}`,
    timeout_seconds: LIMIT,
  };
}

function runnerOf(tried: Tried, more: AgentConfig = {}): ReturnType<typeof knownAgent> {
  const { home, double } = tried;
  const plan = compileAgent({ ...agentOf(tried, double.url), ...more });
  const confine = () => (request: Parameters<typeof runProcess>[0]) =>
    runProcess(request, { clock: systemClock, home });
  return knownAgent(plan, { home, confine, env: { HOME: home } });
}

const answers = (wanted: string, { answer, reason }: KnownRun): string | null =>
  answer?.trim() === wanted ? null : `it answered ${JSON.stringify(answer ?? reason)}`;

const fails = ({ answer, reason }: KnownRun): string | null => {
  if (answer !== null) return `it answered ${JSON.stringify(answer)}`;
  return reason?.includes('secret thought') === true ? 'the reason has a thought' : null;
};

/** The names of the tools that the model was offered. */
async function offered(tried: Tried, toolsets: readonly string[]): Promise<readonly string[]> {
  tried.double.reset();
  const problem = answers('ANSWER a', await runnerOf(tried)('Repeat SAY:a', { toolsets }));
  if (problem !== null) throw new Error(problem);
  const names = tried.double.requests.flatMap(({ body }) => toolsOf(body).map(({ name }) => name));
  return [...new Set(names)].toSorted();
}

/** The tools of a program whose entry does not name them: it switches them on or off. */
const SWITCHED: Readonly<Record<string, readonly string[]>> = { codex: ['exec_command', 'write_stdin'] };

/** No tool without a toolset, and with each toolset of its entry only tools of this one. */
async function checkToolsets(tried: Tried): Promise<Result> {
  const { toolsets } = entryOf(tried);
  if (toolsets === undefined) return { none: 'its tools are the same for all toolsets' };
  const without = await offered(tried, []);
  if (without.length > 0) return `without a toolset it has ${without.join(', ')}`;
  for (const [toolset, names] of Object.entries(toolsets.names)) {
    const wanted = SWITCHED[tried.name] ?? names;
    const found = await offered(tried, [toolset]);
    const others = found.filter((name) => !wanted.includes(name));
    if (others.length > 0) return `with ${toolset} it also has ${others.join(', ')}`;
    if (found.length === 0) return `with ${toolset} it has no tool`;
  }
  return null;
}

/** The key reaches the server, in a header, and nothing that the program had, wrote or printed. */
async function checkHiddenKey(tried: Tried, server: string): Promise<Result> {
  const { double, home } = tried;
  const { run, found, environment } = walledAgent(agentOf(tried, server), home, double.certificate);
  double.reset();
  const problem = answers('ANSWER a', await run('Repeat SAY:a'));
  if (problem !== null) return problem;
  const leaks = double.requests.filter(({ path, body }) => `${path}${JSON.stringify(body)}`.includes(KEY));
  if (double.requests.length === 0 || leaks.length > 0) return 'the key was not in a header alone';
  if (!environment().includes(`${entryOf(tried).key}=`)) return 'its environment was not seen';
  return found.length === 0 ? null : `the key is in ${found.join(', ')}`;
}

/** One gateway: an output is delivered, a value that is not allowed and no output at all fail, `noop` ends well. */
async function checkOutputs(tried: Tried, agent: AgentConfig): Promise<Result> {
  if (entryOf(tried).mcp === undefined) return { none: 'it speaks no MCP' };
  const { home, double } = tried;
  const env = { HOME: home, NODE_EXTRA_CA_CERTS: double.certificate };
  return withGateway({ ...agent, key: 'env:MODEL' }, { home, env }, async (send) => {
    const cases = [
      ['CALL:note{"text":"high"} SAY:a', 'done', /"high"/],
      ['CALL:noop{"reason":"Nothing to do."} SAY:b', 'done', /Nothing to do/],
      ['CALL:note{"text":"merge"} SAY:c', 'dead', /no_output/],
      ['SAY:d', 'dead', /no_output/],
    ] as const;
    for (const [text, state, pattern] of cases) {
      const shown = await send('ask', text);
      if (shown.state !== state || !pattern.test(JSON.stringify(shown)))
        return `after ${text}: ${JSON.stringify(shown).slice(0, 1500)}`;
    }
    return null;
  });
}

/** The second event is ignored, because the first one has used up the budget. */
async function checkBudget(tried: Tried): Promise<Result> {
  if (tokensOf(tried) === null) return { none: 'it reports no tokens' };
  const agent = { ...agentOf(tried, tried.double.url), key: 'env:MODEL' };
  return withGateway(agent, { home: tried.home, env: { HOME: tried.home } }, async (send) => {
    const first = await send('spend', 'Repeat SAY:a');
    if (first.state !== 'done') return `the first run: ${JSON.stringify(first).slice(0, 1500)}`;
    const second = await send('spend', 'Repeat SAY:b');
    return /ignored.*budget/s.test(second.state) ? null : `the second run: ${second.state}`;
  });
}

export const CHECKS: Readonly<Record<string, Check>> = {
  answer: async (tried) => answers('ANSWER a', await runnerOf(tried)('Repeat SAY:a')),
  usage: async (tried) => {
    const { usage } = await runnerOf(tried)('Repeat SAY:a');
    const tokens = tokensOf(tried);
    if (tokens === null) return usage === null ? { none: 'it reports no tokens' } : 'it reports usage';
    const found = [usage?.input_tokens, usage?.output_tokens];
    return found.join() === tokens.join() ? null : `${found.join(' and ')} in place of ${tokens.join(' and ')}`;
  },
  budget: checkBudget,
  'three runs of a session': async (tried) => {
    const run = runnerOf(tried);
    const tokens = tokensOf(tried);
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
  toolsets: checkToolsets,
  'prompt `/cost`': async (tried) => answers('ANSWER a', await runnerOf(tried)('/cost SAY:a')),
  'prompt `@/etc/passwd`': async (tried) => {
    tried.double.reset();
    const problem = answers('ANSWER a', await runnerOf(tried)('@/etc/passwd @/etc SAY:a'));
    const sent = JSON.stringify(tried.double.requests);
    return problem ?? (/root:x:0|"hosts"/.test(sent) ? 'it sent the file' : null);
  },
  ...Object.fromEntries(
    ['400', '401', '429', '500'].map((status): [string, Check] => [
      `status ${status}`,
      async (tried) => {
        const result = await runnerOf(tried)(`STATUS:${status}`);
        const named = /asked to fail|status|error|auth|limit/i.test(result.reason ?? '');
        return fails(result) ?? (named ? null : `the reason is ${JSON.stringify(result.reason)}`);
      },
    ]),
  ),
  'empty answer': async (tried) => fails(await runnerOf(tried)('EMPTY')),
  'truncated answer': async (tried) => fails(await runnerOf(tried)('TRUNCATED')),
  'refused answer': async (tried) => fails(await runnerOf(tried)('REFUSED')),
  'reasoning only': async (tried) => fails(await runnerOf(tried)('THINKONLY')),
  'time limit': async (tried) => fails(await runnerOf(tried, { timeout_seconds: SHORT })('HANG')),
  'sandbox, hidden key': (tried) => relayed(tried.double.tlsUrl, (server) => checkHiddenKey(tried, server)),
  outputs: (tried) => checkOutputs(tried, agentOf(tried, tried.double.url)),
  'outputs in the sandbox': (tried) =>
    relayed(tried.double.tlsUrl, (server) =>
      checkOutputs(tried, { ...agentOf(tried, server), sandbox: { read: [...packagesOf(tried.program)] } }),
    ),
};

/** Runs one, in a new folder. */
export async function runCheck(name: string, tried: Tried): Promise<Result> {
  const home = mkdtempSync(join(tried.home, 'check-'));
  return (CHECKS[name] ?? (() => Promise.resolve('no such check')))({ ...tried, home });
}
