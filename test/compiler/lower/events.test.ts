import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { lowerEvents } from '../../../compiler/lower/events.ts';
import { linkEvents } from '../../../runtime/table/link-events.ts';
import { cpuTime } from '../../helpers/cpu-time.ts';

function accepts(entries: readonly string[], event: string): boolean {
  const { plan } = lowerEvents(entries);
  assert.ok(plan);
  return linkEvents(plan).accepts(event);
}

describe('events', () => {
  for (const [entries, event, expected] of [
    [[], 'anything', true],
    [['push'], 'push', true],
    [['push'], 'Push', false],
    [['push'], 'pushed', false],
    [['pull_request*'], 'pull_request', true],
    [['pull_request*'], 'pull_request_review', true],
    [['pull_request_?*'], 'pull_request', false],
    [['item:*'], 'item:updated', true],
    [['customer.*'], 'customer.subscription.created', true],
    [['{push,issues}'], 'issues', true],
    [['{push,issues}'], 'issue', false],
    [['v[12].*'], 'v2.x', true],
    [['v[12].*'], 'v3.x', false],
    [['push', 'merge_*'], 'merge_request', true],
    [['a.b'], 'aXb', false],
    [['*'], '', false],
  ] as const) {
    test(`${JSON.stringify(entries)} ${expected ? 'accepts' : 'does not accept'} ${JSON.stringify(event)}`, () => {
      assert.equal(accepts(entries, event), expected);
    });
  }

  test('the entry that accepts an event is named as written, an exact one first', () => {
    const { entryFor } = linkEvents(lowerEvents(['issue*', 'issues', '{push,tag}']).plan);
    assert.deepEqual(['issues', 'issue_comment', 'tag', 'fork'].map(entryFor), [
      'issues',
      'issue*',
      '{push,tag}',
      null,
    ]);
  });

  test('no plan accepts every event', () => assert.equal(linkEvents(null).accepts('x'), true));

  for (const glob of ['[abc', '{a,b', '*(a']) {
    test(`${glob} is refused at its place in the list`, () => {
      const { plan, problems } = lowerEvents(['push', glob]);
      assert.equal(plan, null);
      assert.deepEqual(
        problems.map(({ rule, path }) => [rule, path]),
        [['event-glob', [1]]],
      );
    });
  }

  test('a hostile event type costs nothing', () => {
    const plan = lowerEvents(['*a*a*a*a*a*a*b']).plan;
    const spent = cpuTime(() => assert.equal(linkEvents(plan).accepts('a'.repeat(1_000_000)), false));
    assert.ok(spent < 500, `${spent} ms`);
  });
});
