/** Why a filter ignored an event, in words: the condition that decided, whatever it is nested in. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { requiredText, unmetText } from '../../../modules/console/runtime/filter-text.ts';
import { linkFilter } from '../../../runtime/table/link-filter.ts';
import type { FilterLeaf, FilterPlan } from '../../../schemas/generated/types.ts';
import { ROOT } from '../../helpers/root.ts';

const leaf = (field: string, operator: FilterLeaf['operator'], value: FilterLeaf['value']): FilterPlan => ({
  ...{ kind: 'leaf', field: { in: 'root', path: [field] } },
  ...{ operator, value },
});
const group = (kind: 'all' | 'any' | 'not', ...filters: FilterPlan[]): FilterPlan => ({ kind, filters });

/** The sentence about an event that the filter rejects. */
function why(plan: FilterPlan, payload: object): string {
  const subject = { payload, event: 'x', headers: {} } as never;
  const finding = linkFilter(plan, () => assert.fail()).inspect(subject);
  assert.equal(finding.holds, false);
  return unmetText(finding as never);
}

const EDITED = { action: 'edited', draft: true };
const OPENED = leaf('action', 'equals', 'opened');

describe('the words of a filter', () => {
  it('exist for every operator, and have its value', () => {
    const table = JSON.parse(readFileSync(join(ROOT, 'schemas/route-table.schema.json'), 'utf8'));
    const { properties } = table.$defs.filterPlan.oneOf.find(({ title }: { title: string }) => title === 'FilterLeaf');
    const operators: readonly string[] = properties.operator.enum;
    assert.ok(operators.length > 10);
    for (const operator of operators) {
      const text = requiredText(operator, 'the $& value');
      assert.doesNotMatch(text, /_/);
      if (!['exists', 'missing'].includes(operator)) assert.match(text, /the \$& value/);
    }
  });

  it('name the condition that decided: a member of all that does not hold, the first of any, one of not that holds', () => {
    const ready = leaf('draft', 'equals', false);
    assert.match(why(group('all', leaf('draft', 'exists', true), OPENED), EDITED), /^action is "edited".*"opened"$/);
    assert.match(why(group('any', OPENED, ready), EDITED), /^action is "edited".*"opened" \(and 1 more /);
    assert.match(
      why(group('not', leaf('action', 'in', ['closed', 'edited'])), EDITED),
      /^action.*"closed" or "edited"$/,
    );
    assert.match(why(group('not', group('any', OPENED, leaf('draft', 'equals', true))), EDITED), /^draft is true/);
    assert.match(why(leaf('label', 'equals', 'x'), EDITED), /^label is missing.*"x"$/);
    assert.ok(why(leaf('action', 'equals', 'x'.repeat(10_000)), { action: 'y'.repeat(10_000) }).length < 500);
  });

  it('tell what is rejected from what is required', () => {
    const barred = why(group('not', leaf('action', 'equals', 'edited')), EDITED);
    const required = why(group('not', group('not', OPENED)), EDITED);
    assert.match(barred, /rejects/);
    assert.match(required, /requires.*"opened"$/);
  });
});
