/** `hookwright init` writes a configuration that passes lint and its tests, and overwrites nothing. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { readTemplates } from '../../../modules/setup/cli/init/plan-init.ts';
import { runInProcess, runOnFakeTerminal } from '../../helpers/cli.ts';
import { tempDir } from '../../helpers/temp-dir.ts';
import { ENTER } from './setup/questions.ts';

const down = '\u001b[B';

for (const { name } of readTemplates()) {
  test(`the template ${name} passes lint and its tests, and has its secrets`, async (t) => {
    const [home, cwd] = [tempDir(t), tempDir(t)];
    const init = await runInProcess(['init', '--template', name, 'hooks'], { home, cwd });
    assert.equal(init.code, 0, init.stderr);
    const folder = join(cwd, 'hooks');
    // The paths of the repository do not exist here.
    for (const file of readdirSync(folder)) {
      assert.doesNotMatch(readFileSync(join(folder, file), 'utf8'), /\bexamples\//, file);
    }
    const at = { home, cwd: folder };
    const lint = await runInProcess(['lint', '--strict'], at);
    assert.equal(lint.code, 0, lint.stdout);
    const tests = await runInProcess(['test'], at);
    assert.equal(tests.code, 0, tests.stdout + tests.stderr);
    const doctor = await runInProcess(['doctor'], at);
    assert.match(doctor.stdout, /\nok +routes +secrets /);
  });
}

// Without an agent, with a command, and with `openai`.
for (const name of ['quickstart', 'code-review', 'triage']) {
  test(`the template ${name} with a known program as its agent passes lint and its tests`, async (t) => {
    const [home, cwd] = [tempDir(t), tempDir(t)];
    const init = await runInProcess(['init', '--template', name, '--agent', 'claude-code'], { home, cwd });
    assert.equal(init.code, 0, init.stderr);
    const config = readFileSync(join(cwd, 'hookwright.yaml'), 'utf8');
    assert.match(config, /^agent:\n {2}use: claude-code\n {2}key: env:ANTHROPIC_API_KEY\n$/m);
    assert.equal(config.match(/^agent:/gm)?.length, 1);
    assert.match(readFileSync(join(cwd, '.env'), 'utf8'), /^# ANTHROPIC_API_KEY=$/m);
    assert.match(init.stderr, /\.env: .*ANTHROPIC_API_KEY/);
    const lint = await runInProcess(['lint'], { home, cwd });
    assert.equal(lint.code, 0, lint.stdout);
    const tests = await runInProcess(['test'], { home, cwd });
    assert.equal(tests.code, 0, tests.stdout + tests.stderr);
  });
}

test('an agent is refused before anything is written, if it is unknown or needs more than a key', async (t) => {
  const [home, cwd] = [tempDir(t), tempDir(t)];
  for (const [agent, reason] of [
    ['claude', /claude-code/],
    ['constructor', /claude-code/],
    ['pi', /model.*base_url/],
  ] as const) {
    const { code, stderr } = await runInProcess(['init', '--yes', '--agent', agent], { home, cwd });
    assert.equal(code, 2, stderr);
    assert.match(stderr, reason);
  }
  assert.deepEqual(readdirSync(cwd), []);
});

test('on a terminal it asks for the template, the program and what that needs', async (t) => {
  const [home, cwd] = [tempDir(t), tempDir(t)];
  const answers = [
    ['Start from', ENTER],
    ['Which program', `${down.repeat(5)}${ENTER}`],
    ['Key ', ENTER],
    ['model?', `qwen3:8b${ENTER}`],
    ['base_url?', `http://127.0.0.1:11434/v1${ENTER}`],
  ] as const;
  const { code, stderr } = await runOnFakeTerminal(['init'], answers, { home, cwd });
  assert.equal(code, 0, stderr);
  const { agent } = parse(readFileSync(join(cwd, 'hookwright.yaml'), 'utf8')) as { readonly agent: object };
  assert.deepEqual(agent, {
    use: 'opencode',
    key: 'env:MODEL_KEY',
    model: 'qwen3:8b',
    base_url: 'http://127.0.0.1:11434/v1',
  });
  const other = tempDir(t);
  const kept = await runOnFakeTerminal(['init'], [answers[0], ['Which program', ENTER]], { home, cwd: other });
  assert.equal(kept.code, 0, kept.stderr);
  assert.doesNotMatch(readFileSync(join(other, 'hookwright.yaml'), 'utf8'), /^agent:/m);
});

test('its help describes each template in a sentence', async (t) => {
  const { stdout } = await runInProcess(['init', '--help'], { home: tempDir(t) });
  for (const { name, about } of readTemplates()) {
    assert.ok(stdout.replaceAll(/\s+/g, ' ').includes(`- ${name}: ${about}`), stdout);
    assert.doesNotMatch(about, /\. |,$| because$/);
  }
  const list = stdout.split('Templates:\n')[1]?.split('\n\n')[0]?.split('\n') ?? [];
  assert.ok(list.length > readTemplates().length, 'no line is wrapped');
  for (const line of list) assert.match(line, /^(?:- | {2})\S/);
});

test('secrets are random, private and in no output; other credentials are left to fill in', async (t) => {
  const [home, cwd] = [tempDir(t), tempDir(t)];
  const first = await runInProcess(['init', '--template', 'alerts', 'a'], { home, cwd });
  await runInProcess(['init', '--template', 'alerts', 'b'], { home, cwd });
  const read = (folder: string): string => readFileSync(join(cwd, folder, '.env'), 'utf8');
  assert.notEqual(read('a'), read('b'));
  assert.equal(statSync(join(cwd, 'a/.env')).mode & 0o777, 0o600);
  const secret = /^GITHUB_WEBHOOK_SECRET=([0-9a-f]{64})$/m.exec(read('a'))?.[1] ?? '';
  assert.notEqual(secret, '');
  assert.ok(!`${first.stdout}${first.stderr}`.includes(secret));
  assert.match(read('a'), /^# TELEGRAM_BOT_TOKEN=$/m);
  assert.match(first.stderr, /\.env: TELEGRAM_BOT_TOKEN/);
});

test('each route is printed with its URL, its secret and the steps at the sender', async (t) => {
  const [home, cwd] = [tempDir(t), tempDir(t)];
  const { stdout, stderr } = await runInProcess(['init', '--template', 'code-review'], { home, cwd });
  assert.deepEqual(stdout.trim().split('\n'), [
    'hookwright.yaml',
    'hookwright.test.yaml',
    '.env',
    'hookwright.schema.json',
  ]);
  assert.match(stderr, /: +http:\/\/127\.0\.0\.1:8644\/webhooks\/code-review\n/);
  assert.match(stderr, /env:GITHUB_WEBHOOK_SECRET\b.*\.env\n/);
  assert.match(stderr, /`http:\/\/127\.0\.0\.1:8644\/webhooks\/code-review`/);
  assert.match(stderr, /`public_url`.*`hookwright docs proxies`/s);
  const config = readFileSync(join(cwd, 'hookwright.yaml'), 'utf8');
  assert.match(config, /^# yaml-language-server: \$schema=\.\/hookwright\.schema\.json\n/);
  assert.equal(JSON.parse(readFileSync(join(cwd, 'hookwright.schema.json'), 'utf8')).title, 'Config');
});

test('other requirements of a template are printed: an app with its permissions, id and key', async (t) => {
  const [home, cwd] = [tempDir(t), tempDir(t)];
  const { stderr } = await runInProcess(['init', '--template', 'triage'], { home, cwd });
  assert.match(stderr, /`app_id`.*123456.*\n- .*triage\.private-key\.pem/);
});

test('nothing is overwritten, and a .env keeps its values', async (t) => {
  const [home, cwd] = [tempDir(t), tempDir(t)];
  writeFileSync(join(cwd, '.env'), '# mine\nDATABASE_URL=x\nWEBHOOK_SECRET=kept\n', { mode: 0o600 });
  assert.equal((await runInProcess(['init', '--yes'], { home, cwd })).code, 0);
  assert.equal(readFileSync(join(cwd, '.env'), 'utf8'), '# mine\nDATABASE_URL=x\nWEBHOOK_SECRET=kept\n');
  const again = await runInProcess(['init', '--yes'], { home, cwd });
  assert.equal(again.code, 1);
  assert.match(again.stderr, /hookwright\.yaml/);
});

test('without a terminal a template is required, and an unknown one is rejected', async (t) => {
  const [home, cwd] = [tempDir(t), tempDir(t)];
  const silent = await runInProcess(['init'], { home, cwd });
  assert.equal(silent.code, 2);
  assert.match(silent.stderr, /--template <quickstart, /);
  assert.equal((await runInProcess(['init', '--template', 'nope'], { home, cwd })).code, 2);
  assert.deepEqual(readdirSync(cwd), []);
  assert.equal(existsSync(join(cwd, '.env')), false);
});

test('a message about a missing config names init', async (t) => {
  const [home, cwd] = [tempDir(t), tempDir(t)];
  for (const argv of [
    ['lint'],
    ['compile'],
    ['gateway', 'run'],
    ['webhook', 'test', 'x'],
    ['webhook', 'list'],
    ['doctor'],
  ]) {
    const { stdout, stderr } = await runInProcess(argv, { home, cwd });
    assert.match(stdout + stderr, /hookwright (?:init|lint)/, argv.join(' '));
  }
});
