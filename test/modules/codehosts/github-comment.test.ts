/** Tests comments through a fake `gh` that records its arguments, environment and stdin, and ends as scripted. */
import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { describe, test } from 'node:test';
import { ghOutcome } from '../../../modules/codehosts/runtime/github-comment.ts';
import type { DeliveryRequest } from '../../../runtime/deliver/deliverer.ts';
import { quietMentions } from '../../../runtime/deliver/prepare-text.ts';
import { createTestDeliverer, deliveryTo } from '../../helpers/deliveries.ts';
import { bindingOf, shippedTarget } from '../../helpers/targets.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const URL_LINE = 'https://github.com/o/r/issues/1#issuecomment-1';

interface Call {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly stdin: string;
}

/** A `gh` whose responses are shell lines, one for each call; the last one repeats. */
function fakeGh(t: TestContext, answers: readonly string[]) {
  const dir = tempDir(t);
  const bin = join(dir, 'bin');
  mkdirSync(bin);
  const cases = answers.map((answer, index) => `${index === answers.length - 1 ? '*' : index}) ${answer};;`);
  const script = [
    '#!/bin/sh',
    `d='${dir}'; n=$(ls "$d" | grep -c '^argv'); i=$n`,
    `for a in "$@"; do printf '%s\\0' "$a"; done > "$d/argv.$n"; env -0 > "$d/env.$n"; pwd > "$d/cwd.$n"; cat > "$d/stdin.$n"`,
    `case $i in`,
    ...cases,
    'esac',
  ].join('\n');
  writeFileSync(join(bin, 'gh'), script);
  chmodSync(join(bin, 'gh'), 0o755);
  const read = (name: string): string => readFileSync(join(dir, name), 'utf8');
  const calls = (): Call[] => {
    const all: Call[] = [];
    while (existsSync(join(dir, `stdin.${all.length}`))) {
      const n = all.length;
      const lines = read(`env.${n}`)
        .split('\0')
        .filter((line) => line !== '');
      const env = Object.fromEntries(
        lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
      );
      all.push({
        argv: read(`argv.${n}`).split('\0').slice(0, -1),
        env,
        cwd: read(`cwd.${n}`).trim(),
        stdin: read(`stdin.${n}`),
      });
    }
    return all;
  };
  return { dir, bin, calls };
}

const ok = `echo '${URL_LINE}'`;
const fail = (stderr: string, code = 1): string => `echo '${stderr}' >&2; exit ${code}`;

function setUp(
  t: TestContext,
  answers: readonly string[],
  settings: Readonly<Record<string, string>> = { token: 'canary-token' },
) {
  const gh = fakeGh(t, answers);
  const env = {
    PATH: `${gh.bin}:${process.env.PATH}`,
    HOME: '/home/op',
    GH_REPO: 'evil/repo',
    GITHUB_TOKEN: 'other',
    GH_DEBUG: 'api',
    GIT_DIR: '/x',
    WEBHOOK_SECRET: 'canary-webhook',
    HTTPS_PROXY: 'http://proxy:3128',
    SSL_CERT_FILE: '/etc/corp.pem',
    DBUS_SESSION_BUS_ADDRESS: 'unix:path=/run/user/1/bus',
  };
  const targets = [shippedTarget('github_comment')];
  const deliverer = createTestDeliverer(t, {
    targets,
    bindings: { default: { github_comment: bindingOf(settings) } },
    home: gh.dir,
    env,
  });
  return { gh, deliverer };
}

const comment = (more: Partial<DeliveryRequest> = {}): DeliveryRequest =>
  deliveryTo('github_comment', { extra: { repo: 'o/r', pr_number: '12' }, text: 'Looks good', ...more });

test('passes the comment on stdin, a checked address in argv, and a clean environment', async (t) => {
  const { gh, deliverer } = setUp(t, [ok]);
  const outcome = await deliverer.deliver(comment({ text: 'hi @org/team\n```\n@decorator\n```\n' }));
  assert.deepEqual(outcome, { kind: 'ok', message_id: URL_LINE, sent: 1 });
  const [call] = gh.calls();
  assert.deepEqual(call?.argv, ['issue', 'comment', '--repo=o/r', '--body-file=-', '--', '12']);
  assert.match(call?.stdin ?? '', /^hi @\u200Borg\/team\n```\n@decorator\n```\n\n\n<!-- delivery:[0-9a-f]{32} -->\n$/);
  const { PWD, OLDPWD, SHLVL, _, ...env } = call?.env ?? {};
  assert.deepEqual(Object.keys(env).sort(), [
    'GH_CONFIG_DIR',
    'GH_NO_UPDATE_NOTIFIER',
    'GH_PROMPT_DISABLED',
    'GH_TOKEN',
    'HOME',
    'HOOKWRIGHT_RUN',
    'HTTPS_PROXY',
    'NO_COLOR',
    'PATH',
    'SSL_CERT_FILE',
  ]);
  assert.equal(env.GH_TOKEN, 'canary-token');
  assert.equal(env.GH_CONFIG_DIR, join(gh.dir, 'gh'));
  assert.equal(call?.cwd, join(gh.dir, 'gh'));
});

