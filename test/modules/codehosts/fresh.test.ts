/** Posts about something that has changed since the run began, against doubles of GitHub, GitLab and `gh`. */
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { describe, test } from 'node:test';
import { lowerBinding } from '../../../compiler/lower/binding.ts';
import type { DeliveryOutcome, DeliveryRequest } from '../../../runtime/deliver/deliverer.ts';
import { createTestDeliverer, deliveryTo } from '../../helpers/deliveries.ts';
import { FakeGitHub } from '../../helpers/fake-github.ts';
import { FakeGitLab } from '../../helpers/fake-gitlab.ts';
import { bindingOf, shippedTarget, targetNames } from '../../helpers/targets.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const OLD = '6dcb09b5b57875f334f61aebed695e2e4193db5e';
const NEW = 'ab'.repeat(20);
const THEN = '2026-01-01T10:00:00Z';
const LATER = '2026-01-01T10:05:00Z';
const REPO = 'octo-org/octo-repo';
const KEYS = generateKeyPairSync('rsa', { modulusLength: 2048 });

const TARGETS = targetNames()
  .filter((name) => /^git(hub|lab)_/.test(name))
  .map(shippedTarget);

async function setUp(t: TestContext) {
  const github = await new FakeGitHub().start(t);
  const gitlab = await new FakeGitLab().start(t);
  gitlab.tokens.set('glpat-canary', 'our-bot');
  github.apps.set('77', {
    ...{ slug: 'our-app', publicKey: KEYS.publicKey, suspended: new Set() },
    installations: new Map([['octo-org', 501]]),
  });
  const private_key = KEYS.privateKey.export({ type: 'pkcs1', format: 'pem' }) as string;
  const bindings = TARGETS.flatMap((plan) => {
    const isGitHub = plan.name.startsWith('github');
    const own = isGitHub ? { app_id: '77', private_key } : { token: 'glpat-canary' };
    const config = { enabled: true, api_base: isGitHub ? github.url : gitlab.url, ...own };
    const { plan: binding } = lowerBinding(config, plan, { profile: 'default', max_attempts: 8, at_most_once: false });
    return binding === null ? [] : [[plan.name, binding] as const];
  });
  const restart = () =>
    createTestDeliverer(t, { targets: TARGETS, bindings: { default: Object.fromEntries(bindings) } });
  return { github, gitlab, deliverer: restart(), restart };
}

let last = 0;
const dispatchId = (): string => `0mf1d8h2k${String(++last).padStart(3, '0')}aabbccddeeff`;

const MINE: Readonly<Record<string, Pick<DeliveryRequest, 'extra'> & Partial<DeliveryRequest>>> = {
  github_comment: { extra: { repo: REPO, pr_number: '9' } },
  github_review: { extra: { repo: REPO, pr_number: '9' } },
  github_labels: { extra: { repo: REPO, number: '9' }, text: '', content: { labels: ['bug'] } },
  github_check: { extra: { repo: REPO, sha: OLD, name: 'review' }, content: { conclusion: 'success', title: 'x' } },
  gitlab_note: { extra: { project: 'group/p', merge_request: '9' } },
  gitlab_labels: { extra: { project: 'group/p', merge_request: '9' }, text: '', content: { labels: ['bug'] } },
  gitlab_status: { extra: { project: 'group/p', sha: OLD, name: 'review' }, content: { state: 'success' } },
};
const to = (target: string, more: Partial<DeliveryRequest> = {}): DeliveryRequest =>
  deliveryTo(target, { key: `${dispatchId()}:0`, text: 'Looks good', ...MINE[target], ...more });

const kindOf = ({ kind, ...rest }: DeliveryOutcome) => ('reason' in rest ? [kind, rest.reason] : [kind]);
const SUPERSEDED = ['superseded', 'superseded'];

