import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import type { CliResult } from '../../helpers/cli.ts';
import { runInProcess } from '../../helpers/cli.ts';
import { FakeClock } from '../../helpers/fake-clock.ts';
import { startGateway } from '../../helpers/gateway.ts';
import { expectGolden, screensOf } from '../../helpers/golden.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const CONFIG = `platforms:
  webhook:
    enabled: true
    secret: a-global-secret-for-tests
    routes:
      fixed:
        prompt: "{a}"
  messenger_a:
    enabled: true
    token: "1:abc"
gateway: { multiplex_profiles: true }
jobs:
  nightly: { schedule: "0 3 * * *", prompt: Clean up. }
`;

interface Bench {
  readonly home: string;
  readonly file: string;
  readonly webhook: (...argv: string[]) => Promise<CliResult>;
  readonly entries: () => Record<string, Record<string, unknown>>;
}

function bench(t: TestContext, clock = new FakeClock()): Bench {
  const home = tempDir(t);
  writeFileSync(join(home, 'config.yaml'), CONFIG, { mode: 0o600 });
  const file = join(home, 'webhook_subscriptions.json');
  return {
    home,
    file,
    webhook: (...argv) => runInProcess(['webhook', ...argv], { home, context: { clock } }),
    entries: () => JSON.parse(readFileSync(file, 'utf8')) as Record<string, Record<string, unknown>>,
  };
}

test('the commands print their screens', async (t) => {
  const { home } = bench(t);
  const context = { clock: new FakeClock(), random: () => createHash('sha256').update('one').digest() };
  const run = (...argv: string[]) => runInProcess(argv, { home, context });
  const subscribe = (...flags: string[]) => ['webhook', 'subscribe', ...flags];
  const toChat = ['--deliver', 'messenger_a', '--deliver-chat-id', '-1', '--prompt', 'x'];
  const screens = await screensOf(
    run,
    subscribe('reviews', '--events', 'pull_request', '--prompt', 'Review {title}'),
    subscribe('reviews', '--prompt', 'Read {title}', '--disable'),
    subscribe('pay', '--source', 'github', '--secret', 'env:PAY', '--prompt', 'x'),
    subscribe('chat', '--source', 'discord', '--public-key', 'env:KEY', '--prompt', 'x'),
    subscribe('direct', '--deliver-only', ...toChat),
    subscribe('stored', '--agent', 'none', ...toChat),
    subscribe('job', '--cron-job', 'nightly'),
    ['webhook', 'list'],
    ['webhook', 'list', '--all'],
    ['webhook', 'show', 'reviews'],
    ['webhook', 'remove', 'reviews'],
    ['route', 'pause', 'pay', '--for', '1h'],
    ['route', 'resume', 'pay'],
  );
  expectGolden('cli/subscriptions/screens.txt', screens);
});

test('subscribe creates a route with its own secret and prints how to use it', async (t) => {
  const { webhook, entries, file } = bench(t);
  const made = await webhook('subscribe', 'reviews', '--events', 'pull_request', '--prompt', 'Review {title}');
  assert.equal(made.code, 0, made.stderr);
  const { secret } = entries().reviews ?? {};
  assert.match(String(secret), /^[0-9a-f]{64}$/);
  for (const shown of ['http://127.0.0.1:8644/webhooks/reviews\n', `${String(secret)}\n`, 'curl -d'])
    assert.ok(made.stdout.includes(shown), shown);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.deepEqual(entries(), { reviews: { events: ['pull_request'], prompt: 'Review {title}', secret } });
});

test('subscribe warns of an agent that acts on untrusted text, and of its prompt', async (t) => {
  const { webhook, home } = bench(t);
  const agent = 'agent: { command: [claude, -p, --tools, ""], confined: It has no tools. }\n';
  writeFileSync(join(home, 'config.yaml'), CONFIG + agent, { mode: 0o600 });
  const subscribe = async (name: string, prompt: string) => {
    const flags = ['--source', 'github', '--events', 'issue_comment', '--prompt', prompt];
    const { code, stderr } = await webhook('subscribe', name, ...flags);
    assert.equal(code, 0, stderr);
    return stderr.match(/warning: .*/g) ?? [];
  };
  assert.deepEqual(await subscribe('harmless', 'Number {issue.number}'), []);
  const [warning, ...others] = await subscribe('comments', 'x {comment.body}');
  assert.match(warning ?? '', /`comments`.*\(agent-expands-text\)/);
  assert.deepEqual(others, []);
  const both = await subscribe('bare', '{comment.body}');
  assert.equal(both.length, 2);
  assert.ok(
    both.some((each) => each.includes('`{comment.body}`')),
    both.join('\n'),
  );
  await webhook('disable', 'comments');
  assert.doesNotMatch((await webhook('disable', 'bare')).stderr, /warning/);
  assert.match((await webhook('enable', 'bare')).stderr, /`\{comment\.body\}`/);
  const gateway = await startGateway(t, { home, config: CONFIG + agent });
  const flags = ['--source', 'github', '--events', 'issue_comment', '--prompt', 'y {comment.body}'];
  assert.match(
    (await gateway.cli('webhook', 'subscribe', 'served', ...flags)).stderr,
    /`served`.*\(agent-expands-text\)/,
  );
});

test('every option is stored in the entry, even a negative chat id', async (t) => {
  const { webhook, entries, home } = bench(t);
  mkdirSync(join(home, 'scripts'));
  writeFileSync(join(home, 'scripts', 'f.sh'), '');
  const flags = [
    ...['--events', 'a,b', '--events', 'c*', '--prompt', '- {x}', '--description', 'd', '--script', 'f.sh'],
    ...['--deliver', 'messenger_a', '--deliver-chat-id', '-100200', '--deliver-extra', 'message_thread_id={t}'],
    ...['--skills', 's', '--filter', '{field: a, equals: 1}', '--coalesce', '{key: a, window_seconds: 5}'],
    ...['--mirror-to-session', '--secret', 'env:OTHER', '--disable'],
  ];
  const made = await webhook('subscribe', 'all', ...flags);
  assert.equal(made.code, 0, made.stderr);
  assert.deepEqual(entries().all, {
    ...{ events: ['a', 'b', 'c*'], prompt: '- {x}', description: 'd', script: 'f.sh', skills: ['s'] },
    ...{ deliver: 'messenger_a', deliver_extra: { message_thread_id: '{t}', chat_id: '-100200' } },
    ...{ filters: [{ field: 'a', equals: 1 }], coalesce: { key: 'a', window_seconds: 5 } },
    ...{ mirror_to_session: true, secret: 'env:OTHER', enabled: false },
  });
  assert.doesNotMatch(made.stdout, /env:OTHER/);
  const toChat = ['--deliver', 'messenger_a', '--deliver-chat-id', '-1', '--deliver-only', '--prompt', 'x'];
  for (const [mode, ...argv] of [
    ['direct', 'to-chat', ...toChat],
    ['cron', 'job', '--cron-job', 'nightly'],
  ])
    assert.equal(JSON.parse((await webhook('subscribe', ...argv, '--json')).stdout).mode, mode);
});

test('a source limits a subscription to the signature of one sender', async (t) => {
  const { webhook, entries, home } = bench(t);
  const refused = await webhook('subscribe', 'pay', '--source', 'stripes', '--prompt', 'x');
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /source: .*`stripes`.*`stripe`.*\(unknown-source\)/);
  const made = await webhook('subscribe', 'pay', '--source', 'github', '--prompt', 'x');
  assert.equal(made.code, 0, made.stderr);
  assert.match(made.stdout, /hookwright webhook test pay\n/);
  const { secret } = entries().pay ?? {};
  assert.deepEqual(entries().pay, { prompt: 'x', source: 'github', secret });
  const [row] = JSON.parse((await webhook('list', '--json')).stdout) as { source: string }[];
  assert.equal(row?.source, 'github', 'as it was written');
  assert.match((await webhook('show', 'pay')).stdout, /"source": "github"/);

  const gateway = await startGateway(t, { home, config: CONFIG });
  const as = async (source: string) => (await gateway.cli('webhook', 'test', 'pay', '--source', source)).stdout;
  assert.match(await as('github'), /^202 /);
  assert.match(await as('generic-v2'), /^401 /);
  assert.equal((await gateway.cli('webhook', 'subscribe', 'pay', '--source', '')).code, 0);
  assert.match(await as('generic-v2'), /^202 /);
  const [any] = JSON.parse((await webhook('list', '--json')).stdout) as { source: string | null }[];
  assert.equal(any?.source, null);
});

test('a sender with a private key gets no secret', async (t) => {
  const { webhook, entries } = bench(t);
  const refused = await webhook('subscribe', 'chat', '--source', 'discord', '--prompt', 'x');
  assert.deepEqual([refused.code, refused.stderr.includes('`public_key`')], [1, true]);
  const key = '8f1d0c6a2b5e94733ad80f6b1c2e5d97a4068b3ef7512c9d60e8a1b47f3c2d59';
  const made = await webhook('subscribe', 'chat', '--source', 'discord', '--prompt', 'x', '--public-key', key);
  assert.equal(made.code, 0, made.stderr);
  assert.deepEqual(entries().chat, { prompt: 'x', source: 'discord', public_key: key });
  const flags = ['--source', 'whatsapp', '--prompt', 'x', '--verify-token', 'a-word-of-our-own'];
  assert.equal((await webhook('subscribe', 'talk', ...flags)).code, 0);
  assert.doesNotMatch((await webhook('show', 'talk')).stdout, /a-word-of-our-own/);
  assert.match((await webhook('show', 'talk', '--reveal')).stdout, /a-word-of-our-own/);
});

test('an update changes only the given options and keeps secret, toolsets and unknown keys', async (t) => {
  const { webhook, entries, file } = bench(t);
  const old = { prompt: 'old', secret: 'the-secret-of-this-entry', toolsets: ['terminal'], events: ['a'] };
  writeFileSync(file, JSON.stringify({ one: old, two: { prompt: 'two', secret: 'another-secret-of-two', future: 1 } }));
  const changed = await webhook('subscribe', 'one', '--prompt', 'new');
  assert.equal(changed.code, 0, changed.stderr);
  assert.doesNotMatch(changed.stdout, /the-secret-of-this-entry/);
  assert.deepEqual(entries().one, { ...old, prompt: 'new' });
  const future = await webhook('subscribe', 'two', '--prompt', 'new');
  assert.equal(future.code, 0, future.stderr);
  assert.match(future.stderr, /warning: future: /);
  assert.deepEqual(entries().two, { prompt: 'new', secret: 'another-secret-of-two', future: 1 });
});

const refused: readonly (readonly [string, string[], number, RegExp])[] = [
  ['an unknown job', ['x', '--cron-job', 'nigthly'], 1, /`nigthly`.*\(unknown-job\)/],
  ['direct delivery to the log', ['x', '--deliver-only'], 1, /deliver-only-target/],
  [
    'direct delivery with a job',
    ['x', '--deliver-only', '--deliver', 'messenger_a', '--cron-job', 'nightly'],
    1,
    /deliver-only-with-cron-job/,
  ],
  ['coalescing a job', ['x', '--cron-job', 'nightly', '--coalesce', 'a'], 1, /coalesce-mode/],
  ['a name that is not valid in a URL', ['Bad Name'], 1, /Bad Name/],
  ['a static route', ['fixed', '--prompt', 'x'], 1, /"fixed".*\n.* config\.yaml:6/],
  ['an unknown target', ['x', '--deliver', 'mesenger_a'], 1, /messenger_a/],
  ['an unknown profile', ['x', '--route-profile', 'unknown'], 1, /unknown-profile/],
  ['a flag for toolsets', ['x', '--toolsets', 'web'], 2, /"--toolsets"/],
  ['no name', [], 2, /hookwright webhook subscribe <subscription>/],
];
for (const [name, argv, code, expected] of refused) {
  test(`subscribe rejects ${name} and writes nothing`, async (t) => {
    const { webhook, file } = bench(t);
    const result = await webhook('subscribe', ...argv);
    assert.equal(result.code, code, result.stderr);
    assert.match(result.stderr, expected);
    assert.equal(result.stdout, '');
    assert.equal(existsSync(file), false);
  });
}

test('every command rejects an unparsable file with the position and does not change it', async (t) => {
  const { webhook, file } = bench(t);
  writeFileSync(file, '{\n  "a": {},\n}\n');
  for (const argv of [
    ['subscribe', 'x'],
    ['remove', 'a'],
    ['enable', 'a'],
    ['rotate-secret', 'a'],
    ['list'],
    ['show', 'a'],
  ]) {
    const result = await webhook(...argv);
    assert.equal(result.code, 1, argv.join(' '));
    assert.match(result.stderr, /webhook_subscriptions\.json:3:1: /, argv.join(' '));
  }
  assert.equal(readFileSync(file, 'utf8'), '{\n  "a": {},\n}\n');
});

test('list shows the state of each entry and no secret', async (t) => {
  const { webhook, file } = bench(t);
  const secret = 'a-secret-that-must-not-show';
  writeFileSync(
    file,
    JSON.stringify({
      good: { secret, toolsets: ['terminal'], events: ['push'] },
      off: { secret, enabled: false },
      bad: { secret, cron_job: 'nope' },
      fixed: { secret },
    }),
  );
  const { stdout } = await webhook('list', '--json');
  const rows = JSON.parse(stdout) as {
    name: string;
    id: string;
    state: string;
    reason: string | null;
    toolsets: string[];
  }[];
  assert.deepEqual(
    rows.map(({ name, state }) => [name, state]),
    [
      ['good', 'serving'],
      ['off', 'disabled'],
      ['bad', 'quarantined'],
      ['fixed', 'shadowed'],
    ],
  );
  assert.deepEqual(rows[0]?.toolsets, ['terminal']);
  assert.match(rows[2]?.reason ?? '', /nope/);
  assert.match(rows[3]?.reason ?? '', /config\.yaml:6/);
  const table = await webhook('list', '--all');
  assert.doesNotMatch(table.stdout + stdout, /must-not-show|a-global-secret/);
});

test('show hides secrets without --reveal', async (t) => {
  const { webhook, file } = bench(t);
  writeFileSync(
    file,
    JSON.stringify({
      a: {
        secrets: [
          'first-of-two-secrets',
          { value: 'second-of-two-secrets', expires_at: '2030-01-01T00:00:00Z' },
          'env:THIRD',
        ],
      },
    }),
  );
  const hidden = await webhook('show', 'a');
  assert.doesNotMatch(hidden.stdout, /of-two-secrets/);
  assert.match(hidden.stdout, /env:THIRD/);
  const shown = await webhook('show', 'a', '--reveal', '--json');
  assert.match(shown.stdout, /first-of-two-secrets[\s\S]*second-of-two-secrets/);
  assert.equal((await webhook('show', 'b')).code, 1);
  assert.equal((await webhook('show', 'fixed')).code, 1);
});

test('remove, enable and disable change one entry and reject an unknown one', async (t) => {
  const { webhook, file, entries } = bench(t);
  writeFileSync(file, JSON.stringify({ a: { secret: 'a-secret-for-this-entry' }, b: {} }));
  assert.equal((await webhook('disable', 'a')).code, 0);
  assert.deepEqual(entries().a, { secret: 'a-secret-for-this-entry', enabled: false });
  assert.equal((await webhook('enable', 'a')).code, 0);
  assert.deepEqual(entries().a, { secret: 'a-secret-for-this-entry' });
  assert.equal((await webhook('remove', 'a')).code, 0);
  assert.deepEqual(Object.keys(entries()), ['b']);
  for (const verb of ['remove', 'enable', 'disable', 'rotate-secret']) {
    for (const name of ['a', 'fixed']) assert.equal((await webhook(verb, name)).code, 1, `${verb} ${name}`);
  }
});

test('rotate-secret keeps the old secret for the overlap, even the global one', async (t) => {
  const clock = new FakeClock(Date.UTC(2026, 0, 1));
  const { webhook, file, entries } = bench(t, clock);
  writeFileSync(file, JSON.stringify({ own: { secret: 'the-old-secret-of-own' }, inherits: {} }));
  const first = await webhook('rotate-secret', 'own', '--overlap', '24h');
  assert.equal(first.code, 0, first.stderr);
  const [fresh, old] = (entries().own?.secrets ?? []) as [string, unknown];
  assert.equal(first.stdout, `${fresh}\n`);
  assert.deepEqual(old, { value: 'the-old-secret-of-own', expires_at: '2026-01-02T00:00:00.000Z' });
  clock.jump(25 * 3_600_000);
  await webhook('rotate-secret', 'own', '--secret', 'env:NEW');
  assert.deepEqual(entries().own?.secrets, ['env:NEW', { value: fresh, expires_at: '2026-01-03T01:00:00.000Z' }]);
  await webhook('rotate-secret', 'own', '--overlap', '0', '--secret', 'env:LAST');
  assert.deepEqual(entries().own, { secret: 'env:LAST' });
  await webhook('rotate-secret', 'inherits', '--secret', 'env:MINE');
  const [, inherited] = (entries().inherits?.secrets ?? []) as { value: string }[];
  assert.equal(inherited?.value, 'a-global-secret-for-tests');
});

test('an entry that is not a map is quarantined and does not affect the others', async (t) => {
  const { webhook, entries, file } = bench(t);
  const good = { secret: '4f9d1c2b7a6e5f4d3c2b1a09f8e7d6c5', prompt: 'x' };
  writeFileSync(
    file,
    JSON.stringify({ key: null, text: 'not-to-be-shown', number: { profile: 3, secrets: 1 }, fresh: good }),
  );
  const listed = await webhook('list', '--json');
  assert.equal(listed.code, 0, listed.stderr);
  const rows = JSON.parse(listed.stdout) as {
    readonly name: string;
    readonly state: string;
    readonly reason: string;
  }[];
  assert.deepEqual(
    rows.map(({ name, state }) => [name, state]),
    [
      ['key', 'quarantined'],
      ['text', 'quarantined'],
      ['number', 'quarantined'],
      ['fresh', 'serving'],
    ],
  );
  const shown = await webhook('show', 'text');
  assert.equal(shown.code, 0, shown.stderr);
  assert.ok(!shown.stdout.includes('not-to-be-shown'));
  const changed = await webhook('subscribe', 'fresh', '--prompt', 'y');
  assert.equal(changed.code, 0, changed.stderr);
  assert.deepEqual(entries(), {
    key: null,
    text: 'not-to-be-shown',
    number: { profile: 3, secrets: 1 },
    fresh: { ...good, prompt: 'y' },
  });
  for (const argv of [
    ['enable', 'key'],
    ['subscribe', 'text', '--prompt', 'y'],
    ['rotate-secret', 'key'],
  ]) {
    const refused = await webhook(...argv);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /\n.*hookwright webhook remove (key|text)/);
  }
  assert.equal((await webhook('remove', 'key')).code, 0);
  assert.deepEqual(Object.keys(entries()), ['text', 'number', 'fresh']);
});
