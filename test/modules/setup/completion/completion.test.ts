import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { runInProcess } from '../../../helpers/cli.ts';
import { tempDir } from '../../../helpers/temp-dir.ts';

test('bash completes commands, options and choices', async (t) => {
  const { stdout: script } = await runInProcess(['completion', 'bash'], { home: tempDir(t) });
  const complete = (...typed: string[]): string[] => {
    const line = ['hookwright', ...typed];
    const code = `${script}\nCOMP_WORDS=(${line.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${line.length - 1}; _hookwright; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return spawnSync('bash', ['-c', code], { encoding: 'utf8' }).stdout.trim().split('\n');
  };
  const first = complete('');
  assert.ok(first.includes('gateway') && first.includes('schema'), String(first));
  assert.deepEqual(complete('gateway', 'sto'), ['stop']);
  assert.deepEqual(complete('gateway', 'nothing', 'sta'), ['start', 'status']);
  assert.deepEqual(complete('schema', '--j'), ['--json']);
  assert.deepEqual(complete('schema', '--source', 'github', '--j'), ['--json']);
  assert.deepEqual(complete('completion', ''), ['bash', 'zsh', 'fish']);
  assert.deepEqual(complete('nonsense', 'x'), ['']);
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
  assert.match(stderr, /\bbash, zsh, fish\b.*"tcsh"/);
});
