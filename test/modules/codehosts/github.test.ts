/** Tests the GitHub targets over its REST API, against a fake: posts, repeats, upserts, app tokens, rejections. */
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { lowerBinding } from '../../../compiler/lower/binding.ts';
import type { DeliveryRequest } from '../../../runtime/deliver/deliverer.ts';
import { markerOf } from '../../../runtime/table/link-loop.ts';
import type { TestDeliverer } from '../../helpers/deliveries.ts';
import { createTestDeliverer, deliveryTo } from '../../helpers/deliveries.ts';
import { FakeClock } from '../../helpers/fake-clock.ts';
import { FakeGitHub } from '../../helpers/fake-github.ts';
import { shippedTarget, targetNames } from '../../helpers/targets.ts';

const NAMES = targetNames().filter((name) => name.startsWith('github_'));
const NOW = Date.UTC(2026, 0, 1);
const KEYS = generateKeyPairSync('rsa', { modulusLength: 2048 });
const PEM = KEYS.privateKey.export({ type: 'pkcs1', format: 'pem' }) as string;
const INSTALLATION = 'ab'.repeat(10);
const SHA = '6dcb09b5b57875f334f61aebed695e2e4193db5e';

type Settings = Readonly<Record<string, string>>;
const TOKEN: Settings = { token: 'ghp_canary0001' };
const APP: Settings = { app_id: '77', private_key: PEM };

interface Setup {
  readonly github: FakeGitHub;
  readonly clock: FakeClock;
  readonly deliverer: TestDeliverer;
  /** Another gateway process with the same configuration. */
  restart(): TestDeliverer;
}

async function setUp(t: TestContext, settings: Settings): Promise<Setup> {
  const clock = new FakeClock(NOW);
  const github = await new FakeGitHub(() => clock.now()).start(t);
  github.tokens.set('ghp_canary0001', 'our-bot');
  github.apps.set('77', {
    slug: 'our-app',
    publicKey: KEYS.publicKey,
    installations: new Map([
      ['octo-org', 501],
      ['other-org', 502],
    ]),
    suspended: new Set(),
  });
  const targets = NAMES.map(shippedTarget);
  const bindings = targets.flatMap((plan) => {
    const config = { enabled: true, api_base: github.url, ...settings };
    const { plan: binding } = lowerBinding(config, plan, { profile: 'default', max_attempts: 8, at_most_once: false });
    return binding === null ? [] : [[plan.name, binding] as const];
  });
  const restart = (): TestDeliverer => {
    const made = createTestDeliverer(t, { targets, bindings: { default: Object.fromEntries(bindings) }, clock });
    assert.deepEqual(made.problems, []);
    return made;
  };
  return { github, clock, deliverer: restart(), restart };
}

let dispatches = 0;
const dispatchId = (): string => `0mf1d8h2k${String(++dispatches).padStart(3, '0')}aabbccddeeff`;

function delivery(target: string, more: Partial<DeliveryRequest> = {}): DeliveryRequest {
  const id = dispatchId();
  return deliveryTo(target, { key: `${id}:0`, marker: markerOf(INSTALLATION, id), series: 'session-1', ...more });
}
const comment = (more: Partial<DeliveryRequest> = {}, extra: Settings = {}): DeliveryRequest =>
  delivery('github_comment', { extra: { repo: 'octo-org/octo-repo', pr_number: '42', ...extra }, ...more });

