import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { lowerEvents } from '../../../compiler/lower/route.ts';
import { linkEvents } from '../../../runtime/table/link-events.ts';
import { compileConfig } from '../../helpers/compile.ts';
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
    test(`${glob} is rejected at its position in the list`, () => {
      const { plan, problems } = lowerEvents(['push', glob]);
      assert.equal(plan, null);
      assert.deepEqual(
        problems.map(({ rule, path }) => [rule, path]),
        [['event-glob', [1]]],
      );
    });
  }

  test('matches a hostile event type quickly', () => {
    const plan = lowerEvents(['*a*a*a*a*a*a*b']).plan;
    const spent = cpuTime(() => assert.equal(linkEvents(plan).accepts('a'.repeat(1_000_000)), false));
    assert.ok(spent < 500, `${spent} ms`);
  });
});

describe('alternative names of events', () => {
  const names = { 'Merge Request Hook': ['merge_request'], 'Job Hook': ['job', 'build'], 'Push Hook': ['push'] };
  const link = (entries: readonly string[]) => linkEvents(lowerEvents(entries, names).plan);
  test('an entry accepts the event under the sent name and is returned as the reason', () => {
    const events = link(['merge_request', 'build']);
    assert.equal(events.accepts('Merge Request Hook'), true);
    assert.equal(events.entryFor('Job Hook'), 'build');
    assert.equal(events.accepts('Push Hook'), false);
    // A sender may also use this name itself.
    assert.equal(events.accepts('merge_request'), true);
  });
  test('a glob matches alternative names', () => {
    assert.equal(link(['merge_*']).entryFor('Merge Request Hook'), 'merge_*');
    assert.equal(link(['merge_*']).accepts('Push Hook'), false);
  });
  test('GitLab events match their short names, with and without its source', () => {
    for (const source of ['', '\n        source: gitlab']) {
      const { output } = compileConfig(`platforms:
  webhook:
    enabled: true
    secret: env:S
    routes:
      merges:${source}
        events: [merge_request]
        prompt: "{object_attributes.title}"
`);
      const events = linkEvents(output?.table.routes.merges?.events ?? null);
      assert.equal(events.accepts('Merge Request Hook'), true);
      assert.equal(events.accepts('Push Hook'), false);
    }
  });
});
