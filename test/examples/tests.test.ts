/** Checks that the examples' tests pass and reach all parts of their configs. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { runInProcess } from '../helpers/cli.ts';
import { tempDir } from '../helpers/temp-dir.ts';

const EXAMPLES = fileURLToPath(new URL('../../examples', import.meta.url));
/** Examples with a config; one example shows the package as a library. */
const NAMES = readdirSync(EXAMPLES).filter((name) => existsSync(join(EXAMPLES, name, 'hookwright.yaml')));
const TESTS = 'hookwright.test.yaml';

test('every example has tests that pass and reach all parts of its config', async (t) => {
  for (const name of NAMES) assert(existsSync(join(EXAMPLES, name, TESTS)), `${name} has no ${TESTS}`);
  const files = NAMES.map((name) => join(EXAMPLES, name, TESTS));
  const options = { home: tempDir(t), cwd: EXAMPLES };
  const { code, stdout, stderr } = await runInProcess(['test', ...files, '--fail-under', '100'], options);
  assert.equal(code, 0, stdout + stderr);
});