for (const [way, settings, login] of [
  ['a token', TOKEN, 'our-bot'],
  ['an app', APP, 'our-app[bot]'],
] as const) {
  test(`with ${way}, a comment is posted with hidden marks, and notifies no one`, async (t) => {
    const { github, deliverer } = await setUp(t, settings);
    const request = comment({ text: 'ping @octo-org/team\n/merge now\n```\n@decorator\n```' });
    const outcome = await deliverer.deliver(request);
    assert.equal(outcome.kind, 'ok', JSON.stringify(outcome));
    assert.equal(outcome.kind === 'ok' && outcome.message_id, 'https://github.com/octo-org/octo-repo/comment/42#1000');
    const [post] = github.posts;
    assert.deepEqual([post?.repo, post?.of, post?.login], ['octo-org/octo-repo', '42', login]);
    const text = 'ping @\u200Bocto-org/team\n\u200B/merge now\n```\n@decorator\n```';
    assert.equal(
      post?.body.replace(/[0-9a-f]{32}/, 'KEY'),
      `${text}\n\n<!-- delivery:KEY -->\n<!-- ${request.marker} -->\n`,
    );
  });

  test(`with ${way}, labels, issues and reviews contain the agent's output`, async (t) => {
    const { github, deliverer } = await setUp(t, settings);
    const repo = 'octo-org/octo-repo';
    const all = [
      delivery('github_labels', { extra: { repo, number: '7' }, text: '', content: { labels: ['bug', 'docs'] } }),
      delivery('github_issue', { extra: { repo }, text: 'It fails.', content: { title: 'Broken', text: 'It fails.' } }),
      delivery('github_issue', { extra: { repo, title: 'Fixed by the route' }, text: 'Report' }),
      delivery('github_review', {
        extra: { repo, pr_number: '9' },
        text: 'Two things.',
        content: { text: 'Two things.', comments: [{ path: 'src/a.ts', line: 3, body: 'ask @octocat' }] },
      }),
      delivery('github_review', { extra: { repo, pr_number: '9', event: 'REQUEST_CHANGES' }, text: 'No.' }),
    ];
    for (const one of all) {
      const outcome = await deliverer.deliver(one);
      assert.equal(outcome.kind, 'ok', `${one.target}: ${JSON.stringify(outcome)}`);
    }
    assert.deepEqual([...(github.labels.get(`${repo}#7`) ?? [])], ['bug', 'docs']);
    const [first, second, review, changes] = github.posts;
    assert.equal(first?.sent.title, 'Broken');
    assert.match(first?.body ?? '', /^It fails\.\n\n<!-- delivery:/);
    assert.equal(second?.sent.title, 'Fixed by the route');
    assert.equal(review?.sent.event, 'COMMENT');
    assert.deepEqual(review?.sent.comments, [{ path: 'src/a.ts', line: 3, body: 'ask @\u200Boctocat' }]);
    assert.equal(changes?.sent.event, 'REQUEST_CHANGES');
    assert.equal(Object.hasOwn(changes?.sent ?? {}, 'comments'), false);
  });

  test(`with ${way}, an attempt with an unknown outcome is searched for before it is repeated`, async (t) => {
    const { github, clock, deliverer, restart } = await setUp(t, settings);
    for (const target of ['github_comment', 'github_issue', 'github_review'] as const) {
      for (const isPosted of [true, false]) {
        const request = delivery(target, { extra: { repo: 'octo-org/octo-repo', pr_number: '42', title: 'T' } });
        const before = github.posts.length;
        github.next.push((_, usual) => {
          if (isPosted) usual();
          return 'drop';
        });
        const first = await deliverer.deliver(request);
        assert.equal(first.kind, 'ambiguous');
        assert.equal(first.kind === 'ambiguous' && first.idempotent, true);
        const firstAt = clock.now();
        clock.advance(60_000);
        // A kill in between changes nothing.
        const second = await restart().deliver({ ...request, first_attempt_at: firstAt });
        assert.equal(second.kind, 'ok', JSON.stringify(second));
        assert.equal(github.posts.length, before + 1, `${target} is there once`);
      }
    }
  });

  test(`with ${way}, an upsert keeps one comment of a session, also after a restart`, async (t) => {
    const { github, restart } = await setUp(t, settings);
    const upsert = (text: string, series = 'session-1') => comment({ text, series }, { mode: 'upsert' });
    for (const text of ['one', 'two', 'three']) assert.equal((await restart().deliver(upsert(text))).kind, 'ok');
    assert.equal(github.posts.length, 1);
    assert.match(github.posts[0]?.body ?? '', /^three\n\n<!-- delivery:/);
    await restart().deliver(upsert('other session', 'session-2'));
    await restart().deliver(comment({ text: 'no upsert' }));
    assert.equal(github.posts.length, 3);
    await restart().deliver(upsert('four'));
    assert.match(github.posts[0]?.body ?? '', /^four\n/);
    assert.equal(github.posts.length, 3);
  });
}

