/** Tests which files of the program are joined: a thread that loads a small shared file must not load the compiler with it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Metafile } from 'esbuild';
import { findLayers } from '../../scripts/build/layers.ts';

const IMPORTS: Readonly<Record<string, readonly string[]>> = {
  'main/cli.ts': ['base/files.ts', 'cli/start.ts'],
  'main/runtime.ts': ['base/text.ts'],
  'cli/serve.ts': [],
  'cli/start.ts': [],
  'cli/compile/compile-files.ts': ['base/text.ts', 'base/files.ts', 'compiler/compile.ts', 'base/names.ts'],
  'modules/payloads/compiler/part.ts': [],
  'modules/tutor/compiler/tutor.ts': [],
  'compiler/compile.ts': ['base/names.ts'],
  'store-thread.ts': ['base/files.ts', 'base/names.ts', 'store.ts'],
  'store.ts': [],
  'base/files.ts': [],
  'base/text.ts': [],
  'base/names.ts': [],
};

test('files that a thread shares with commands or the compiler are a layer of their own', () => {
  const inputs = Object.fromEntries(
    Object.entries(IMPORTS).map(([file, imports]) => [
      file,
      { bytes: 0, imports: imports.map((path) => ({ path, kind: 'import-statement' })) },
    ]),
  ) as Metafile['inputs'];
  const layers = findLayers(inputs, ['store-thread.ts']).map((files) => [...files].sort());
  assert.deepEqual(layers.slice(0, 3), [['base/files.ts', 'base/names.ts'], ['cli/start.ts'], ['base/text.ts']]);
  const all = layers.flat();
  assert.equal(new Set(all).size, all.length);
  assert.ok(all.includes('compiler/compile.ts') && !all.includes('store.ts'));
});
