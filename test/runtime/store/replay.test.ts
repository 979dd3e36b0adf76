import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Accept } from '../../../runtime/store/mutations.ts';
import { replay, whyNotReplay } from '../../../runtime/store/replay.ts';
import type { DispatchState } from '../../../runtime/store/states.ts';
import type { StoredDispatch } from '../../../runtime/store/store.ts';
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
  const cases: readonly [string, StoredDispatch, boolean, Partial<Accept>][] = [
    [
      'delivers an answer that could not be delivered',
      stored('dead', 'text'),
      false,
      { state: 'delivering', answer: 'text' },
    ],
    ['runs again when asked to', stored('dead', 'text'), true, { state: 'pending' }],
    ['runs again what died in its run', stored('dead', null), false, { state: 'pending' }],
    ['runs again what is done', stored('done', 'text'), false, { state: 'pending' }],
    ['sends a direct delivery again', stored('dead', null, 'direct'), false, { state: 'delivering' }],
  ];
  for (const [what, old, rerun, expected] of cases) {
    it(what, () => {
      const change = replay(old, { id: 'new', now: 99, rerun });
      assert.deepEqual({ state: change.state, answer: change.answer }, { answer: undefined, ...expected });
      const { id, accepted_at, replay_of, delivery_id, superseded } = change.dispatch;
      assert.deepEqual([id, accepted_at, replay_of, delivery_id, superseded], ['new', 99, 'old', 'delivery-old', 2]);
      assert.deepEqual([change.claim, change.inbox, change.max_concurrent], [null, true, 3]);
    });
  }

  it('is refused for what is still under way', () => {
    assert.equal(whyNotReplay(stored('delivering', null)), 'it is still delivering');
    assert.equal(whyNotReplay(stored('skipped', null)), null);
  });
});