test('an upsert finds its comment among many, and ignores copies by strangers', async (t) => {
  const { github, deliverer } = await setUp(t, TOKEN);
  await deliverer.deliver(comment({ text: 'first' }, { mode: 'upsert' }));
  const [own] = github.posts.splice(0);
  assert.ok(own !== undefined);
  for (let index = 0; index < 120; index++)
    github.posts.push({ ...own, id: index, login: 'stranger', body: index === 3 ? own.body : 'noise' });
  github.posts.push(own);
  await deliverer.deliver(comment({ text: 'second' }, { mode: 'upsert' }));
  assert.match(own.body, /^second\n/);
  assert.match(github.posts[3]?.body ?? '', /^first\n/);
  assert.equal(github.posts.length, 121);
});

test('concurrent deliveries of a session make one comment, and a late attempt does not replace a newer text', async (t) => {
  const { github, deliverer } = await setUp(t, TOKEN);
  const requests = Array.from({ length: 8 }, (_, index) => comment({ text: `text ${index}` }, { mode: 'upsert' }));
  await Promise.all(requests.map((request) => deliverer.deliver(request)));
  assert.equal(github.posts.length, 1);
  assert.match(github.posts[0]?.body ?? '', /^text 7\n/);
  const [early] = requests;
  assert.ok(early !== undefined);
  const outcome = await deliverer.deliver({ ...early, first_attempt_at: NOW });
  assert.equal(outcome.kind, 'ok');
  assert.match(github.posts[0]?.body ?? '', /^text 7\n/);
});

test('a check run requires an app; it is created once and found by its id', async (t) => {
  const extra = { repo: 'octo-org/octo-repo', sha: SHA, name: 'review' };
  const content = { conclusion: 'failure', title: 'Two problems', text: 'See below.' };
  const request = delivery('github_check', { extra, content, text: 'See below.' });
  const { github, clock, deliverer } = await setUp(t, APP);
  github.next.push((_, usual) => {
    usual();
    return 'drop';
  });
  assert.equal((await deliverer.deliver(request)).kind, 'ambiguous');
  clock.advance(1000);
  assert.equal((await deliverer.deliver({ ...request, first_attempt_at: NOW })).kind, 'ok');
  assert.equal(github.posts.length, 1);
  const { external_id, ...sent } = github.posts[0]?.sent ?? {};
  assert.match(String(external_id), /^[0-9a-f]{32}$/);
  assert.deepEqual(sent, {
    ...{ name: 'review', head_sha: SHA, status: 'completed', conclusion: 'failure' },
    output: { title: 'Two problems', summary: 'See below.' },
  });
  const { deliverer: withToken } = await setUp(t, TOKEN);
  assert.equal(withToken.isEnabled('default', 'github_check'), false);
});

test('address forms are checked, and values cannot leave their path segment', async (t) => {
  const { github, deliverer } = await setUp(t, TOKEN);
  const repos = [
    'octo-org',
    'a/b/c',
    '../../user',
    'octo-org/..',
    'octo-org/.',
    'o/r?x=1',
    'o/r#',
    'https://evil.example/o',
    'o /r',
    '-o/r',
    '',
  ];
  for (const repo of repos) assert.equal((await deliverer.deliver(comment({}, { repo }))).kind, 'permanent', repo);
  for (const pr_number of ['0', '-1', '1e3', '12345678901', '4 2', '1/../2', 'x', ''])
    assert.equal((await deliverer.deliver(comment({}, { pr_number }))).kind, 'permanent', pr_number);
  const open = await deliverer.deliver(comment({ unresolved: ['repo'] }));
  assert.equal(open.kind, 'permanent');
  assert.equal(github.server.seen.length, 0);
});

