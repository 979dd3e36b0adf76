/** An unconfined program that receives untrusted text (decisions §5). */

import { rule } from '../../../../compiler/rules/support/rule.ts';
import type { RouteView } from '../../../../compiler/views/views.ts';
import { describePart } from '../untrusted/describe-part.ts';
import type { UntrustedPart } from '../untrusted/untrusted-texts.ts';
import { untrustedParts } from '../untrusted/untrusted-texts.ts';

export const agentUnconfined = rule('agent-unconfined', {
  agent({ config: { agent }, routes }, report) {
    if (agent?.command === undefined || agent.confined !== undefined || isToldToolsets(agent.command)) return;
    const reached = firstReached(routes());
    const [first] = reached;
    if (first === undefined) return;
    const message = `${describePart(first.part)} of ${listRoutes(reached.map(({ name }) => name))} reaches \`${agent.command[0]}\`, and nothing limits what it can do`;
    const hint =
      'pass `{toolsets}` to it if it accepts them, or state what limits it: `confined: <a container, another user, no tools>`';
    report({ path: ['agent', 'command'], at: 'value', message, hint });
  },
});

/** Also true if the command reads the variable, because placeholders in code are rejected. Shell comments do not count. */
const isToldToolsets = (command: readonly string[]): boolean =>
  command.some((argument) => /\{toolsets\}|HOOKWRIGHT_TOOLSETS/.test(argument.replace(/(?:^|\s)#.*$/gm, '')));

interface Reached {
  readonly name: string;
  readonly part: UntrustedPart;
}

const MAX_ROUTES = 3;

/** Returns at most one more route than the message names. */
function firstReached(routes: Iterable<RouteView>): readonly Reached[] {
  const reached: Reached[] = [];
  for (const route of routes) {
    const [part] = route.config.accept_untrusted === undefined ? untrustedParts(route) : [];
    if (part !== undefined) reached.push({ name: route.name, part });
    if (reached.length > MAX_ROUTES) break;
  }
  return reached;
}

function listRoutes(names: readonly string[]): string {
  const shown = names.slice(0, MAX_ROUTES).map((name) => `\`${name}\``);
  return `the route${names.length === 1 ? '' : 's'} ${shown.join(', ')}${names.length > MAX_ROUTES ? ' and others' : ''}`;
}