test('without a token, the default profile uses the login of this machine', async (t) => {
  const { gh, deliverer } = setUp(t, [ok], {});
  await deliverer.deliver(comment());
  assert.equal(gh.calls()[0]?.env.HOME, '/home/op');
  assert.equal(gh.calls()[0]?.env.GITHUB_TOKEN, undefined);
  assert.equal(gh.calls()[0]?.env.WEBHOOK_SECRET, undefined);
  // A login is in the keyring, which is reached over the session bus.
  assert.equal(gh.calls()[0]?.env.DBUS_SESSION_BUS_ADDRESS, 'unix:path=/run/user/1/bus');
});

test('an enterprise host gets the token in its own variable', async (t) => {
  const { gh, deliverer } = setUp(t, [ok], { token: 'canary-token', host: 'git.corp.example' });
  await deliverer.deliver(comment());
  const env = gh.calls()[0]?.env ?? {};
  assert.equal(env.GH_ENTERPRISE_TOKEN, 'canary-token');
  assert.equal(env.GH_HOST, 'git.corp.example');
  assert.equal(env.GH_TOKEN, undefined);
});

test('an address that gh could misread is rejected before gh starts', async (t) => {
  const { gh, deliverer } = setUp(t, [ok]);
  const bad: readonly Readonly<Record<string, string>>[] = [
    { repo: 'o/r' },
    { pr_number: '1' },
    ...['https://evil.example/o/r/pull/1', '0', '01', '-1', '1 ', '', 'branch', '12345678901', '1\n'].map(
      (pr_number) => ({ repo: 'o/r', pr_number }),
    ),
    ...[
      'evil.example/o/r',
      'o',
      'o/',
      '/r',
      'o/..',
      'o/.',
      '-o/r',
      'o/r/x',
      'o/r\n',
      'https://evil.example/o/r',
      '',
      'o /r',
      'ö/r',
    ].map((repo) => ({ repo, pr_number: '1' })),
  ];
  for (const extra of bad)
    assert.equal((await deliverer.deliver(comment({ extra }))).kind, 'permanent', JSON.stringify(extra));
  for (const unresolved of [['repo'], ['pr_number']])
    assert.equal((await deliverer.deliver(comment({ unresolved }))).kind, 'permanent');
  assert.equal(gh.calls().length, 0);
});

test('the exit of gh decides the outcome', async (t) => {
  const CASES: readonly (readonly [string, string, number | null])[] = [
    [fail('To get started, set the GH_TOKEN environment variable', 4), 'permanent', null],
    [fail('HTTP 401: Bad credentials (https://api.github.com/graphql)'), 'permanent', null],
    [fail('You have exceeded a secondary rate limit'), 'retry', 75_000],
    [fail('HTTP 403: API rate limit exceeded'), 'retry', 75_000],
    [fail('HTTP 403: Resource not accessible by integration'), 'permanent', null],
    [
      fail('GraphQL: Could not resolve to a PullRequest with the number of 9. (repository.pullRequest)'),
      'permanent',
      null,
    ],
    [fail('error connecting to api.github.com'), 'retry', null],
    [fail('HTTP 502: Bad Gateway'), 'ambiguous', null],
    [fail('Body is too long'), 'permanent', null],
    [fail('canary-token in some other failure'), 'permanent', null],
    ['kill -9 $$', 'ambiguous', null],
  ];
  const { deliverer } = setUp(
    t,
    CASES.map(([answer]) => answer),
  );
  for (const [answer, kind, wait] of CASES) {
    const outcome = await deliverer.deliver(comment());
    assert.equal(outcome.kind, kind, answer);
    assert.equal(outcome.kind === 'ok' ? null : outcome.retry_after_ms, wait, answer);
    assert.doesNotMatch(JSON.stringify(outcome), /canary/);
  }
});

test('a missing gh is a permanent failure, a hanging one is ambiguous', async (t) => {
  const gone = createTestDeliverer(t, {
    targets: [shippedTarget('github_comment')],
    bindings: { default: { github_comment: bindingOf({}) } },
    home: tempDir(t),
    env: { PATH: '/nonexistent' },
  });
  const outcome = await gone.deliver(comment());
  assert.equal(outcome.kind, 'permanent');
  assert.match(outcome.kind === 'permanent' ? outcome.reason : '', /\bPATH\b/);
  assert.equal(ghOutcome({ kind: 'timeout', stderr: '' }).kind, 'ambiguous');
});

