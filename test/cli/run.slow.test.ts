/** The program as a process. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runProcess, startProcess } from '../helpers/cli.ts';
import { tempDir } from '../helpers/temp-dir.ts';

test('the program runs as a process, with its exit code and without colours off a terminal', async (t) => {
  const result = await runProcess(['schema', 'nope'], { home: tempDir(t) });
  assert.equal(result.code, 1);
  assert.match(result.stderr, /^error: .*"nope"/);
});

test('a reader that closes the pipe ends the program without noise', async (t) => {
  const child = startProcess(['schema', 'config'], { home: tempDir(t) });
  let stderr = '';
  child.stderr?.on('data', (chunk) => {
    stderr += chunk;
  });
  child.stdout?.once('data', () => child.stdout?.destroy());
  const code = await new Promise((resolve) => child.once('close', resolve));
  assert.equal(stderr, '');
  assert.equal(code, 0);
});
