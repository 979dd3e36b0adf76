/** The program as a separate process. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runProcess, startProcess } from '../helpers/cli.ts';
import { tempDir } from '../helpers/temp-dir.ts';

test('the program returns its exit code, and prints no colours without a terminal', async (t) => {
  const result = await runProcess(['schema', 'nope'], { home: tempDir(t) });
  assert.equal(result.code, 1);
  assert.match(result.stderr, /^error: .*"nope"/);
});

test('the program ends silently if the reader closes the pipe', async (t) => {
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
