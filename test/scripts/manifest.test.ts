/** What npm does with package.json: in a clone it generates what is needed; whoever installs the package runs nothing of it. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT } from '../helpers/root.ts';

const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: Record<string, string> };

test('the package has no script that npm runs, or asks about, where it is installed', () => {
  const run = ['preinstall', 'install', 'postinstall', 'preprepare', 'prepare', 'postprepare', 'prepublish'];
  assert.deepEqual(
    run.filter((name) => name in scripts),
    [],
  );
});

test('in a clone npm generates what is derived after it has installed: `dependencies` runs only at the root', () => {
  assert.equal(scripts.dependencies, 'tsx scripts/gen.ts');
});

test('what npm is told to end ends: the shell that npm starts gives place to the program, so that signals reach it', () => {
  for (const name of ['start', 'quickstart', 'test', 'test:all', 'test:long'])
    assert.match(scripts[name] ?? '', /^(?:\w+=\w+ )*exec (?:node|npm) /, name);
});