test('a target for agent output rejects a delivery without its fields', async (t) => {
  const { github, deliverer } = await setUp(t, TOKEN);
  const outcome = await deliverer.deliver(delivery('github_labels', { extra: { repo: 'o/r', number: '1' } }));
  assert.equal(outcome.kind, 'permanent');
  assert.match(outcome.kind === 'permanent' ? outcome.reason : '', /`labels`/);
  assert.equal(github.server.seen.length, 0);
});

const reset = String(NOW / 1000 + 1234);
const REFUSALS = [
  [{ status: 401, body: { message: 'Bad credentials' } }, 'permanent', null],
  [{ status: 403, body: { message: 'Resource not accessible by personal access token' } }, 'permanent', null],
  [{ status: 404, body: { message: 'Not Found' } }, 'permanent', null],
  [{ status: 410, body: { message: 'Issues are disabled for this repo' } }, 'permanent', null],
  [{ status: 422, body: { message: 'Validation Failed' } }, 'permanent', null],
  [
    { status: 301, headers: { location: 'https://evil.example/' }, body: { message: 'Moved Permanently' } },
    'permanent',
    null,
  ],
  [
    {
      status: 403,
      headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset },
      body: { message: 'API rate limit exceeded' },
    },
    'retry',
    1_234_000,
  ],
  [
    { status: 429, headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset }, body: '' },
    'retry',
    1_234_000,
  ],
  [
    {
      status: 403,
      headers: { 'retry-after': '60', 'x-ratelimit-remaining': '4000', 'x-ratelimit-reset': reset },
      body: { message: 'You have exceeded a secondary rate limit' },
    },
    'retry',
    60_000,
  ],
  [
    {
      status: 403,
      headers: { 'x-ratelimit-remaining': '4000', 'x-ratelimit-reset': reset },
      body: { message: 'You have exceeded a secondary rate limit. Please wait a few minutes' },
    },
    'retry',
    75_000,
  ],
  [{ status: 403, body: { message: 'You have triggered an abuse detection mechanism.' } }, 'retry', 75_000],
  [{ status: 422, body: { message: 'was submitted too quickly' } }, 'permanent', null],
  [{ status: 502, body: '<html>Unicorn</html>' }, 'ambiguous', null],
  [{ status: 201, body: '<html>please log in</html>' }, 'permanent', null],
] as const;

test('rejections by GitHub are permanent, or retried after the wait that it requests', async (t) => {
  const { github, deliverer } = await setUp(t, TOKEN);
  for (const [answer, kind, wait] of REFUSALS) {
    github.next.push(() => answer);
    const outcome = await deliverer.deliver(comment());
    const said = `${JSON.stringify(answer)}: ${JSON.stringify(outcome)}`;
    assert.ok(outcome.kind !== 'ok', said);
    assert.deepEqual([outcome.kind, outcome.retry_after_ms], [kind, wait], said);
    assert.doesNotMatch(said.slice(said.indexOf('reason')), /canary|Please wait|Resource not/);
  }
  assert.equal(github.posts.length, 0);
});

test('an app: a hundred concurrent deliveries request one token, and two organizations one each', async (t) => {
  const { github, deliverer } = await setUp(t, APP);
  const to = (repo: string, target = 'github_comment') =>
    delivery(target, { extra: { repo, pr_number: '1', number: '1' }, content: { text: 'hello', labels: ['bug'] } });
  const outcomes = await Promise.all(
    Array.from({ length: 100 }, (_, index) =>
      deliverer.deliver(to('octo-org/octo-repo', index % 2 === 0 ? 'github_comment' : 'github_labels')),
    ),
  );
  assert.deepEqual(new Set(outcomes.map(({ kind }) => kind)), new Set(['ok']));
  assert.equal(github.count(/access_tokens/), 1);
  assert.equal(github.count(/\/installation$/), 1);
  await Promise.all(['octo-org/second', 'other-org/one', 'other-org/two'].map((repo) => deliverer.deliver(to(repo))));
  assert.equal(github.count(/501\/access_tokens/), 1);
  assert.equal(github.count(/502\/access_tokens/), 1);
  assert.deepEqual(new Set(github.posts.map(({ login }) => login)), new Set(['our-app[bot]']));
});

