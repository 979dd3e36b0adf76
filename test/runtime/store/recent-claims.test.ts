import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RecentClaims } from '../../../runtime/store/tally.ts';
import { makeAccept, makeAdvance, makeClaim, makeJoin } from '../../helpers/dispatches.ts';
import { makeFire } from '../../helpers/jobs.ts';

const STORED = { kind: 'stored', ref: 1 } as const;

describe('recent claims', () => {
  it('contain the claim of a committed change, until it expires', () => {
    const recent = new RecentClaims();
    recent.committed(makeAccept('a', { claim: makeClaim('now', 5000) }), STORED);
    recent.committed(makeJoin('b', 'k', 1, { claim: makeClaim('joined', 5000) }), {
      ...{ ...STORED, superseded: 0, due_at: 1 },
    });
    recent.committed(makeAdvance(1, 'done', 1, { claim: makeClaim('direct', 5000) }), true);
    recent.committed(makeFire('job', 'c', { claim: makeClaim('fired', 5000) }), { kind: 'running' });
    for (const id of ['now', 'joined', 'direct', 'fired']) {
      assert.deepEqual([recent.has(makeClaim(id), 4999), recent.has(makeClaim(id), 5000)], [true, false], id);
    }
    assert.equal(recent.has(makeClaim('now', 0, { route: 'other' }), 1), false);
  });

  it('contain no claim of a change that was not stored, or that claims later', () => {
    const recent = new RecentClaims();
    recent.committed(makeAccept('a', { claim: makeClaim('twice') }), { kind: 'duplicate' });
    recent.committed(makeAccept('b', { claim: makeClaim('later'), claiming: 'later' }), STORED);
    recent.committed(makeAdvance(1, 'done', 1, { claim: makeClaim('barred') }), false);
    recent.committed(makeFire('job', 'c', { claim: makeClaim('paused') }), { kind: 'paused' });
    for (const id of ['twice', 'later', 'barred', 'paused']) assert.equal(recent.has(makeClaim(id), 1), false, id);
  });

  it('drop the oldest', () => {
    const recent = new RecentClaims();
    for (let n = 0; n < 10_000; n++) recent.committed(makeAccept('a', { claim: makeClaim(`c${n}`) }), STORED);
    assert.deepEqual([recent.has(makeClaim('c0'), 1), recent.has(makeClaim('c9999'), 1)], [false, true]);
    assert.equal(recent.has(makeClaim('c8000'), 1), true);
  });
});
