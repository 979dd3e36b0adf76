import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { InitialWork } from '../../../runtime/store/mutations.ts';
import type { StoredDispatch } from '../../../runtime/store/queries.ts';
import { replay, whyNotReplay } from '../../../runtime/store/replay.ts';
import type { DispatchState } from '../../../runtime/store/states.ts';
import { makeDispatch } from '../../helpers/dispatches.ts';

function stored(state: DispatchState, answer: string | null, mode: 'agent' | 'direct' = 'agent'): StoredDispatch {
  const dispatch = makeDispatch('old', { mode, superseded: 2 });
  const { id, profile, route, job, event, delivery_id, accepted_at, replay_of } = dispatch;
  return {
    ...{ ref: 1, id, profile, route, job, mode, event, delivery_id, accepted_at, replay_of, state, answer, dispatch },
    ...{ started_at: null, answered_at: null, finished_at: 5, reason: null, max_concurrent: 3, steps: [] },
  };
}

describe('replay', () => {
  const open = [{ index: 0, target: 'log', due_at: 99 }];
  const cases: readonly [string, StoredDispatch, boolean, InitialWork][] = [
    [
      'delivers an answer that could not be delivered',
      stored('dead', 'text'),
      false,
      { kind: 'deliveries', answer: 'text', open },
    ],
    ['runs again when asked to', stored('dead', 'text'), true, { kind: 'run' }],
    ['runs again what died in its run', stored('dead', null), false, { kind: 'run' }],
    ['runs again what is done', stored('done', 'text'), false, { kind: 'run' }],
    [
      'sends a direct delivery again',
      stored('dead', null, 'direct'),
      false,
      { kind: 'deliveries', answer: null, open },
    ],
  ];
  for (const [what, old, rerun, expected] of cases) {
    it(what, () => {
      const change = replay(old, { id: 'new', now: 99, rerun });
      assert.deepEqual(change.work, expected);
      const { id, accepted_at, replay_of, delivery_id, superseded } = change.dispatch;
      assert.deepEqual([id, accepted_at, replay_of, delivery_id, superseded], ['new', 99, 'old', 'delivery-old', 2]);
      assert.deepEqual([change.claim, change.max_concurrent], [null, 3]);
    });
  }

  it('is refused for what is still under way', () => {
    assert.equal(whyNotReplay(stored('delivering', null)), 'it is still delivering');
    assert.equal(whyNotReplay(stored('skipped', null)), null);
  });
});
