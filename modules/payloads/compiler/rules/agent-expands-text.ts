/** A program that acts on words of its prompt by itself, and receives untrusted text (decisions §5). */
import { posix } from 'node:path';
import { agentPlan } from '../../../../base/agent-plan.ts';
import { rule } from '../../../../compiler/rules/support/rule.ts';
import type { MachineFacts } from '../../../../compiler/views/machine-facts.ts';
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
    const start = programThatExpands(config);
    const reached = start === null ? [] : reachedRoutes(routes());
    const [first] = reached;
    if (start === null || first === undefined) return;
    const { program, getsVariables } = start;
    const { table, facts } = first.route.scope;
    const sandbox = config.sandbox ?? table.gateway.sandbox;
    // The folder that such a program reads is open to it in a sandbox, too.
    const walls = program.reads === 'anywhere' ? missingWalls(config, sandbox, facts, program.ownFolders) : '';
    if (walls === null) return;
    const from = program.reads === 'anywhere' ? 'any file' : 'a file of its folder';
    const message = `${describePart(first.part)} of ${nameRoutes(reached)} reaches ${program.name}, which sends ${from} that the text names as \`@path\` to the model, even without tools`;
    const hint = `${getsVariables ? program.remedy : program.remedyInside}${walls}`;
    report({ path: [...path, 'command'], at: 'value', message, hint });
  },
  route(route, report) {
    const program = programWithCommands(agentOf(route));
    if (program === null || isMarked(route) || hasSkill(route)) return;
    const { prompt = '' } = route.config;
    const parts = untrustedParts(route);
    const first = prompt.startsWith('/') ? parts[0] : parts.find((part) => part.offset === 0 && !isWholePayload(part));
    if (first === undefined) return;
    const begins = prompt.startsWith('/') ? '`/`, which is followed by ' : '';
    const message = `the prompt begins with ${begins}${describePart(first)}, and ${program.name} runs a prompt that begins with \`/\` as a command of its own`;
    const within = { offset: 0, length: first.offset + (first.placeholder?.length ?? 0) };
    report({ path: ['prompt'], at: 'value', within, message, hint: 'put words of your own first' });
  },
});

/** A skill comes before the prompt, unless there is none of this name. */
const hasSkill = ({ config, profilePlan, scope }: RouteView): boolean =>
  profilePlan !== null && (config.skills ?? []).some((name) => scope.facts.skill(profilePlan.home, name));

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

/**
 * Null if the sandbox keeps closed what sandboxes hide, except the program's own settings: homes of users and of the
 * gateway with all that is in them, temporary folders, `/run` and `.env`.
 */
function missingWalls(
  { cwd }: AgentConfig,
  sandbox: Opened | null,
  facts: MachineFacts,
  ownFolders: readonly string[],
): string | null {
  if (sandbox === null) return '; best in a `sandbox` as well';
  const paths = [...(sandbox.read ?? []), ...(sandbox.write ?? []), ...(cwd === undefined ? [] : [cwd])];
  const opened = paths.find((path) => opensHidden(folderOf(path, facts), facts.home, ownFolders));
  return opened === undefined ? null : `; its \`sandbox\` does not prevent it, because it opens \`${opened}\``;
}

/** Normalised, with `/` at its end, and `/~` for the home of the user. */
function folderOf(path: string, { home, variable }: MachineFacts): string {
  const base = /^~(?:\/|$)/.test(path) ? '/' : home;
  const folder = posix.join(path.startsWith('/') ? '/' : base, path, '/');
  const userHome = posix.join(variable('default', 'HOME') || '/~', '/');
  return userHome !== '/' && folder.startsWith(userHome) ? folder.replace(userHome, '/~/') : folder;
}

/** Where systems have the homes of users: which user runs the gateway is not known here. */
const USER_HOME = /^\/(?:~|root|(?:home|Users)\/[^/]+)\/(.*)$/s;
const HIDDEN =
  /^\/(?:(?:home|Users|var|private)\/)?$|^\/(?:run|tmp|var\/(?:run|tmp)|private\/(?:tmp|var))\/|\/\.env(?:[./]|$)/;

function opensHidden(folder: string, home: string, ownFolders: readonly string[]): boolean {
  const [, below] = USER_HOME.exec(folder) ?? [];
  if (ownFolders.some((own) => below?.startsWith(`${own}/`))) return false;
  const gateway = `${home}/`;
  return below !== undefined || HIDDEN.test(folder) || folder.startsWith(gateway) || gateway.startsWith(folder);
}
