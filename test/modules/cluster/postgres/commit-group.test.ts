/** A group of changes that keeps conflicting with other gateways' transactions. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commitGroup } from '../../../../modules/cluster/runtime/postgres/writer.ts';
import { systemClock } from '../../../../runtime/platform/clock.ts';
import type { EncodedChange } from '../../../../runtime/store/group-commit.ts';

const clock = {
  ...systemClock,
  after: (_ms: number, done: () => void) => {
    const waiting = setImmediate(done);
    return { cancel: () => clearImmediate(waiting) };
  },
};
const change: EncodedChange = ['{"kind":"expire_claims","now":0}', null, null];

const failing = (code: string) => () => Promise.reject(Object.assign(new Error('deadlock detected'), { code }));

test('is unavailable, which a sender retries, and not failed', async () => {
  const results = await commitGroup([change, change], failing('40P01'), clock);
  assert.deepEqual(
    results.map(({ kind }) => kind),
    ['unavailable', 'unavailable'],
  );
});

test('a change whose values cannot be stored fails, at any try', async () => {
  const results = await commitGroup([change], failing('22021'), clock);
  assert.deepEqual(
    results.map(({ kind }) => kind),
    ['failed'],
  );
});
