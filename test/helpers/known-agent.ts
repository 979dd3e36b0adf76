/** An agent with `use`: compiled against the shipped catalog, and run without a gateway. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { openProgram } from '../../modules/agents/runtime/open-program.ts';
import { HttpPool } from '../../runtime/deliver/http-pool.ts';
import type { AgentFailure, AgentRequest } from '../../runtime/dispatch/agent-runner.ts';
import { AgentError } from '../../runtime/dispatch/agent-runner.ts';
import { createAgents } from '../../runtime/dispatch/agents/create-agents.ts';
import { WorkFolders } from '../../runtime/dispatch/agents/work-folders.ts';
import type { Clock } from '../../runtime/platform/clock.ts';
import { systemClock } from '../../runtime/platform/clock.ts';
import type { Confine } from '../../runtime/platform/process/sandbox.ts';
import type { Usage } from '../../runtime/store/usage.ts';
import type { AgentConfig, CommandAgentPlan } from '../../schemas/generated/types.ts';
import { compileFiles, PROJECT } from './compile.ts';
import { recordLog } from './log.ts';

export const KEY = 'sk-test-0123456789abcdef';

/** The plan of the default agent. @param files further files, such as `~/.hookwright/catalog/agents/mine.yaml` */
export function compileAgent(agent: AgentConfig, files: Readonly<Record<string, string>> = {}): CommandAgentPlan {
  const { output, diagnostics } = compileFiles({ [`${PROJECT}/hookwright.yaml`]: JSON.stringify({ agent }), ...files });
  const plan = output?.table.profiles.default?.agent;
  assert.ok(plan?.kind === 'command', diagnostics.map(({ rule, message }) => `${rule}: ${message}`).join('\n'));
  return plan;
}

export interface KnownRun {
  readonly answer: string | null;
  /** Why it failed; null: it has not. */
  readonly reason: string | null;
  readonly failure: AgentFailure;
  readonly usage: Usage | null;
}

interface KnownAgentOptions {
  /** The home of the gateway. */
  readonly home: string;
  /** Starts its programs. */
  readonly confine: Confine;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly clock?: Pick<Clock, 'now'>;
}

/** Runs prompts. Secrets have the value `KEY`. */
export function knownAgent(
  plan: CommandAgentPlan,
  { home, confine, env = {}, clock = systemClock }: KnownAgentOptions,
) {
  const log = recordLog();
  const profile = { name: 'default', home: '', agent: plan, agents: {}, toolsets: [], targets: {} };
  const secret = { kind: 'env', value: 'WEBHOOK_SECRET', scope: 'default' } as const;
  const agents = createAgents(
    { profiles: { default: profile }, routes: {}, server: { host: '127.0.0.1', port: 0, secret } as never },
    {
      home,
      log,
      clock,
      confine,
      openProgram,
      env: { PATH: process.env.PATH, ...env },
      http: new HttpPool(),
      secrets: { resolve: (ref) => (ref.kind === 'literal' ? ref.value : KEY) },
      redact: (text) => text.replaceAll(KEY, '***'),
      readText: (path) => readFile(path, 'utf8'),
      workFolders: new WorkFolders(log),
    },
  );
  return async (prompt: string, request: Partial<AgentRequest> = {}): Promise<KnownRun> => {
    const used: Usage[] = [];
    const report = { ended: () => {}, used: (usage: Usage) => void used.push(usage) };
    const defaults = { toolsets: [], skills: [], session: 'webhook:pulls:7', profile: 'default', route: 'pulls' };
    const about = { event: 'pull_request', delivery_id: 'd-1', signal: new AbortController().signal };
    try {
      const answer = await agents('default', null)?.run({ prompt, ...defaults, ...about, ...request }, report);
      return { answer: answer ?? null, reason: null, failure: {}, usage: used[0] ?? null };
    } catch (error) {
      assert.ok(error instanceof AgentError, String(error));
      return { answer: null, reason: error.message, failure: error.failure, usage: used[0] ?? null };
    }
  };
}
