import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { createIds } from '../../../runtime/platform/ids.ts';

test('dispatch ids are unique and sort by time, also within a millisecond and if the clock steps back', () => {
  const ids = createIds(randomBytes);
  const made: string[] = [];
  for (let i = 0; i < 60_000; i++) made.push(ids.dispatch(1_700_000_000_000));
  made.push(ids.dispatch(1_600_000_000_000), ids.dispatch(1_700_000_001_000), ids.dispatch(4_000_000_000_000));
  assert.deepEqual([...made].sort(), made);
  assert.equal(new Set(made).size, made.length);
  assert(made.every((id) => /^[0-9a-z]{24}$/.test(id)));
});

test('delivery ids of one millisecond differ', () => {
  const ids = createIds(randomBytes);
  const made = Array.from({ length: 5000 }, () => ids.delivery(1_700_000_000_000));
  assert.equal(new Set(made).size, made.length);
  assert(made.every((id) => /^1700000000000-[0-9a-f]{12}$/.test(id)));
});
