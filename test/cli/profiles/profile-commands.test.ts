import assert from 'node:assert/strict';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { runInProcess } from '../../helpers/cli.ts';
import { expectGolden, screensOf } from '../../helpers/golden.ts';
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

test('create makes a private home and does not change an existing one', async (t) => {
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
  for (const name of ['work', 'default', '../x'])
    assert.equal((await runInProcess(['profile', 'create', name], { home })).code, 1, name);
  assert.equal(existsSync(join(home, 'x')), false);
});

test('list, show and lint print what each profile can reach, without secrets', async (t) => {
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
  const run = (...argv: string[]) => runInProcess(argv, { home });
  const screens = await screensOf(
    run,
    ['profile', 'list'],
    ['profile', 'show', 'work'],
    ['profile', 'show', 'default'],
    ['profile', 'show', 'wrok'],
  );
  assert.doesNotMatch(screens, /literal-token|literal-secret/);
  expectGolden('cli/profiles/screens.txt', screens.replaceAll(home, '<home>'));
  const { stdout } = await run('profile', 'show', 'work');
  const lint = await run('lint');
  assert.ok(lint.stdout.includes(stdout), lint.stdout);
});

test('a profile that is not served is listed with this state', async (t) => {
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
  assert.match((await runInProcess(['profile', 'show', 'work'], { home })).stderr, /gateway\.multiplex_profiles: true/);
});
