import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { runInProcess, runOnFakeTerminal } from '../../../helpers/cli.ts';
import { tempDir } from '../../../helpers/temp-dir.ts';
import { ASKS, ENTER, FIRST_RUN } from './questions.ts';

const setup = (home: string, ...argv: string[]) => runInProcess(['gateway', 'setup', ...argv], { home });

test('without a terminal it asks nothing and prints a hint', async (t) => {
  const { code, stderr } = await setup(tempDir(t));
  assert.equal(code, 2);
  assert.match(stderr, /\n.*hookwright gateway setup --yes --set port=8644/);
});

test('--yes writes a private configuration that compiles, with its secret in a private .env', async (t) => {
  const home = tempDir(t);
  const made = await setup(home, '--yes', '--set', 'route=hello', '--set', 'route.events=push');
  assert.equal(made.code, 0, made.stderr);
  assert.equal(made.stdout, 'config.yaml\n.env\n');
  const secret = /^WEBHOOK_SECRET=([0-9a-f]{64})$/m.exec(readFileSync(join(home, '.env'), 'utf8'))?.[1] ?? 'none';
  assert.doesNotMatch(made.stdout + made.stderr, new RegExp(secret));
  for (const file of ['config.yaml', '.env']) assert.equal(statSync(join(home, file)).mode & 0o777, 0o600);
  assert.match(readFileSync(join(home, 'config.yaml'), 'utf8'), /secret: env:WEBHOOK_SECRET\n/);
  assert.equal((await runInProcess(['lint'], { home })).code, 0);
  const again = await setup(home, '--yes');
  assert.equal(again.code, 0, again.stderr);
});

test('a console gets a token, which is printed', async (t) => {
  const home = tempDir(t);
  const { stderr } = await setup(home, '--yes', '--set', 'gateway.console.port=8645');
  const text = readFileSync(join(home, 'config.yaml'), 'utf8');
  assert.match(text, /console:\n {4}port: 8645\n {4}token: env:CONSOLE_TOKEN\n/);
  const [, token = ''] = /^CONSOLE_TOKEN=(.+)$/m.exec(readFileSync(join(home, '.env'), 'utf8')) ?? [];
  assert.match(stderr, new RegExp(`\\.env.*: ${token}`));
});

test('a hand-written file keeps every comment and its layout', async (t) => {
  const home = tempDir(t);
  const path = join(home, 'hookwright.yaml');
  const before =
    '# mine\nplatforms:\n    webhook:\n        enabled: true   # on\n        # why this port\n        port: 8644\n        secret: env:S\n';
  writeFileSync(path, before);
  const changed = await setup(home, '--yes', '--set', 'port=9000', '--set', 'gateway.drain_seconds=5');
  assert.equal(changed.code, 0, changed.stderr);
  assert.equal(readFileSync(path, 'utf8'), `${before.replace('8644', '9000')}gateway:\n    drain_seconds: 5\n`);
  assert.match(changed.stderr, /^- {9}port: 8644\n\+ {9}port: 9000$/m);
  assert.equal(existsSync(join(home, '.env')), false);
});

test('no secret is shown or written outside .env, no text controls the terminal, and a FIFO does not block', async (t) => {
  const home = tempDir(t);
  const env = '# OLD=canary-1\nTELEGRAM_TOKEN=canary-2\ncanary-3\n';
  writeFileSync(join(home, '.env'), env, { mode: 0o600 });
  writeFileSync(join(home, 'config.yaml'), 'platforms:\n  webhook:\n    enabled: true # \u001b]0;x\u0007\u009b2J\n', {
    mode: 0o600,
  });
  const made = await setup(home, '--yes', '--set', 'route=1a', '--set', 'route.secret=canary-4-kd83Hs0qP2xVb71tYw');
  assert.doesNotMatch(made.stderr + made.stdout, /canary|[\x00-\x09\x0b-\x1f\x7f-\x9f]/);
  assert.match(readFileSync(join(home, '.env'), 'utf8'), /^_1A_SECRET=canary-4/m);
  assert.match(readFileSync(join(home, 'config.yaml'), 'utf8'), /secret: env:_1A_SECRET\n/);
  const open = await setup(home, '--yes', '--set', 'route=open', '--set', 'route.secret=INSECURE_NO_AUTH');
  assert.equal(open.code, 0, open.stderr);
  assert.match(readFileSync(join(home, 'config.yaml'), 'utf8'), /secret: INSECURE_NO_AUTH\n/);
  if (process.platform === 'win32') return;
  rmSync(join(home, '.env'));
  execFileSync('mkfifo', [join(home, '.env')]);
  const stuck = await setup(home, '--yes', '--set', 'port=9000');
  assert.equal(stuck.code, 1);
});

