/** An unconfined program that receives untrusted text (decisions §5). */

import { rule } from '../../../../compiler/rules/support/rule.ts';
import { describePart } from '../untrusted/describe-part.ts';
import { firstReached, nameRoutes } from '../untrusted/reached-routes.ts';

export const agentUnconfined = rule('agent-unconfined', {
  agent({ agent: { path, config: agent }, routes }, report) {
    if (agent.command === undefined || agent.confined !== undefined || isToldToolsets(agent.command)) return;
    const reached = firstReached(routes());
    const [first] = reached;
    if (first === undefined || agent.sandbox !== undefined || first.route.scope.table.gateway.sandbox !== null) return;
    const message = `${describePart(first.part)} of ${nameRoutes(reached)} reaches \`${agent.command[0]}\`, and nothing limits what it can do`;
    const hint =
      'give it a `sandbox`, pass `{toolsets}` to it if it accepts them, or state what limits it: `confined: <a container, another user, no tools>`';
    report({ path: [...path, 'command'], at: 'value', message, hint });
  },
});

/** Also true if the command reads the variable, because placeholders in code are rejected. Shell comments do not count. */
const isToldToolsets = (command: readonly string[]): boolean =>
  command.some((argument) => /\{toolsets\}|HOOKWRIGHT_TOOLSETS/.test(argument.replace(/(?:^|\s)#.*$/gm, '')));
