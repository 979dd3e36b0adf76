/** An invalid place for a retry delay. */

import type { TargetRetryAfter } from '../../schemas/generated/types.ts';
import type { NodePath, Problem } from '../diagnostics/problem.ts';
import type { ListedRule } from './support/listed-rule.ts';

export const targetRetryAfter = {
  id: 'target-retry-after',
  /** Checks one place. Another rule reports an invalid expression in `text`. */
  check(source: TargetRetryAfter['from'][number], path: NodePath): readonly Problem[] {
    const at = { rule: 'target-retry-after', at: 'value' } as const;
    const kinds = (['header', 'body', 'text'] as const).filter((kind) => source[kind] !== undefined);
    const one = 'a place has exactly one of `header`, `body` and `text`';
    const group = 'the expression needs a group around the number';
    const hasGroup = source.text === undefined || /\((?!\?:)/.test(source.text);
    return [
      ...(kinds.length === 1 ? [] : [{ ...at, path, message: one }]),
      ...(hasGroup ? [] : [{ ...at, path: [...path, 'text'], message: group }]),
    ];
  },
} as const satisfies ListedRule;
