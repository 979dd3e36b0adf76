/** A placeholder in code, whose value would be executed. */

import type { NodePath, Problem } from '../diagnostics/problem.ts';
import type { RuleId } from '../diagnostics/rule.ts';
import type { CodeArgument } from './support/code-arguments.ts';
import { codeArguments } from './support/code-arguments.ts';
import type { ViewRule } from './support/view-rule.ts';

export const shellPlaceholder = {
  id: 'shell-placeholder',
  checkProfile({ config }): readonly Problem[] {
    const command = config.agent?.command ?? [];
    return codeArguments(command).flatMap((code) => problemsIn(command[code.index] ?? '', code, 'shell-placeholder'));
  },
} as const satisfies ViewRule;

/** The placeholders of `agent.command`. */
const PLACEHOLDER = /\{(toolsets|session|route|profile)\}/g;

function problemsIn(text: string, { index, program, interpreter }: CodeArgument, rule: RuleId): readonly Problem[] {
  const path: NodePath = ['agent', 'command', index];
  return [...text.matchAll(PLACEHOLDER)].map((match) => ({
    rule,
    path,
    at: 'value',
    within: { offset: match.index, length: match[0].length },
    message: `\`${program}\` reads this argument as code, and \`${match[0]}\` would become part of it`,
    hint: `use ${interpreter.variable.replace('NAME', `HOOKWRIGHT_${match[1]?.toUpperCase()}`)} there`,
  }));
}