test('it names the .env beside the config in which a secret is stored', async (t) => {
  const home = tempDir(t);
  const routes = 'routes: { hello: { prompt: hi } }';
  writeFileSync(join(home, 'hookwright.yaml'), `platforms:\n  webhook: { enabled: true, secret: env:S, ${routes} }\n`);
  writeFileSync(join(home, '.env'), 'S=only-for-this-test\n', { mode: 0o600 });
  const { code, stderr } = await setup(home, '--yes', '--set', 'port=9000');
  assert.equal(code, 0, stderr);
  assert.match(stderr, /hello[\s\S]*env:S\b.*\.env/);
});

test('an invalid configuration is not written', async (t) => {
  const home = tempDir(t);
  const { code, stderr } = await setup(home, '--yes', '--set', 'gateway.drain_seconds=soon');
  assert.equal(code, 1);
  assert.match(stderr, /drain_seconds/);
  assert.equal(existsSync(join(home, 'config.yaml')), false);
  writeFileSync(join(home, 'config.yaml'), 'a: [1\n');
  assert.match((await setup(home, '--yes')).stderr, /^error: config\.yaml:2:1: /);
});

const down = '\u001b[B';
test('the wizard starts from the current settings and writes only after confirmation', async (t) => {
  const home = tempDir(t);
  const first = await runOnFakeTerminal(['gateway', 'setup'], FIRST_RUN, { home });
  assert.equal(first.code, 0, first.stderr);
  const text = readFileSync(join(home, 'config.yaml'), 'utf8');
  const again = await runOnFakeTerminal(
    ['gateway', 'setup'],
    [
      [ASKS.receive, ENTER],
      [ASKS.reach, down + ENTER],
      ['9123', ENTER],
      [ASKS.keep, ENTER],
      [ASKS.agent, ENTER],
      [ASKS.first, ENTER],
      [ASKS.write, 'n'],
    ],
    { home },
  );
  assert.equal(again.code, 1, again.stderr);
  assert.match(again.stderr, /\+ +host: 0\.0\.0\.0/);
  assert.equal(readFileSync(join(home, 'config.yaml'), 'utf8'), text);
  const given = await runOnFakeTerminal(['gateway', 'setup'], [[ASKS.receive, '\u0003']], { home });
  assert.equal(given.code, 1);
});

test('it prints the URL, where the secret is stored, and the steps at the sender', async (t) => {
  const home = tempDir(t);
  const route = ['route=review', 'route.events=pull_request'].flatMap((pair) => ['--set', pair]);
  const { stderr } = await setup(
    home,
    '--yes',
    ...route,
    '--set',
    'port=9123',
    '--set',
    'agent.command=[no-such-agent]',
  );
  assert.match(stderr, /\nreview: .*\n.*: +http:\/\/127\.0\.0\.1:9123\/webhooks\/review\n/);
  assert.match(stderr, /env:WEBHOOK_SECRET\b.*\.env\n {2}1\. .*`http:.*\/webhooks\/review`/);
  assert.match(stderr, /\bno-such-agent\b.*\bPATH\b.*\n\n.*hookwright gateway run\n$/);
  const github = await setup(
    home,
    '--yes',
    '--set',
    'platforms.webhook.routes.review.source=github',
    '--set',
    'route=review',
  );
  assert.match(github.stderr, /^ {2}1\. /m, github.stderr);
});
