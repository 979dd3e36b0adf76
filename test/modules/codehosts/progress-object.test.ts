/** A route whose events have no object that its progress could be shown at is reported; what each event has is from the services' documentation. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { compileConfig } from '../../helpers/compile.ts';

const ENTRIES = {
  github: { enabled: true, token: 'env:T' },
  gitlab: { enabled: true, token: 'env:T' },
  slack: { enabled: true, token: 'env:T' },
  telegram: { enabled: true, token: 'env:T' },
};

const diagnosticsOf = (route: object, entries: object = ENTRIES) =>
  compileConfig(
    JSON.stringify({
      platforms: { webhook: { enabled: true, secret: 'env:S', routes: { a: { prompt: 'x', ...route } } }, ...entries },
    }),
  ).diagnostics.filter(({ rule }) => rule.startsWith('progress-'));

/** The events of a route and the forms of progress that none of them can show. */
const CASES: readonly (readonly [source: string, events: readonly string[], hidden: readonly string[]])[] = [
  ['github', ['push'], ['reaction', 'comment']],
  ['github', ['issues'], ['status']],
  ['github', ['issue_comment'], ['status']],
  ['github', ['pull_request'], []],
  ['github', ['pull_request_review_comment'], []],
  ['github', ['check_suite'], ['reaction', 'comment']],
  ['github', ['workflow_run'], ['reaction', 'comment']],
  ['github', ['star', 'release'], ['reaction', 'status', 'comment']],
  ['github', ['push', 'issues'], []],
  ['github', ['pull_*'], []],
  ['github', ['st*'], ['reaction', 'status', 'comment']],
  ['gitlab', ['Push Hook'], ['reaction', 'comment']],
  ['gitlab', ['Issue Hook'], ['status']],
  ['gitlab', ['Merge Request Hook'], []],
  ['slack', ['message'], []],
  ['slack', ['reaction_added'], ['reaction']],
];

describe('progress that no event can show', () => {
  for (const [source, events, hidden] of CASES)
    test(`${source}: ${events.join(', ')}`, () => {
      const forms = source === 'slack' ? ['reaction'] : ['reaction', 'status', 'comment'];
      for (const progress of forms) {
        const [found, ...more] = diagnosticsOf({ source, events, progress });
        assert.deepEqual(more, []);
        const at = found === undefined ? '' : found.source.text.slice(found.range.start, found.range.end);
        assert.equal(at, hidden.includes(progress) ? JSON.stringify(progress) : '', progress);
      }
    });

  test('is a warning that names events which can', () => {
    const [found] = diagnosticsOf({ source: 'github', events: ['push'], progress: 'reaction' });
    assert.equal(found?.severity, 'warning');
    for (const event of ['`issues`', '`pull_request`']) assert.ok(found?.hint?.includes(event), found?.hint);
    assert.ok(!found?.hint?.includes('`push`'));
  });

  test('is not reported for all events, for events of unknown structure, or behind a script or another mode', () => {
    const github = { source: 'github', progress: 'reaction' };
    for (const route of [
      github,
      { ...github, events: ['an_event_of_tomorrow'] },
      { ...github, events: ['push'], script: 'a.py' },
      { ...github, events: ['push'], deliver_only: true, deliver: 'log' },
    ])
      assert.deepEqual(diagnosticsOf(route), [], JSON.stringify(route));
  });

  test('depends on the filters of the route', () => {
    const route = { source: 'github', events: ['issues', 'push'], progress: 'reaction' };
    const filters = (field: string) => ({ ...route, filters: [{ field, exists: true }] });
    assert.deepEqual(diagnosticsOf(filters('issue.number')), []);
    assert.equal(diagnosticsOf(filters('ref')).length, 1);
  });
});

test('the entry that a message about a target of progress names enables it', () => {
  for (const [source, progress] of [
    ...[
      ['github', 'reaction'],
      ['github', 'status'],
      ['gitlab', 'reaction'],
      ['gitlab', 'status'],
    ],
    ...[
      ['slack', 'reaction'],
      ['telegram-bot', 'reaction'],
    ],
  ]) {
    const [found] = diagnosticsOf({ source, progress }, {});
    const [, entry = ''] = /platforms\.([\w-]+)/.exec(found?.hint ?? '') ?? [];
    assert.ok(Object.hasOwn(ENTRIES, entry), found?.hint);
    assert.deepEqual(diagnosticsOf({ source, progress }, { [entry]: { enabled: true, token: 'env:T' } }), []);
  }
});
