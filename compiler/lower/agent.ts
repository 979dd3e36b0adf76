/** Lowers `agent:`, the program or API that runs prompts (decisions §5), with its sandbox and its budget. */
import { splitField } from '../../base/paths.ts';
import type {
  AgentConfig,
  AgentPlan,
  BudgetConfig,
  BudgetPlan,
  CommandAgentPlan,
  GuardedSecretPlan,
  SandboxConfig,
  SandboxPlan,
  SecretRef,
} from '../../schemas/generated/types.ts';
import type { ExpandedAgent, KnownToolsets } from '../config/agents.ts';
import { jobToolsets } from '../config/agents.ts';
import { parseSecretRef } from '../text/secret-ref.ts';

const DEFAULT_TIMEOUT_SECONDS = 900;
/** Default history of a session. */
const DEFAULT_TURNS = 20;
const DEFAULT_CHARS = 60_000;

/** @param scope the profile that the agent belongs to @param gateway the sandbox of agents without their own */
export function lowerAgent(
  config: ExpandedAgent,
  scope: string,
  known: KnownToolsets,
  gateway: SandboxPlan | null,
): AgentPlan {
  const timeout_seconds = config.timeout_seconds ?? DEFAULT_TIMEOUT_SECONDS;
  const common = {
    max_attempts: config.max_attempts ?? 1,
    max_concurrent: config.max_concurrent ?? null,
    toolsets: config.toolsets === undefined ? null : jobToolsets(config.toolsets, known),
    ...lowerBudget(config),
  };
  if (config.command !== undefined) {
    const { command: argv, cwd = null, work = 'run' } = config;
    const sandbox = lowerSandbox(config.sandbox) ?? gateway;
    const limited = config.confined === undefined ? {} : ({ confined: true } as const);
    const secrets = lowerEnv(config.env ?? {}, scope);
    const plan = { kind: 'command', argv, cwd, work, ...secrets, sandbox, ...limited } as const;
    // Two programs in a sandbox never share a folder, and all runs of this agent have the same one.
    const alone = sandbox !== null && (cwd !== null || work === 'shared') ? { max_concurrent: 1 } : {};
    const { program } = config;
    const printed = program === undefined ? lowerPrinted(config) : { program };
    return { ...plan, ...printed, timeout_seconds, ...common, ...alone };
  }
  const { openai } = config;
  if (openai === undefined) return { kind: 'preview', timeout_seconds, ...common };
  const { base_url, allow_http = false, model, api_key, system = null, headers, deliver_truncated, ...rest } = openai;
  const { history_turns: turns = DEFAULT_TURNS, history_chars: chars = DEFAULT_CHARS, ...others } = rest;
  const { timeout_seconds: own = timeout_seconds, ...body } = others;
  return {
    kind: 'openai',
    base_url,
    allow_http,
    model,
    api_key: api_key === undefined ? null : parseSecretRef(api_key, scope),
    system,
    timeout_seconds: own,
    ...(headers === undefined ? {} : { headers: lowerEnv(headers, scope).env }),
    ...(Object.keys(body).length === 0 ? {} : { body }),
    ...(deliver_truncated === true ? { deliver_truncated } : {}),
    ...(turns === 0 || chars === 0 ? {} : { history: { turns, chars } }),
    ...common,
  };
}

/** The paths of answer and usage in the program's output; omitted if the output is the answer. */
function lowerPrinted({
  answer_path: answer,
  usage_paths: usage,
}: AgentConfig): Pick<CommandAgentPlan, 'answer_path' | 'usage_paths'> {
  const pathsOf = (paths: string | readonly string[] = []): string[][] =>
    (typeof paths === 'string' ? [paths] : paths).map(splitField);
  return {
    ...(answer === undefined ? {} : { answer_path: splitField(answer) }),
    ...(usage === undefined
      ? {}
      : {
          usage_paths: { input: pathsOf(usage.input), output: pathsOf(usage.output), cost: pathsOf(usage.cost) },
        }),
  };
}

function lowerEnv(config: NonNullable<AgentConfig['env']>, scope: string): Pick<CommandAgentPlan, 'env' | 'only_to'> {
  const env: Record<string, SecretRef> = {};
  const only_to: Record<string, GuardedSecretPlan> = {};
  for (const [name, entry] of Object.entries(config)) {
    const { secret, ...places } = typeof entry === 'string' ? { secret: entry } : entry;
    env[name] = parseSecretRef(secret, scope);
    if ('only_to' in places) only_to[name] = places;
  }
  return { env, only_to };
}

/** Null: no sandbox, so the program has the access of the gateway. */
export function lowerSandbox(config: SandboxConfig | undefined): SandboxPlan | null {
  if (config === undefined) return null;
  const { network = 'none', read = [], write = [], limits } = config;
  return { network: network === 'none' ? [] : network, read, write, ...(limits === undefined ? {} : { limits }) };
}

/** Omitted if there is none. */
export function lowerBudget({ budget }: { readonly budget?: BudgetConfig }): { readonly budget?: BudgetPlan } {
  if (budget === undefined) return {};
  const { runs = null, tokens = null, cost = null, ...rest } = budget;
  return { budget: { runs, tokens, cost, ...rest } };
}