describe('a post about a commit', () => {
  for (const target of Object.keys(MINE)) {
    test(`${target}: is sent while it is the head, and not afterwards`, async (t) => {
      const { github, gitlab, deliverer } = await setUp(t);
      const move = (sha: string) => {
        github.heads.set(`${REPO}#9`, sha);
        gitlab.objects.set('group/p!9', { sha });
      };
      const changes = () =>
        [...github.server.seen, ...gitlab.server.seen].filter(
          ({ method, path }) => method !== 'GET' && !path.startsWith('/app/'),
        ).length;
      move(OLD);
      assert.deepEqual(kindOf(await deliverer.deliver(to(target, { pins: { fresh: OLD } }))), ['ok']);
      assert.equal(changes(), 1);
      move(NEW);
      assert.deepEqual(kindOf(await deliverer.deliver(to(target, { pins: { fresh: OLD } }))), SUPERSEDED);
      assert.equal(changes(), 1);
      assert.deepEqual(kindOf(await deliverer.deliver(to(target, { pins: { commit: OLD } }))), ['ok']);
    });
  }

  test('a check or status is current if any pull request has its commit as head, or became it', async (t) => {
    const { github, gitlab, deliverer } = await setUp(t);
    const both = async () =>
      Promise.all(
        ['github_check', 'gitlab_status'].map(async (target) =>
          kindOf(await deliverer.deliver(to(target, { pins: { fresh: OLD } }))),
        ),
      );
    assert.deepEqual(await both(), [['ok'], ['ok']], 'no pull request');
    github.heads.set(`${REPO}#12`, NEW);
    gitlab.objects.set('group/p!12', { sha: NEW });
    assert.deepEqual(await both(), [SUPERSEDED, SUPERSEDED], 'moved');
    github.heads.set(`${REPO}#9`, OLD);
    gitlab.objects.set('group/p!9', { sha: OLD });
    assert.deepEqual(await both(), [['ok'], ['ok']], 'stacked, the other one first');
    github.heads.delete(`${REPO}#9`);
    github.merged.set(`${REPO}#12`, OLD);
    gitlab.objects.set('group/p!9', { sha: NEW, squash_commit_sha: OLD });
    assert.deepEqual(await both(), [['ok'], ['ok']], 'merged as this commit');
  });

  test('waits while the host does not know the head', async (t) => {
    const { gitlab, deliverer } = await setUp(t);
    for (const object of [{ sha: null }, {}]) {
      gitlab.objects.set('group/p!9', object);
      for (const target of ['gitlab_note', 'gitlab_status'])
        assert.equal((await deliverer.deliver(to(target, { pins: { fresh: OLD } }))).kind, 'retry', target);
    }
  });

  test('asks once for all outputs of a run, and again for the next run', async (t) => {
    const { github, deliverer } = await setUp(t);
    github.heads.set(`${REPO}#9`, OLD);
    const id = dispatchId();
    const sent = ['github_comment', 'github_review', 'github_labels'].map((target, index) =>
      deliverer.deliver(to(target, { key: `${id}:${index}`, pins: { fresh: OLD } })),
    );
    assert.deepEqual((await Promise.all(sent)).map(kindOf), [['ok'], ['ok'], ['ok']]);
    assert.equal(github.count(/^GET .*\/pulls\/9$/), 1);
    await deliverer.deliver(to('github_comment', { pins: { fresh: OLD } }));
    assert.equal(github.count(/^GET .*\/pulls\/9$/), 2);
  });

  test('finds a post whose sending had an unknown outcome, although the head has moved since', async (t) => {
    const { github, deliverer, restart } = await setUp(t);
    github.heads.set(`${REPO}#9`, OLD);
    github.next.push((_, usual) => {
      usual();
      return 'drop';
    });
    const request = to('github_review', { pins: { fresh: OLD } });
    assert.equal((await deliverer.deliver(request)).kind, 'ambiguous');
    github.heads.set(`${REPO}#9`, NEW);
    const again = { ...request, first_attempt_at: Date.now() };
    assert.deepEqual(kindOf(await restart().deliver(again)), ['ok']);
    assert.equal(github.posts.length, 1);
  });

  test('is retried when the host does not say, and fails for a value that is not a state', async (t) => {
    const { github, deliverer } = await setUp(t);
    const missing = await deliverer.deliver(to('github_comment', { pins: { fresh: OLD } }));
    assert.equal(missing.kind, 'permanent');
    assert.match(kindOf(missing)[1] ?? '', /^current state: .*no such repository/);
    const other = await deliverer.deliver(to('github_comment', { pins: { fresh: '../../x' } }));
    assert.match(kindOf(other)[1] ?? '', /cannot check the value of `fresh`/);
    assert.equal(github.posts.length, 0);
  });
});

