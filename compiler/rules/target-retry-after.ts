/** A waiting time that cannot be found. */

import type { TargetRetryAfter } from '../../schemas/generated/types.ts';
import type { NodePath, Problem } from '../diagnostics/problem.ts';
import type { ListedRule } from './support/listed-rule.ts';

export const targetRetryAfter = {
  id: 'target-retry-after',
  group: 'catalog',
  severity: 'error',
  title: 'A place under `retry_after` names no place, several, or an expression without a group around the number.',
  why: 'The target would be asked again too early, and block the account.',
  /** One place. A `text` that is no expression is another rule's. */
  check(source: TargetRetryAfter['from'][number], path: NodePath): readonly Problem[] {
    const at = { rule: targetRetryAfter, at: 'value' } as const;
    const kinds = (['header', 'body', 'text'] as const).filter((kind) => source[kind] !== undefined);
    const one = 'a place is exactly one of `header`, `body` and `text`';
    const group = 'the expression needs a group around the number';
    const hasGroup = source.text === undefined || /\((?!\?:)/.test(source.text);
    return [
      ...(kinds.length === 1 ? [] : [{ ...at, path, message: one }]),
      ...(hasGroup ? [] : [{ ...at, path: [...path, 'text'], message: group }]),
    ];
  },
} as const satisfies ListedRule;
