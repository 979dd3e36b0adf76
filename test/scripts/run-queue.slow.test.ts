/** Tests that a test file that waits without a handle does not prevent the following files. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createQueue } from '../../scripts/test/queue.ts';
import { LOADER, moduleUrl } from '../helpers/node-argv.ts';
import { tempDir } from '../helpers/temp-dir.ts';

test('runs the following files', (t) => {
  const dir = tempDir(t);
  const write = (name: string, wait: string): void => {
    const code = `import { test } from 'node:test';\ntest('${name}', async () => { ${wait} });\n`;
    writeFileSync(join(dir, `${name}.test.mjs`), code);
  };
  write('waits', 'await new Promise((resolve) => setTimeout(resolve, 300).unref());');
  write('next', '');
  createQueue(dir, ['waits.test.mjs', 'next.test.mjs']);
  const queue = moduleUrl(new URL('../../scripts/test/run-queue.js', import.meta.url));
  const start = join(dir, 'start.mjs');
  writeFileSync(start, `import { runQueue } from '${queue}';\nawait runQueue('${dir}', '${dir}');\n`);
  const { NODE_TEST_CONTEXT: _unused, ...env } = process.env;
  const run = spawnSync(process.execPath, [...LOADER, '--test-reporter=spec', start], { env, encoding: 'utf8' });
  assert.match(run.stdout, /✔ waits.*✔ next/s, run.stdout + run.stderr);
  assert.equal(run.status, 0);
});