test('a review names the commit that the run has read, else the one in the event, and nothing else', async (t) => {
  const { github, deliverer } = await setUp(t);
  github.heads.set(`${REPO}#9`, OLD);
  github.changed.set(`${REPO}#9`, THEN);
  const pins = [
    { fresh: OLD, commit: NEW },
    { fresh: THEN, commit: NEW },
    { commit: NEW },
    { commit: 'x"}' },
    undefined,
  ];
  for (const one of pins) await deliverer.deliver(to('github_review', one === undefined ? {} : { pins: one }));
  assert.deepEqual(
    github.posts.map(({ sent }) => sent.commit_id),
    [OLD, NEW, NEW, undefined, undefined],
  );
});

test('a time is compared to the second, in the forms of both hosts', async (t) => {
  const { github, gitlab, deliverer } = await setUp(t);
  github.changed.set(`${REPO}#9`, THEN);
  gitlab.objects.set('group/p#3', { updated_at: '2026-01-01T10:00:00.123Z' });
  const issue = { extra: { project: 'group/p', issue: '3' } };
  const deliver = async (target: string, fresh: string, more: Partial<DeliveryRequest> = {}) =>
    kindOf(await deliverer.deliver(to(target, { pins: { fresh }, ...more })));
  assert.deepEqual(await deliver('github_labels', THEN), ['ok']);
  assert.deepEqual(await deliver('gitlab_note', '2026-01-01 10:00:00 UTC', issue), ['ok']);
  github.changed.set(`${REPO}#9`, LATER);
  gitlab.objects.set('group/p#3', { updated_at: LATER });
  assert.deepEqual(await deliver('github_labels', THEN), SUPERSEDED);
  assert.deepEqual(await deliver('gitlab_note', '2026-01-01 10:00:00 UTC', issue), SUPERSEDED);
});

test('`gh` is asked before it comments', async (t) => {
  const [dir, home] = [tempDir(t), tempDir(t)];
  const log = join(dir, 'calls');
  const answers = `case "$*" in *pulls/9*) cat '${dir}/head';; *) echo https://github.com/o/r/issues/9#c;; esac`;
  writeFileSync(join(dir, 'gh'), `#!/bin/sh\necho "$@" >> '${log}'\n${answers}\n`);
  chmodSync(join(dir, 'gh'), 0o755);
  const deliverer = createTestDeliverer(t, {
    targets: [shippedTarget('github_comment')],
    bindings: { default: { github_comment: bindingOf({ command: join(dir, 'gh'), token: 'canary' }) } },
    ...{ home, env: { PATH: process.env.PATH ?? '' } },
  });
  const request = to('github_comment', { pins: { fresh: OLD } });
  writeFileSync(join(dir, 'head'), OLD);
  assert.deepEqual(kindOf(await deliverer.deliver(request)), ['ok']);
  writeFileSync(join(dir, 'head'), NEW);
  assert.deepEqual(kindOf(await deliverer.deliver(request)), SUPERSEDED);
  assert.deepEqual(readFileSync(log, 'utf8').match(/^\S+ \S+/gm), [
    'api repos/octo-org/octo-repo/pulls/9',
    'issue comment',
    'api repos/octo-org/octo-repo/pulls/9',
  ]);
});
