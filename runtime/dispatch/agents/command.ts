/**
 * The agent as a program: prompt on stdin, answer on stdout, exit code 0 for success (decisions §5).
 *
 * An agent reads untrusted text, so it must not have the secrets that sign or send in the gateway's name. Its environment
 * holds only allowed variables and those that `agent.env` names. Its working folder is its own, not the home, which has
 * the store and `.env`. This does not confine the agent: it runs as the same user.
 */

import { mkdir, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { codeOf } from '../../../base/code-of.ts';
import type { CommandAgentPlan } from '../../../schemas/generated/types.ts';
import { printableStart } from '../../platform/printable.ts';
import { allowedEnvironment } from '../../platform/process/child-environment.ts';
import type { ProcessResult, RunProcess } from '../../platform/process/run-process.ts';
import type { SecretResolver } from '../../platform/secrets/secrets.ts';
import { explainSecrets, SecretError } from '../../platform/secrets/secrets.ts';
import type { AgentRequest, AgentRunner } from '../agent-runner.ts';
import { AgentError } from '../agent-runner.ts';
import { locateProgram } from './program.ts';

export interface CommandAgentContext {
  readonly run: RunProcess;
  /** The process environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Variables that secret references name. */
  readonly hidden: ReadonlySet<string>;
  /** Resolves the references of `agent.env`. */
  readonly secrets: SecretResolver;
  /** `<home_dir>`. */
  readonly home: string;
  /** The profile's home. */
  readonly folder: string;
  /** Replaces secrets in the last line that a failed program wrote to stderr. */
  readonly redact: (text: string) => string;
}

const MAX_STDOUT_BYTES = 1_048_576;
const PLACEHOLDER = /\{(toolsets|session|route|profile)\}/g;

/** @throws SecretError when a reference of `agent.env` cannot be resolved */
export function createCommandAgent(plan: CommandAgentPlan, context: CommandAgentContext): AgentRunner {
  const inherited = allowedEnvironment(context.env, context.hidden);
  const own = Object.fromEntries(
    Object.entries(plan.env).map(([name, ref]) => {
      const read = (): string => context.secrets.resolve(ref, name);
      return [name, explainSecrets(read, (reason) => new SecretError(`env.${name}: ${reason}`))];
    }),
  );
  const cwd = folderOf(plan, context);
  const [program = '', ...rest] = plan.argv;
  const argv = [locateProgram(program, context.folder), ...rest];
  const describe = (result: ProcessResult) => explain(result, plan, context.redact);
  return {
    async run(request) {
      const { stdin, ...parts } = compose(argv, request);
      await prepareFolder(cwd, plan);
      const result = await context.run({
        argv: parts.argv,
        cwd,
        env: { ...inherited, ...own, ...parts.env, HOOKWRIGHT_HOME: context.home },
        stdin,
        timeoutMs: plan.timeout_seconds * 1000,
        maxStdoutBytes: MAX_STDOUT_BYTES,
        signal: request.signal,
      });
      if (result.kind === 'exit' && result.code === 0) return result.stdout.toString('utf8');
      throw new AgentError(describe(result));
    },
  };
}

function folderOf({ cwd }: CommandAgentPlan, { folder, env }: CommandAgentContext): string {
  if (cwd === null) return join(folder, 'work');
  if (cwd.startsWith('~/')) return join(env.HOME || homedir(), cwd.slice(2));
  return isAbsolute(cwd) ? cwd : join(folder, cwd);
}

/** Creates the default folder when it is missing; a configured folder must exist. */
async function prepareFolder(folder: string, { cwd }: CommandAgentPlan): Promise<void> {
  try {
    if (cwd === null) await mkdir(folder, { recursive: true, mode: 0o700 });
    if ((await stat(folder)).isDirectory()) return;
  } catch (error) {
    throw new AgentError(`its folder ${folder} cannot be used (${codeOf(error) ?? String(error)})`);
  }
  throw new AgentError(`its folder ${folder} is not a folder`);
}

function compose(argv: readonly string[], request: AgentRequest) {
  // Neither an argument nor a variable can hold a NUL, but a delivery id from a payload can.
  const plain = (text: string): string => text.replaceAll('\0', '');
  const toolsets = request.toolsets.join(',');
  const session = plain(request.session);
  const { route, profile } = request;
  const values: Readonly<Record<string, string>> = { toolsets, session, route, profile };
  return {
    argv: argv.map((entry) => entry.replace(PLACEHOLDER, (_, name: string) => values[name] ?? '')),
    stdin: request.prompt,
    env: {
      HOOKWRIGHT_PROFILE: profile,
      HOOKWRIGHT_ROUTE: route,
      HOOKWRIGHT_EVENT: plain(request.event),
      HOOKWRIGHT_DELIVERY_ID: plain(request.delivery_id),
      HOOKWRIGHT_SESSION: session,
      HOOKWRIGHT_TOOLSETS: toolsets,
      HOOKWRIGHT_SKILLS: request.skills.join(','),
    },
  };
}

function explain(result: ProcessResult, plan: CommandAgentPlan, redact: (text: string) => string): string {
  const [program = ''] = plan.argv;
  switch (result.kind) {
    case 'spawn_failed':
      return `${program} cannot be started: ${result.code}`;
    case 'timeout':
      return `${program} gave no answer within ${plan.timeout_seconds} s`;
    case 'overflow':
      return `${program} printed more than ${MAX_STDOUT_BYTES} bytes`;
    case 'aborted':
      return `${program} was stopped`;
    case 'exit': {
      const how = result.code === null ? `was terminated by ${result.signal}` : `exited with ${result.code}`;
      const last = result.stderr.trimEnd().split('\n').at(-1)?.trim() ?? '';
      return last === '' ? `${program} ${how}` : `${program} ${how}: ${printableStart(redact(last), 200)}`;
    }
  }
}
