import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { runInProcess, selfScript } from '../../../helpers/cli.ts';
import { tempDir } from '../../../helpers/temp-dir.ts';

function home(t: Parameters<typeof tempDir>[0]): string {
  const dir = tempDir(t);
  mkdirSync(join(dir, 'profiles', 'work'), { recursive: true });
  mkdirSync(join(dir, 'build'));
  writeFileSync(join(dir, 'webhook_subscriptions.json'), '{"dynamic-one":{}}');
  writeFileSync(join(dir, 'build', 'routes.json'), '{"routes":{"x":{"name":"static-one"}}}');
  return dir;
}

async function words(dir: string, ...typed: string[]): Promise<string[]> {
  const { stdout } = await runInProcess(['complete', '--', ...typed], { home: dir });
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split('\t')[0] ?? '');
}

test('commands are completed word by word, hidden ones are not', async (t) => {
  const dir = home(t);
  const first = await words(dir, '');
  assert.ok(first.includes('gateway') && first.includes('schema') && !first.includes('complete'), String(first));
  assert.deepEqual(await words(dir, 'gateway', 'stat'), ['status']);
  assert.deepEqual(await words(dir, 'nonsense', ''), []);
});

test('options, their values and arguments are completed by what they are called', async (t) => {
  const dir = home(t);
  assert.deepEqual(await words(dir, 'schema', 'conf'), ['config']);
  assert.deepEqual(await words(dir, 'schema', 'config', ''), []);
  assert.deepEqual(await words(dir, 'schema', '--j'), ['--json']);
  assert.deepEqual(await words(dir, 'schema', '--json', '--j'), []);
  assert.deepEqual(await words(dir, 'completion', ''), ['bash', 'zsh', 'fish']);
  assert.deepEqual(await words(dir, 'lint', 'one.yaml', ''), [':files'], 'any number of them');
});

test('events and payload paths of a sender are completed, one part at a time', async (t) => {
  const dir = home(t);
  assert.deepEqual(await words(dir, 'source', 'shape', 'github', 'issue_c'), ['issue_comment']);
  assert.deepEqual(await words(dir, 'source', 'shape', 'github', 'push', '--prefix', 'pusher.'), [
    'pusher.date',
    'pusher.email',
    'pusher.name',
    'pusher.username',
  ]);
  assert.deepEqual(await words(dir, 'source', 'shape', 'github', 'push', '--prefix', 'head_c'), ['head_commit']);
  assert.deepEqual(await words(dir, 'source', 'shape', 'gith'), ['github', 'github-sha1']);
  assert.deepEqual(await words(dir, 'schema', 'config', '--source', 'github', '--event', 'issue_c'), ['issue_comment']);
  assert.deepEqual(await words(dir, 'schema', 'config', '--source=github', '--event=issue_c'), [
    '--event=issue_comment',
  ]);
  assert.deepEqual(await words(dir, 'source', 'shape', 'nobody', ''), []);
  assert.deepEqual(await words(dir, 'source', 'shape', 'github', 'nothing', '--prefix', ''), []);
});

test('bash completes through the script, words with an equals sign too', async (t) => {
  const dir = home(t);
  const bin = join(dir, 'hookwright');
  writeFileSync(bin, selfScript());
  chmodSync(bin, 0o755);
  const { stdout: script } = await runInProcess(['completion', 'bash'], { home: dir });
  const ask = (...typed: string[]): string[] => {
    const line = ['hookwright', ...typed];
    const code = `${script}\nCOMP_WORDS=(${line.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${line.length - 1}; _hookwright; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const env = { PATH: `${dir}:${process.env.PATH}`, HOOKWRIGHT_HOME: dir };
    return spawnSync('bash', ['-c', code], { env, encoding: 'utf8' }).stdout.trim().split('\n');
  };
  assert.deepEqual(ask('gateway', 'sto'), ['stop']);
});

for (const shell of ['bash', 'zsh', 'fish']) {
  test(`the ${shell} script is valid where ${shell} is installed`, async (t) => {
    const home = tempDir(t);
    const { stdout, code } = await runInProcess(['completion', shell], { home });
    assert.equal(code, 0);
    writeFileSync(join(home, 'script'), stdout);
    const env = { PATH: process.env.PATH, HOME: home };
    const { error, status, stderr } = spawnSync(shell, ['-n', join(home, 'script')], { env, encoding: 'utf8' });
    if (error !== undefined) t.skip(`${shell} is not installed`);
    else assert.equal(status, 0, stderr);
  });
}

test('an unknown shell is wrong usage', async (t) => {
  const { code, stderr } = await runInProcess(['completion', 'tcsh'], { home: tempDir(t) });
  assert.equal(code, 2);
  assert.match(stderr, /takes bash, zsh, fish, not "tcsh"/);
});
