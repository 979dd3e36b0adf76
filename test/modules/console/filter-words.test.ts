/** A filter in words. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { filterWords } from '../../../modules/console/cli/filter-words.ts';
import type { FilterPlan } from '../../../schemas/generated/types.ts';

const leaf = (path: string, operator: string, value: unknown, exact?: string) =>
  ({
    kind: 'leaf',
    field: { in: 'root', path: [path] },
    operator,
    value,
    ...(exact ? { exact } : {}),
  }) as FilterPlan;

it('says what a filter takes, with brackets where groups could be misread', () => {
  const action = leaf('action', 'in', ['opened', 'reopened']);
  const big = leaf('id', 'equals', 2 ** 60, '1152921504606846977');
  const any: FilterPlan = { kind: 'any', filters: [leaf('draft', 'equals', false), leaf('label', 'exists', true)] };
  const where: FilterPlan = {
    kind: 'any_of',
    field: { in: 'root', path: ['commits'] },
    where: leaf('size', 'gt', 5),
  };
  const cases: readonly (readonly [FilterPlan, string])[] = [
    [action, 'action is "opened" or "reopened"'],
    [leaf('action', 'in', []), 'action is []'],
    [leaf('size', 'gte', 5), 'size is at least 5'],
    [leaf('ref', 'starts_with', 'x'), 'ref starts with "x"'],
    [leaf('action', 'exists', false), 'action is missing'],
    [leaf('action', 'missing', true), 'action is missing'],
    [big, 'id is 1152921504606846977'],
    [{ kind: 'all', filters: [action, any] }, 'action is "opened" or "reopened" and (draft is false or label exists)'],
    [{ kind: 'all', filters: [any] }, 'draft is false or label exists'],
    [{ kind: 'not', filters: [any] }, 'not (draft is false or label exists)'],
    [where, 'an element of commits fits (size is more than 5)'],
  ];
  for (const [plan, words] of cases) assert.equal(filterWords(plan), words);
});
