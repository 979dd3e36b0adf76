/** Tests npm's use of package.json: a clone generates its files, and an installation of the package runs no scripts. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT } from '../helpers/root.ts';

const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: Record<string, string> };

test('the package has no script that npm runs, or asks about, on installation', () => {
  const run = ['preinstall', 'install', 'postinstall', 'preprepare', 'prepare', 'postprepare', 'prepublish'];
  assert.deepEqual(
    run.filter((name) => name in scripts),
    [],
  );
});

test('npm generates files after an installation in a clone: `dependencies` runs only at the root', () => {
  assert.equal(scripts.dependencies, 'tsx scripts/gen.ts');
});

test('npm forwards signals: the shell that it starts is replaced by the program', () => {
  for (const name of ['start', 'quickstart', 'test', 'test:all', 'test:long'])
    assert.match(scripts[name] ?? '', /^(?:\w+=\w+ )*exec (?:node|npm) /, name);
});
