/** `each` of a source: its spelling, and places that cannot tell items apart. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { lowerSource } from '../../../compiler/lower/source.ts';
import type { SourceFile } from '../../../schemas/generated/types.ts';

const lower = (more: Partial<SourceFile>) =>
  lowerSource('feed', { verify: 'token', signature: { header: 'X-Token' }, ...more });

describe('`each`', () => {
  for (const [each, lists] of [
    ['[]', [[]]],
    ['events[]', [['events']]],
    ['a.b[]', [['a', 'b']]],
    ['[].items[]', [[], ['items']]],
    ['entry[].changes[]', [['entry'], ['changes']]],
    ['rows[][]', [['rows'], []]],
  ] as const) {
    it(`reads ${each}`, () => assert.deepEqual(lower({ each }).plan?.each, lists));
  }
  for (const each of [
    'events',
    'events[].id',
    '[',
    'events[0]',
    'events[*]',
    '.events[]',
    'a..b[]',
    'a[]b[]',
    '$.events[]',
  ]) {
    it(`refuses ${each}`, () => {
      const { plan, problems } = lower({ each });
      assert.deepEqual([plan, problems.map(({ path }) => path)], [null, [['each']]]);
    });
  }
  it('needs ids that differ', () => {
    const { problems } = lower({ each: '[]', delivery: [{ json: 'id' }, { json: 'batch.id' }] });
    assert.deepEqual(
      problems.map(({ path }) => path),
      [['delivery', 1, 'json']],
    );
  });
  it('is what `max_batch` is for', () => {
    assert.deepEqual(
      lower({ max_batch: 3 }).problems.map(({ path }) => path),
      [['max_batch']],
    );
  });
});