test('an app: a token is used until shortly before its expiry, and replaced if it expires during a delivery', async (t) => {
  const { github, clock, deliverer } = await setUp(t, APP);
  await deliverer.deliver(comment());
  clock.advance(54 * 60_000);
  await deliverer.deliver(comment());
  assert.equal(github.count(/access_tokens/), 1);
  clock.advance(2 * 60_000);
  await deliverer.deliver(comment());
  assert.equal(github.count(/access_tokens/), 2);
  // Between the first and the second piece.
  github.next.push((_, usual) => {
    const answer = usual();
    github.revokeTokens();
    return answer;
  });
  const before = github.posts.length;
  const outcome = await deliverer.deliver(comment({ text: `${'a'.repeat(60_000)}\n\n${'b'.repeat(60_000)}` }));
  assert.equal(outcome.kind, 'ok', JSON.stringify(outcome));
  assert.equal(github.posts.length, before + 2);
  assert.equal(github.count(/access_tokens/), 3);
});

test('an app: an installation that is removed, suspended or created again', async (t) => {
  const { github, deliverer } = await setUp(t, APP);
  const app = github.apps.get('77');
  assert.ok(app !== undefined);
  assert.equal((await deliverer.deliver(comment())).kind, 'ok');
  app.installations.delete('octo-org');
  github.revokeTokens();
  const removed = await deliverer.deliver(comment());
  assert.equal(removed.kind, 'permanent');
  assert.equal(removed.kind, 'permanent');
  app.installations.set('octo-org', 777);
  assert.equal((await deliverer.deliver(comment())).kind, 'ok');
  github.revokeTokens();
  app.suspended.add(777);
  const suspended = await deliverer.deliver(comment());
  assert.match(suspended.kind === 'permanent' ? suspended.reason : '', /suspended/);
});

for (const offset of [-90_000, 90_000, -7_200_000, 7_200_000]) {
  test(`an app: a clock that is ${offset / 1000} s off`, async (t) => {
    const { github, clock, deliverer } = await setUp(t, APP);
    github.now = () => clock.now() + offset;
    for (let index = 0; index < 3; index++) {
      const outcome = await deliverer.deliver(comment());
      assert.equal(outcome.kind, 'ok', JSON.stringify(outcome));
    }
    assert.equal(github.count(/access_tokens/), 1);
    clock.advance(56 * 60_000);
    assert.equal((await deliverer.deliver(comment())).kind, 'ok');
    assert.equal(github.count(/access_tokens/), 2);
  });
}

test('an app: an invalid or wrong key is reported, and no key or token is in an outcome or log', async (t) => {
  const { github, deliverer } = await setUp(t, APP);
  const app = github.apps.get('77');
  assert.ok(app !== undefined);
  github.apps.set('77', { ...app, publicKey: generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey });
  const refused = await deliverer.deliver(comment());
  assert.match(refused.kind === 'permanent' ? refused.reason : '', /app_id.*private_key/);
  github.apps.set('77', app);
  // A host that echoes the request.
  github.next.push((request) => ({ status: 422, body: { message: request.headers.authorization ?? '' } }));
  const echoed = await deliverer.deliver(comment());
  const said = JSON.stringify([refused, echoed, deliverer.log]);
  assert.doesNotMatch(said, /PRIVATE|ghs_|eyJ/);
  for (const line of PEM.split('\n').filter((each) => each.length > 20)) assert.equal(said.includes(line), false);
  const shown = JSON.stringify(await deliverer.show(comment()));
  assert.doesNotMatch(shown, /ghs_|eyJ/);
  const plan = shippedTarget('github_labels');
  const bad = { enabled: true, api_base: github.url, app_id: '77', private_key: 'canary-not-a-key' };
  const { plan: binding } = lowerBinding(bad, plan, { profile: 'default', max_attempts: 8, at_most_once: false });
  assert.ok(binding !== null);
  const { problems } = createTestDeliverer(t, { targets: [plan], bindings: { default: { github_labels: binding } } });
  assert.match(problems[0]?.message ?? '', /^private_key /);
  assert.doesNotMatch(problems[0]?.message ?? '', /canary/);
});
