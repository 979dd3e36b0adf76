/** An invalid field path. */
import type { FieldPlan } from '../../schemas/generated/types.ts';
import { lowerField, plainField } from '../config/field.ts';
import type { Lowered, NodePath, Problem } from '../diagnostics/problem.ts';
import type { ListedRule } from './support/listed-rule.ts';

export const filterField = {
  id: 'filter-field',
  check(written: string, path: NodePath): Lowered<FieldPlan> {
    const field = lowerField(written);
    if (typeof field !== 'string') return { plan: field, problems: [] };
    const plain = plainField(written);
    const fix: Pick<Problem, 'fix'> = plain === null ? {} : { fix: { kind: 'rename', text: plain } };
    const message = plain === null ? field : `${field}: \`${plain}\``;
    return { plan: null, problems: [{ rule: 'filter-field', path, at: 'value', message, ...fix }] };
  },
} as const satisfies ListedRule;
