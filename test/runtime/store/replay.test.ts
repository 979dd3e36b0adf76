import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Accept, Resend } from '../../../runtime/store/contract.ts';
import type { StoredDispatch } from '../../../runtime/store/queries.ts';
import type { DispatchState } from '../../../runtime/store/states.ts';
import type { ReplayOptions } from '../../../runtime/store/timeline.ts';
import { replay, whyNotReplay } from '../../../runtime/store/timeline.ts';
import { makeDispatch } from '../../helpers/dispatches.ts';

function stored(state: DispatchState, answer: string | null, mode: 'agent' | 'direct' = 'agent'): StoredDispatch {
  const dispatch = makeDispatch('old', { mode, superseded: 2 });
  const { id, profile, route, job, event, delivery_id, accepted_at, replay_of } = dispatch;
  return {
    ...{ ref: 1, id, profile, route, job, mode, event, delivery_id, accepted_at, replay_of, state, answer, dispatch },
    ...{
      job_name: null,
      started_at: null,
      answered_at: null,
      finished_at: 5,
      duration_ms: null,
      reason: null,
      max_concurrent: 3,
      program: null,
      usage: null,
      steps: [],
      ...{ agent: null, session: null, targets: '', turn: null, waits_for: null, waits_since: null, ready_at: null },
    },
  };
}

const options: ReplayOptions = { id: 'new', now: 99, rerun: false, again: false };

describe('replay', () => {
  const key = { profile: 'default', route: 'alerts', delivery_id: 'delivery-old' };
  const inPlace: readonly [what: string, StoredDispatch, Partial<ReplayOptions>, Partial<Resend>][] = [
    ['an answer that could not be delivered', stored('dead', 'text'), {}, { key: null, again: false }],
    ['an answer that has been delivered, when told to', stored('done', 'text'), { again: true }, { again: true }],
    ['a direct delivery', stored('dead', null, 'direct'), {}, { key, again: false }],
    ['a direct delivery that runs nothing', stored('dead', null, 'direct'), { rerun: true }, { key }],
  ];
  for (const [what, old, given, expected] of inPlace) {
    it(`continues the row of ${what}`, () => {
      const again = given.again ?? false;
      const change = { kind: 'resend', ref: 1, key: null, again, now: 99, ...expected };
      assert.deepEqual(replay(old, { ...options, ...given }), change);
    });
  }

  const reruns: readonly [what: string, StoredDispatch, Partial<ReplayOptions>][] = [
    ['when asked to', stored('dead', 'text'), { rerun: true }],
    ['what died in its run', stored('dead', null), {}],
    ['what is done', stored('done', 'text'), {}],
    ['what was skipped', stored('skipped', 'text'), {}],
  ];
  for (const [what, old, given] of reruns) {
    it(`runs ${what} again, in a new row`, () => {
      const change = replay(old, { ...options, ...given }) as Accept;
      assert.deepEqual([change.kind, change.work], ['accept', { kind: 'run' }]);
      const { id, accepted_at, replay_of, delivery_id, superseded } = change.dispatch;
      assert.deepEqual([id, accepted_at, replay_of, delivery_id, superseded], ['new', 99, 'old', 'delivery-old', 2]);
      assert.deepEqual([change.claim, change.max_concurrent], [null, 3]);
    });
  }

  it('fires the job of a run, even if it is paused, so that no other run of it is in progress', () => {
    const old = stored('dead', null);
    const change = replay({ ...old, dispatch: { ...old.dispatch, job: 'report' } }, options);
    assert.ok(change.kind === 'fire_job');
    const { job, even_paused, claim, dispatch } = change;
    assert.deepEqual([job, even_paused, claim, dispatch.id, dispatch.replay_of], ['report', true, null, 'new', 'old']);
  });

  it('is rejected for a running dispatch, and for a delivered message', () => {
    assert.match(whyNotReplay(stored('delivering', null), true) ?? '', /\bdelivering$/);
    assert.equal(whyNotReplay(stored('skipped', null), false), null);
    assert.equal(whyNotReplay(stored('done', 'text'), false), null);
    assert.match(whyNotReplay(stored('done', null, 'direct'), false) ?? '', /--again/);
    assert.equal(whyNotReplay(stored('done', null, 'direct'), true), null);
  });
});
