/** Tests the GitLab targets over its REST API, against a fake. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { lowerBinding } from '../../../compiler/lower/binding.ts';
import type { DeliveryRequest } from '../../../runtime/deliver/deliverer.ts';
import { markerOf } from '../../../runtime/table/link-loop.ts';
import type { TestDeliverer } from '../../helpers/deliveries.ts';
import { createTestDeliverer, deliveryTo } from '../../helpers/deliveries.ts';
import { FakeGitLab } from '../../helpers/fake-gitlab.ts';
import { shippedTarget, targetNames } from '../../helpers/targets.ts';

const NAMES = targetNames().filter((name) => name.startsWith('gitlab_'));
const SHA = '6dcb09b5b57875f334f61aebed695e2e4193db5e';
const INSTALLATION = 'cd'.repeat(10);

async function setUp(t: TestContext): Promise<{ gitlab: FakeGitLab; restart: () => TestDeliverer }> {
  const gitlab = await new FakeGitLab().start(t);
  gitlab.tokens.set('glpat-canary', 'our-bot');
  const targets = NAMES.map(shippedTarget);
  const bindings = targets.map((plan) => {
    const config = { enabled: true, api_base: gitlab.url, token: 'glpat-canary' };
    const { plan: binding, problems } = lowerBinding(config, plan, {
      profile: 'default',
      max_attempts: 8,
      at_most_once: false,
    });
    assert.ok(binding !== null, JSON.stringify(problems));
    return [plan.name, binding] as const;
  });
  return {
    gitlab,
    restart: () => createTestDeliverer(t, { targets, bindings: { default: Object.fromEntries(bindings) } }),
  };
}

let dispatches = 0;
function delivery(target: string, more: Partial<DeliveryRequest> = {}): DeliveryRequest {
  const id = `0mf1d8h2k${String(++dispatches).padStart(3, '0')}aabbccddeeff`;
  return deliveryTo(target, { key: `${id}:0`, marker: markerOf(INSTALLATION, id), series: 'session-1', ...more });
}

test('a note goes to a merge request or an issue, executes nothing and notifies no one', async (t) => {
  const { gitlab, restart } = await setUp(t);
  const deliverer = restart();
  const text = 'Looks good, @all\n/merge\n  /label ~done\n\n\r/close\n> /approve';
  const note = delivery('gitlab_note', { text, extra: { project: 'group/sub/project', merge_request: '7' } });
  const outcome = await deliverer.deliver(note);
  assert.deepEqual(outcome, { kind: 'ok', message_id: '101', sent: 1 });
  await deliverer.deliver(delivery('gitlab_note', { extra: { project: '42', issue: '3' } }));
  const [posted] = gitlab.notes.get('group/sub/project!7') ?? [];
  assert.match(posted?.body ?? '', /^Looks good, @\u200Ball\n\u200B\/merge\n/);
  assert.ok(posted?.body.endsWith(`<!-- ${note.marker} -->\n`));
  assert.equal(gitlab.notes.get('42#3')?.length, 1);
  assert.deepEqual(gitlab.actions, []);
  assert.equal(gitlab.server.seen[0]?.path, '/api/v4/projects/group%2Fsub%2Fproject/merge_requests/7/notes');
  const neither = await deliverer.deliver(delivery('gitlab_note', { extra: { project: 'group/p' } }));
  assert.equal(neither.kind, 'permanent');
  assert.match(neither.kind === 'permanent' ? neither.reason : '', /`issue`/);
});

test('an attempt with an unknown outcome is searched for, and an upsert keeps one note after a restart', async (t) => {
  const { gitlab, restart } = await setUp(t);
  const extra = { project: 'group/p', merge_request: '7' };
  const lost = delivery('gitlab_note', { text: 'once', extra });
  gitlab.next.push((_, usual) => {
    usual();
    return 'drop';
  });
  assert.equal((await restart().deliver(lost)).kind, 'ambiguous');
  assert.equal((await restart().deliver({ ...lost, first_attempt_at: Date.now() })).kind, 'ok');
  assert.equal(gitlab.notes.get('group/p!7')?.length, 1);
  for (const text of ['one', 'two'])
    await restart().deliver(delivery('gitlab_note', { text, extra: { ...extra, mode: 'upsert' } }));
  const notes = gitlab.notes.get('group/p!7') ?? [];
  assert.equal(notes.length, 2);
  assert.match(notes[1]?.body ?? '', /^two\n\n<!-- delivery:[0-9a-f]{32} -->\n<!-- series:/);
  // A copy by another account is not replaced.
  notes.push({ id: 9, username: 'stranger', body: notes[1]?.body ?? '' });
  await restart().deliver(delivery('gitlab_note', { text: 'three', extra: { ...extra, mode: 'upsert' } }));
  assert.match(notes[1]?.body ?? '', /^three\n/);
  assert.match(notes[2]?.body ?? '', /^two\n/);
});

test('labels are added, and a commit status may be set twice', async (t) => {
  const { gitlab, restart } = await setUp(t);
  const deliverer = restart();
  const content = { labels: ['bug', 'docs'] };
  const label = delivery('gitlab_labels', { text: '', content, extra: { project: 'group/p', issue: '3' } });
  assert.equal((await deliverer.deliver(label)).kind, 'ok');
  assert.deepEqual(gitlab.labels.get('group/p#3')?.filter(Boolean), ['bug', 'docs']);
  const extra = { project: 'group/p', sha: SHA, name: 'review' };
  const status = delivery('gitlab_status', { text: '', content: { state: 'success' }, extra });
  assert.equal((await deliverer.deliver(status)).kind, 'ok');
  assert.equal((await deliverer.deliver({ ...status, first_attempt_at: 1 })).kind, 'ok');
  assert.deepEqual(gitlab.statuses, [{ sha: SHA, state: 'success', name: 'review' }]);
});

test('rejections by GitLab, and invalid addresses', async (t) => {
  const { gitlab, restart } = await setUp(t);
  const deliverer = restart();
  const note = (project = 'group/p', merge_request = '7') =>
    delivery('gitlab_note', { extra: { project, merge_request } });
  const reset = Math.ceil(Date.now() / 1000) + 60;
  const cases = [
    [{ status: 401, body: { message: '401 Unauthorized' } }, 'permanent'],
    [{ status: 403, body: { message: '403 Forbidden' } }, 'permanent'],
    [{ status: 404, body: { message: '404 Not found' } }, 'permanent'],
    [{ status: 429, headers: { 'ratelimit-reset': String(reset) }, body: 'Retry later' }, 'retry'],
    [{ status: 429, headers: { 'retry-after': '7' }, body: 'Retry later' }, 'retry'],
    [{ status: 502, body: '<html>GitLab is not responding</html>' }, 'ambiguous'],
    [{ status: 201, body: '<html>please log in</html>' }, 'permanent'],
  ] as const;
  for (const [answer, kind] of cases) {
    gitlab.next.push(() => answer);
    const outcome = await deliverer.deliver(note());
    assert.equal(outcome.kind, kind, JSON.stringify([answer, outcome]));
    if (outcome.kind !== 'retry') continue;
    const wait = outcome.retry_after_ms ?? 0;
    assert.ok(wait === 7000 || (wait > 30_000 && wait <= 61_000), String(wait));
  }
  const requests = gitlab.server.seen.length;
  for (const project of [
    'p',
    '../..',
    'group/..',
    'group/../user',
    'group/p?x',
    'group%2Fp',
    '/group/p',
    'group//p',
    '0',
  ])
    assert.equal((await deliverer.deliver(note(project))).kind, 'permanent', project);
  for (const number of ['0', 'x', '1/../2'])
    assert.equal((await deliverer.deliver(note('group/p', number))).kind, 'permanent');
  assert.equal(gitlab.server.seen.length, requests);
});