describe('a repeat after an attempt with an unknown outcome', () => {
  test('posts only if the marker is not found', async (t) => {
    const { gh, deliverer } = setUp(t, ['cat "$d/stdin.0"; exit 0', 'echo other comments', ok]);
    const [shown] = await deliverer.show(comment());
    const marker = /<!-- delivery:[0-9a-f]+ -->/.exec(JSON.stringify(shown))?.[0] ?? '';
    writeFileSync(join(gh.dir, 'found'), marker);
    const searching = comment({ first_attempt_at: 1 });
    const script = readFileSync(join(gh.bin, 'gh'), 'utf8');
    writeFileSync(join(gh.bin, 'gh'), script.replace('cat "$d/stdin.0"', 'cat "$d/found"'));
    assert.deepEqual(await deliverer.deliver(searching), { kind: 'ok', message_id: null, sent: 1 });
    assert.deepEqual(gh.calls()[0]?.argv, [
      'issue',
      'view',
      '--repo=o/r',
      '--json=comments',
      '--jq=.comments[] | select(.viewerDidAuthor != false).body',
      '--',
      '12',
    ]);
    assert.equal((await deliverer.deliver(searching)).kind, 'ok');
    assert.deepEqual(
      gh.calls().map(({ argv }) => argv[1]),
      ['view', 'view', 'comment'],
    );
  });

  test('does not search if the previous attempt certainly posted nothing', async (t) => {
    const { gh, deliverer } = setUp(t, [fail('You have exceeded a secondary rate limit'), ok]);
    assert.equal((await deliverer.deliver(comment())).kind, 'retry');
    assert.equal((await deliverer.deliver(comment({ first_attempt_at: 1 }))).kind, 'ok');
    assert.deepEqual(
      gh.calls().map(({ argv }) => argv[1]),
      ['comment', 'comment'],
    );
  });

  test('waits if the search fails, and searches again', async (t) => {
    const { gh, deliverer } = setUp(t, [fail('HTTP 502: x'), fail('HTTP 502: x'), 'echo nothing', ok]);
    const first = await deliverer.deliver(comment());
    assert.equal(first.kind === 'ambiguous' && first.idempotent, true);
    const again = comment({ first_attempt_at: 1 });
    assert.equal((await deliverer.deliver(again)).kind, 'retry');
    assert.equal((await deliverer.deliver(again)).kind, 'ok');
    assert.deepEqual(
      gh.calls().map(({ argv }) => argv[1]),
      ['comment', 'view', 'view', 'comment'],
    );
  });
});

test('a long answer becomes several comments, and a retry resumes where it stopped', async (t) => {
  const { gh, deliverer } = setUp(t, [ok, fail('submitted too quickly'), ok]);
  const text = `${'a '.repeat(32_000)}\n\n${'b '.repeat(1000)}`;
  const first = await deliverer.deliver(comment({ text }));
  assert.equal(first.kind, 'retry');
  assert.equal(first.sent, 1);
  assert.deepEqual(await deliverer.deliver(comment({ text, sent: 1, first_attempt_at: 1 })), {
    kind: 'ok',
    message_id: URL_LINE,
    sent: 2,
  });
  const bodies = gh.calls().map(({ stdin }) => stdin);
  assert.ok(bodies.every((body) => body.length < 65_536));
  assert.equal(bodies[1], bodies[2]);
});

test('mentions are disabled outside fenced code, and everywhere if the end of code is uncertain', async () => {
  const Z = '\u200B';
  const CASES: readonly [string, string][] = [
    ['@bob and mail a@b.c', `@${Z}bob and mail a@b.c`],
    ['(@org/team)', `(@${Z}org/team)`],
    ['~~~\n@a\n~~~\n@b', `~~~\n@a\n~~~\n@${Z}b`],
    ['````\n```\n@a\n````\n@b', `\`\`\`\`\n\`\`\`\n@a\n\`\`\`\`\n@${Z}b`],
    ['``` x`y ```\n@b', `\`\`\` x\`y \`\`\`\n@${Z}b`],
    ['```\n@open', '```\n@open'],
    ['> ```\n> @a\n@b', `> \`\`\`\n> @a\n@${Z}b`],
    ['<div>\n```\n@a\n```', `<div>\n\`\`\`\n@${Z}a\n\`\`\``],
  ];
  for (const [raw, expected] of CASES) assert.equal(await quietMentions(raw, { whole: true }), expected, raw);
});
