import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Group } from '../../../runtime/store/states.ts';
import { joinGroup, supersededNote } from '../../../runtime/store/states.ts';

const limits = { window_ms: 30_000, max_wait_ms: 100_000 };

function join(...times: readonly number[]): Group {
  let group: Group | null = null;
  for (const at of times) group = joinGroup(group, at, limits);
  assert.ok(group !== null);
  return group;
}

describe('joinGroup', () => {
  const cases: readonly [string, readonly number[], Partial<Group>][] = [
    ['starts with the first event', [1000], { first_at: 1000, due_at: 31_000, superseded: 0 }],
    ['waits for quiet after each event', [1000, 21_000], { first_at: 1000, due_at: 51_000, superseded: 1 }],
    ['is due at most max_wait after its first event', [0, 29_000, 58_000, 87_000], { due_at: 100_000, superseded: 3 }],
    ['is due at once for an event after that', [0, 120_000], { due_at: 100_000 }],
    [
      'restarts its maximum wait when the system clock moved back',
      [500_000, 10_000, 80_000],
      { first_at: 10_000, due_at: 110_000, superseded: 2 },
    ],
  ];
  for (const [what, times, expected] of cases) {
    it(what, () => {
      const group = join(...times);
      assert.deepEqual({ ...group, ...expected }, group);
    });
  }
});

describe('supersededNote', () => {
  it('says how many events the prompt combines, and nothing for one', () => {
    assert.deepEqual([0, 1, 2].map(supersededNote), [
      '',
      '[1 earlier event for this entity was superseded by this one.]\n\n',
      '[2 earlier events for this entity were superseded by this one.]\n\n',
    ]);
  });
});
