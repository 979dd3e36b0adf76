/** A program that acts on words of its prompt by itself, and receives untrusted text (decisions §5). */

import { agentPlan } from '../../../../base/agent-plan.ts';
import { rule } from '../../../../compiler/rules/support/rule.ts';
import type { RouteView } from '../../../../compiler/views/views.ts';
import type { AgentConfig } from '../../../../schemas/generated/types.ts';
import { describePart, isWholePayload } from '../untrusted/describe-part.ts';
import type { StartedAgent } from '../untrusted/expanding-programs.ts';
import { programThatExpands, programWithCommands } from '../untrusted/expanding-programs.ts';
import { nameRoutes, reachedRoutes } from '../untrusted/reached-routes.ts';
import { untrustedParts } from '../untrusted/untrusted-texts.ts';

/** `confined`, toolsets and `accept_untrusted` are about what the agent does: this happens before it does anything. */
export const agentExpandsText = rule('agent-expands-text', {
  agent({ agent: { path, config }, routes }, report) {
    const program = programThatExpands(config);
    const reached = program === null ? [] : reachedRoutes(routes());
    const [first] = reached;
    if (program === null || first === undefined) return;
    const { table, facts } = first.route.scope;
    const walls = missingWalls(config, config.sandbox ?? table.gateway.sandbox, facts.home);
    if (walls === null) return;
    const from = program.reads === 'anywhere' ? 'any file' : 'a file of its folder';
    const message = `${describePart(first.part)} of ${nameRoutes(reached)} reaches ${program.name}, which sends ${from} that the text names as \`@path\` to the model, even without tools`;
    report({ path: [...path, 'command'], at: 'value', message, hint: `${program.remedy}; ${walls}` });
  },
  route(route, report) {
    const program = programWithCommands(agentOf(route));
    if (program === null || (route.config.skills ?? []).length > 0 || isMarked(route)) return;
    const first = untrustedParts(route).find((part) => part.offset === 0 && !isWholePayload(part));
    if (first === undefined) return;
    const message = `the prompt begins with ${describePart(first)}, and ${program.name} runs a prompt that begins with \`/\` as a command of its own`;
    const hint = `write words of your own before it: \`prompt: "Read this: ${first.placeholder}"\``;
    const within = { offset: 0, length: first.placeholder?.length ?? 0 };
    report({ path: ['prompt'], at: 'value', within, message, hint });
  },
});

/** The markers and what explains them come before the text. */
const isMarked = ({ config, scope }: RouteView): boolean =>
  (config.untrusted ?? scope.table.gateway.untrusted) === 'mark';

function agentOf({ mode, config, profilePlan }: RouteView): StartedAgent {
  const agent = mode !== 'agent' || profilePlan === null ? null : agentPlan(profilePlan, config.agent ?? null);
  return agent?.kind === 'command' ? { command: agent.argv } : {};
}

interface Opened {
  readonly read?: readonly string[];
  readonly write?: readonly string[];
}

/** Null if the sandbox keeps the homes away. @param home the gateway's, absolute */
function missingWalls({ cwd }: AgentConfig, sandbox: Opened | null, home: string): string | null {
  if (sandbox === null) return 'best in a `sandbox` as well';
  const paths = [...(sandbox.read ?? []), ...(sandbox.write ?? []), ...(cwd === undefined ? [] : [cwd])];
  const opened = paths.find((path) => holdsHome(path.replace(/\/+$/, ''), home));
  return opened === undefined ? null : `its \`sandbox\` does not prevent it, because \`${opened}\` opens the home`;
}

/** The home of a user, by where systems have it, or a folder above: which user runs the gateway is not known here. */
const USER_HOMES = /^(?:~|\/home(?:\/[^/]+)?|\/Users(?:\/[^/]+)?|\/root|\.\.?)?$/;

function holdsHome(path: string, home: string): boolean {
  if (USER_HOMES.test(path)) return true;
  return path.startsWith('~/') ? `${home}/`.includes(`${path.slice(1)}/`) : `${home}/`.startsWith(`${path}/`);
}
