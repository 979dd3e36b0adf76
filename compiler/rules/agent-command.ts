/** Several arguments in one entry of the agent's command. */

import { writtenAgents } from '../config/agents.ts';
import { holdsCredential } from '../diagnostics/printable.ts';
import type { NodePath } from '../diagnostics/problem.ts';
import { argvOf, needsShell } from '../text/argv-text.ts';
import { flowText } from '../text/flow-text.ts';
import type { Reporter } from '../views/views.ts';
import { rule } from './support/rule.ts';

export const agentCommand = rule('agent-command', {
  profile({ config }, report) {
    for (const { path, config: agent } of writtenAgents(config)) {
      checkCommand(agent.command ?? [], [...path, 'command'], report);
    }
  },
});

function checkCommand(command: readonly string[], path: NodePath, report: Reporter): void {
  const index = command.findIndex(isRunTogether);
  if (index < 0) return;
  const message = 'each argument must be a separate entry, because no shell splits them';
  const at = { path: [...path, index], at: 'value' } as const;
  if (command.some((entry, place) => isRunTogether(entry, place) && (needsShell(entry) || holdsCredential(entry)))) {
    report({ ...at, message, hint: 'write one entry for each argument, or `[sh, -c, "…"]` if you need a shell' });
    return;
  }
  const argv = command.flatMap((entry, place) => (isRunTogether(entry, place) ? argvOf(entry) : [entry]));
  report({
    ...at,
    message: `${message}: write \`command: ${flowText(argv)}\``,
    fix: { kind: 'flow', text: flowText(argv) },
    fixAt: path,
  });
}

/** The path of a program may contain a space, unless an option follows. The name of an option contains none. */
const isRunTogether = (entry: string, index: number): boolean =>
  index === 0 ? /^[^\s/\\]+\s+\S|\s-{1,2}\w/.test(entry.trim()) : /^(?:--[a-z][\w-]*|-[A-Za-z])\s+\S/.test(entry);
