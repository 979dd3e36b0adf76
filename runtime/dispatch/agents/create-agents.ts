/** Creates the agents of a table's profiles, with their skills, limits and homes, once per table. */
import { join } from 'node:path';
import { codeOf, messageOf } from '../../../base/errors.ts';
import { agentLabel, agentPlans, own } from '../../../base/names.ts';
import type { AgentPlan, ProfilePlan, RouteTable } from '../../../schemas/generated/types.ts';
import type { HttpPool } from '../../deliver/http-pool.ts';
import type { Redact } from '../../deliver/redact.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/log.ts';
import type { Confine } from '../../platform/process/sandbox.ts';
import type { SecretResolver } from '../../platform/secrets.ts';
import { explainSecrets, SecretError, secretNames, tableSecretRefs } from '../../platform/secrets.ts';
import type { AgentRunner, RunAgent } from '../agent-runner.ts';
import { AgentError } from '../agent-runner.ts';
import type { ProfileAgent } from '../context.ts';
import { configuredFolder, createCommandAgent } from './command.ts';
import type { OpenProgram } from './known-program.ts';
import { createOpenAiAgent } from './openai.ts';
import { missingAgent } from './program.ts';
import type { WorkFolders } from './work-folders.ts';

interface AgentsContext {
  /** `<home_dir>`. */
  readonly home: string;
  /** The process environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Pick<Clock, 'now'>;
  readonly confine: Confine;
  readonly http: HttpPool;
  readonly secrets: SecretResolver;
  readonly readText: ReadText;
  readonly log: Logger;
  /** Replace the agents of these names, in every profile. */
  readonly functions?: AgentFunctions;
  /** Replaces every known secret. */
  readonly redact: Redact;
  readonly workFolders: WorkFolders;
  /** Opens the programs of `use`. */
  readonly openProgram?: OpenProgram | null;
}

/** Null for a profile or an agent that the table does not have. @param name null: the default agent */
export type Agents = (profile: string, name: string | null) => ProfileAgent | null;

/** Agents of a program that embeds the runtime, by name; `default`: the default agent. */
export type AgentFunctions = Readonly<Record<string, RunAgent>>;

/** The function that replaces the agent; null: the agent of the table runs. */
export const functionFor = (functions: AgentFunctions, name: string | null): RunAgent | null =>
  own(functions, name ?? 'default') ?? null;

/** Creates the agents and warns of programs that cannot be started. @throws SecretError when a secret cannot be resolved */
export function createAgents(
  table: Pick<RouteTable, 'profiles' | 'routes' | 'server'>,
  context: AgentsContext,
): Agents {
  const hidden = secretNames(tableSecretRefs(table));
  const agents = new Map<string, ProfileAgent>();
  const all = Object.values(table.profiles).flatMap((profile) =>
    agentPlans(profile).map(([, plan]) => ({ plan, path: folderOf(profile, plan, context) })),
  );
  const written = all.flatMap(({ plan }) => (plan.kind === 'command' ? (plan.sandbox?.write ?? []) : []));
  for (const profile of Object.values(table.profiles)) {
    const folder = join(context.home, profile.home);
    for (const [name, plan] of agentPlans(profile)) {
      const own = folderOf(profile, plan, context);
      const others = all.flatMap(({ path }) => (path === null || path === own ? [] : path));
      const create = (): AgentRunner =>
        createRunner([profile.name, name, plan], { ...context, hidden, folder, others, written });
      const label = agentLabel(null, name);
      const runner = explainSecrets(create, (reason) => new SecretError(`${label}: ${reason}`));
      agents.set(agentKey(profile.name, name), {
        timeout_ms: plan.timeout_seconds * 1000,
        max_attempts: plan.max_attempts,
        ...('history' in plan && functionFor(context.functions ?? {}, name) === null ? { history: plan.history } : {}),
        run: async (request, report) => {
          const skills = await loadSkills(request.skills, folder, context);
          return runner.run({ ...request, prompt: skills + request.prompt }, report);
        },
      });
    }
  }
  return (profile, name) => agents.get(agentKey(profile, name)) ?? null;
}

const agentKey = (profile: string, name: string | null): string => JSON.stringify([profile, name]);

/** The folder that an agent is configured to work in; null: one below its profile's home. */
const folderOf = ({ home }: ProfilePlan, plan: AgentPlan, context: AgentsContext): string | null =>
  plan.kind === 'command' ? configuredFolder(plan, { ...context, folder: join(context.home, home) }) : null;

type RunnerContext = AgentsContext & {
  readonly hidden: ReadonlySet<string>;
  readonly folder: string;
  readonly others: readonly string[];
  readonly written: readonly string[];
};

const RUNNERS: {
  readonly [K in AgentPlan['kind']]: (plan: Extract<AgentPlan, { kind: K }>, context: RunnerContext) => AgentRunner;
} = {
  command: createCommandAgent,
  openai: createOpenAiAgent,
  preview: () => previewAgent,
};

type NamedAgent = readonly [profile: string, name: string | null, plan: AgentPlan];

function createRunner([profile, name, plan]: NamedAgent, context: RunnerContext): AgentRunner {
  const replaced = functionFor(context.functions ?? {}, name);
  if (replaced !== null) return createFunctionAgent(replaced);
  const reason = missingAgent(plan, context);
  if (reason !== null) {
    const about = name === null ? { profile, reason } : { profile, agent: name, reason };
    context.log.warn(about, 'cannot start the agent program: its runs will fail');
  }
  const create = RUNNERS[plan.kind] as (plan: AgentPlan, context: RunnerContext) => AgentRunner;
  return create(plan, context);
}

/** The default agent. It returns the prompt as its answer, so that a route can be tried without an agent. */
const previewAgent: AgentRunner = { run: ({ prompt }) => Promise.resolve(prompt) };

/** An agent that is a function of the embedding program. */
function createFunctionAgent(run: RunAgent): AgentRunner {
  return {
    run: async (request) => {
      const text: unknown = await run(request);
      if (typeof text !== 'string') throw new AgentError(`the agent returned ${typeof text} instead of a text`);
      return text;
    },
  };
}

/** Reads the text of a regular file; rejects when there is none. */
type ReadText = (path: string) => Promise<string>;

/** No separators and no leading dot: a skill is a folder directly below `skills`. */
const NAME = /^[A-Za-z0-9_][A-Za-z0-9._-]*$/;

/** Returns the texts, each followed by a blank line. An unknown skill is logged and left out. */
export async function loadSkills(
  names: readonly string[],
  home: string,
  { readText, log }: { readonly readText: ReadText; readonly log: Logger },
): Promise<string> {
  let text = '';
  for (const skill of names) {
    const path = join(home, 'skills', skill, 'SKILL.md');
    if (!NAME.test(skill)) {
      log.warn({ skill, path }, 'unknown skill');
      continue;
    }
    try {
      text += `${(await readText(path)).trim()}\n\n`;
    } catch (error) {
      if (codeOf(error) === 'ENOENT') log.warn({ skill, path }, 'unknown skill');
      else log.warn({ skill, path, reason: messageOf(error) }, 'cannot read a skill');
    }
  }
  return text;
}
