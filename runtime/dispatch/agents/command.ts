/**
 * The agent as a program: prompt on stdin, answer on stdout, exit code 0 for success (decisions §5).
 *
 * It is the operator's own program, so it inherits the environment (its PATH, HOME, proxy settings and keys of its
 * own) except for the variables that hold secrets of ours: an agent reads strangers' text and must not be able to
 * print what signs or sends in our name.
 */
import type { CommandAgentPlan } from '../../../schemas/generated/types.ts';
import { printable } from '../../printable.ts';
import type { ProcessResult, RunProcess } from '../../process/run-process.ts';
import type { AgentRequest, AgentRunner } from '../agent-runner.ts';
import { AgentError } from '../agent-runner.ts';

export interface CommandAgentContext {
  readonly run: RunProcess;
  /** The process environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Variables that secret references name. */
  readonly hidden: ReadonlySet<string>;
  /** `<home_dir>`. */
  readonly home: string;
  /** The profile's home: the program's folder. */
  readonly folder: string;
  /** Replaces secrets in what a failed program said last. */
  readonly redact: (text: string) => string;
}

const MAX_STDOUT_BYTES = 1_048_576;
const PLACEHOLDER = /\{(toolsets|session|route|profile)\}/g;

export function createCommandAgent(plan: CommandAgentPlan, context: CommandAgentContext): AgentRunner {
  const inherited = Object.fromEntries(Object.entries(context.env).filter(([name]) => !context.hidden.has(name)));
  const describe = (result: ProcessResult) => explain(result, plan, context.redact);
  return {
    async run(request) {
      const { stdin, ...parts } = compose(plan.argv, request);
      const result = await context.run({
        argv: parts.argv,
        cwd: context.folder,
        env: { ...inherited, ...parts.env, HOOKWRIGHT_HOME: context.home },
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

function compose(argv: readonly string[], request: AgentRequest) {
  // A NUL can stand neither in an argument nor in a variable; a delivery id may come from a payload.
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
      const how = result.code === null ? `died of ${result.signal}` : `exited with ${result.code}`;
      const last = result.stderr.trimEnd().split('\n').at(-1)?.trim() ?? '';
      return last === '' ? `${program} ${how}` : `${program} ${how}: ${printable(redact(last), 200)}`;
    }
  }
}
