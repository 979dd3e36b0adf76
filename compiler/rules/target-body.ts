/** An unknown instruction in a body. */
import type { NodePath, Problem } from '../diagnostics/problem.ts';
import type { ListedRule } from './support/listed-rule.ts';

export const targetBody = {
  id: 'target-body',
  /** Checks a field of an object. @param path path of the field */
  check(name: string, path: NodePath): readonly Problem[] {
    if (!name.startsWith('$')) return [];
    const message = `\`${name}\` is not an instruction; the instructions are $int, $auto and $json, each alone in its object, and $when next to fields`;
    return [{ rule: 'target-body', path, at: 'value', message }];
  },
} as const satisfies ListedRule;
