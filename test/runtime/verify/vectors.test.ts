import assert from 'node:assert/strict';
import { test } from 'node:test';
import { linkAuthenticator } from '../../../runtime/verify/authenticator.ts';
import { LazyRequest } from '../../../runtime/verify/request.ts';
import { loadShippedSources } from '../../helpers/catalog-sources.ts';
import type { Vector } from '../../helpers/vectors.ts';
import { STATED_REASONS, vectorRequest, vectors } from '../../helpers/vectors.ts';

const sources = loadShippedSources();

function verdictOf(vector: Vector) {
  const { public_url, ...parts } = vectorRequest(vector);
  const schemes = [sources.plan(vector.scheme)];
  const secrets = [{ text: vector.secret, expires_at: null }];
  const authenticator = linkAuthenticator({ schemes, secrets, insecure: false, public_url });
  return authenticator.authenticate(new LazyRequest(parts), (vector.now ?? 0) * 1000);
}

for (const scheme of new Set(vectors.map((vector) => vector.scheme))) {
  const list = vectors.filter((vector) => vector.scheme === scheme);
  test(`vectors of ${scheme}: valid ones pass, invalid ones fail for their reason`, () => {
    for (const vector of list) {
      const verdict = verdictOf(vector);
      if (vector.valid)
        assert.deepEqual(verdict, { ok: true, scheme: sources.plan(scheme).name, secret: 0 }, vector.description);
      else {
        assert.equal(verdict.ok, false, vector.description);
        const expected = STATED_REASONS[vector.reason ?? ''] ?? [];
        assert.ok(
          !verdict.ok && expected.includes(verdict.reason),
          `${vector.description}: ${JSON.stringify(verdict)}`,
        );
      }
    }
  });
}

test('every shipped scheme has a valid vector, a tampered one and, with a window, a stale one', () => {
  const gaps = sources.lowered.flatMap(({ name, plan }) => {
    const own = vectors.filter((vector) => sources.plan(vector.scheme).name === name);
    const reasons = new Set(own.filter(({ valid }) => !valid).map(({ reason }) => reason ?? ''));
    const bound = plan.verify !== 'token' && plan.verify !== 'basic';
    return [
      own.some(({ valid }) => valid) ? '' : `${name}: no valid vector`,
      reasons.has(bound ? 'tampered-body' : 'altered-credential') ? '' : `${name}: no tampered vector`,
      plan.timestamp === null || reasons.has('stale-timestamp') ? '' : `${name}: no stale vector`,
    ].filter((gap) => gap !== '');
  });
  assert.deepEqual(gaps, []);
});
