import assert from 'node:assert/strict';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { runInProcess } from '../../helpers/cli.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const CONFIG = `platforms:
  webhook:
    enabled: true
    secret: env:SECRET
    routes:
      plain: { prompt: x }
      working: { prompt: x, profile: work }
gateway: { multiplex_profiles: true }
`;

test('create makes a home that only its owner can enter, and never touches one that is there', async (t) => {
  const home = tempDir(t);
  const made = await runInProcess(['profile', 'create', 'work'], { home });
  assert.equal(made.code, 0, made.stderr);
  assert.equal(made.stdout, `${join(home, 'profiles/work')}\n`);
  for (const folder of ['', 'scripts', 'skills', 'sessions']) {
    assert.equal(statSync(join(home, 'profiles/work', folder)).mode & 0o777, 0o700, folder);
  }
  for (const file of ['.env', 'config.yaml']) {
    assert.equal(statSync(join(home, 'profiles/work', file)).mode & 0o777, 0o600, file);
  }
  assert.match(
    (await runInProcess(['profile', 'create', 'work'], { home })).stderr,
    /there is a profile "work" already/,
  );
  assert.match((await runInProcess(['profile', 'create', 'default'], { home })).stderr, /always there/);
  assert.equal((await runInProcess(['profile', 'create', '../x'], { home })).code, 1);
  assert.equal(existsSync(join(home, 'x')), false);
});

test('list, show and lint say what each profile reaches, by reference and never by secret', async (t) => {
  const home = tempDir(t);
  await runInProcess(['profile', 'create', 'work'], { home });
  writeFileSync(join(home, 'config.yaml'), CONFIG);
  writeFileSync(
    join(home, 'profiles/work/config.yaml'),
    'platforms:\n  messenger_a: { enabled: true, token: "1:literal-token-of-work" }\nagent: { command: [my-agent] }\n',
  );
  writeFileSync(
    join(home, 'webhook_subscriptions.json'),
    JSON.stringify({ dynamic: { profile: 'work', secret: 'a-literal-secret-of-it' } }),
  );
  const list = await runInProcess(['profile', 'list'], { home });
  assert.match(list.stdout, /^default +plain +\S+ +none: /m);
  assert.match(list.stdout, /^work +working,dynamic +messenger_a,\S+ +my-agent +served$/m);
  const show = await runInProcess(['profile', 'show', 'work'], { home });
  assert.match(show.stdout, /routes +\/p\/work\/webhooks\/working \(agent\), \/p\/work\/webhooks\/dynamic \(agent\)\n/);
  assert.match(show.stdout, /credentials +route working: env:SECRET, .*messenger_a\.token: a literal secret\n/);
  const lint = await runInProcess(['lint'], { home });
  assert.ok(lint.stdout.includes(show.stdout), lint.stdout);
  assert.doesNotMatch(list.stdout + show.stdout, /literal-token|literal-secret/);
  const wrong = await runInProcess(['profile', 'show', 'wrok'], { home });
  assert.match(wrong.stderr, /there is no profile "wrok"\n {2}did you mean work\?/);
});

test('a profile that is not served is listed as such', async (t) => {
  const home = tempDir(t);
  await runInProcess(['profile', 'create', 'work'], { home });
  writeFileSync(join(home, 'config.yaml'), CONFIG.replace('true }', 'false }'));
  const list = await runInProcess(['profile', 'list', '--json'], { home });
  const rows = JSON.parse(list.stdout) as { name: string; served: boolean }[];
  assert.deepEqual(
    rows.map(({ name, served }) => [name, served]),
    [
      ['default', true],
      ['work', false],
    ],
  );
  assert.match(
    (await runInProcess(['profile', 'show', 'work'], { home })).stderr,
    /set gateway\.multiplex_profiles: true/,
  );
});
