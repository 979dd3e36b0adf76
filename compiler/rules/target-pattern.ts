/** A pattern that RE2 does not support. */
import { RE2JS, RE2JSSyntaxException } from 're2js';
import type { Lowered, NodePath } from '../diagnostics/problem.ts';
import type { ListedRule } from './support/listed-rule.ts';

export const targetPattern = {
  id: 'target-pattern',
  check(pattern: string, path: NodePath): Lowered<string> {
    try {
      RE2JS.compile(pattern);
      return { plan: pattern, problems: [] };
    } catch (error) {
      const why = error instanceof RE2JSSyntaxException ? error.getDescription() : 'not understood';
      const message = `${JSON.stringify(pattern)} is not an RE2 expression: ${why}`;
      return { plan: null, problems: [{ rule: 'target-pattern', path, at: 'value', message }] };
    }
  },
} as const satisfies ListedRule;
