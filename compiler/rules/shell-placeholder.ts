/** A placeholder in code, whose value would be executed. */

import { writtenAgents } from '../config/agents.ts';
import type { NodePath } from '../diagnostics/problem.ts';
import type { Reporter } from '../views/views.ts';
import { codeArguments } from './support/code-arguments.ts';
import { rule } from './support/rule.ts';

export const shellPlaceholder = rule('shell-placeholder', {
  profile({ config }, report) {
    for (const { path, config: agent } of writtenAgents(config)) {
      checkCode(agent.command ?? [], [...path, 'command'], report);
    }
  },
});

function checkCode(command: readonly string[], path: NodePath, report: Reporter): void {
  for (const { index, program, interpreter } of codeArguments(command)) {
    for (const match of (command[index] ?? '').matchAll(PLACEHOLDER)) {
      const within = { offset: match.index, length: match[0].length };
      const message = `\`${program}\` reads this argument as code, and \`${match[0]}\` would become part of it`;
      const hint = `use ${interpreter.variable.replace('NAME', `HOOKWRIGHT_${match[1]?.toUpperCase()}`)} there`;
      report({ path: [...path, index], at: 'value', within, message, hint });
    }
  }
}

/** The placeholders of `agent.command`. */
const PLACEHOLDER = /\{(toolsets|session|route|profile)\}/g;
