/** Tests that `npm test` works during `npm start`: files that a gateway writes next to an example are not checked. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { ROOT } from '../helpers/root.ts';
import { tempDir } from '../helpers/temp-dir.ts';

test('does not check the format of a gateway’s files', (t) => {
  const dir = tempDir(t);
  copyFileSync(join(ROOT, 'biome.json'), join(dir, 'biome.json'));
  cpSync(join(ROOT, 'scripts/lint'), join(dir, 'scripts/lint'), { recursive: true });
  const check = (path: string) => {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), '{"pid":1,  "url":"http://127.0.0.1:8644"}');
    const biome = join(ROOT, 'node_modules/@biomejs/biome/bin/biome');
    return spawnSync(process.execPath, [biome, 'check', '.'], { cwd: dir, encoding: 'utf8' });
  };
  writeFileSync(join(dir, 'good.json'), '{}\n');
  const { status, stderr } = check('examples/quickstart/.hookwright/run/gateway.json');
  assert.equal(status, 0, stderr);
  assert.notEqual(check('examples/quickstart/gateway.json').status, 0);
});
