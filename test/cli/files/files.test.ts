import assert from 'node:assert/strict';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createPaint } from '../../../base/paint.ts';
import { formatDiff, setEnvLines } from '../../../cli/files.ts';
import { writeAtomic } from '../../../runtime/platform/files.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

test('a file is replaced atomically, with the given mode and without leftovers', (t) => {
  const path = join(tempDir(t), 'sub', 'x.json');
  writeAtomic(path, 'one', 0o600);
  chmodSync(path, 0o666);
  writeAtomic(path, 'two', 0o600);
  assert.equal(readFileSync(path, 'utf8'), 'two');
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(join(path, '..')), ['x.json']);
});

test('a symbolic link stays a link', (t) => {
  const dir = tempDir(t);
  mkdirSync(join(dir, 'dotfiles'));
  writeFileSync(join(dir, 'dotfiles', 'real.json'), 'one');
  symlinkSync(join(dir, 'dotfiles', 'real.json'), join(dir, 'x.json'));
  writeAtomic(join(dir, 'x.json'), 'two', 0o600);
  assert.ok(lstatSync(join(dir, 'x.json')).isSymbolicLink());
  assert.equal(readFileSync(join(dir, 'dotfiles', 'real.json'), 'utf8'), 'two');
});

test('leftovers of killed writers are removed, those of live writers stay', (t) => {
  const dir = tempDir(t);
  for (const name of ['.x.json.1.tmp', '.x.json.2.tmp', '.y.json.1.tmp']) writeFileSync(join(dir, name), '');
  utimesSync(join(dir, '.x.json.1.tmp'), 0, 0);
  utimesSync(join(dir, '.y.json.1.tmp'), 0, 0);
  writeAtomic(join(dir, 'x.json'), '', 0o600);
  assert.deepEqual(readdirSync(dir).sort(), ['.x.json.2.tmp', '.y.json.1.tmp', 'x.json']);
});

test('setting variables keeps the other lines of an env file', () => {
  const before = '# keys\nA=1\nexport B = "2"\n\nC=3 # three\n';
  assert.equal(setEnvLines(before, { B: 'new value', D: 'x' }), "# keys\nA=1\nB='new value'\n\nC=3 # three\nD=x\n");
  assert.equal(setEnvLines('', { A: `it's "x"\n` }), 'A="it\'s \\"x\\"\\n"\n');
  assert.equal(setEnvLines('A=1', { B: '' }), 'A=1\nB=\n');
});

test('a diff shows the changed lines with some context', () => {
  const before = ['a', 'b', 'c', 'd', 'e', 'f', 'g', ''].join('\n');
  const after = ['a', 'b', 'c', 'd', 'E', 'f', 'g', ''].join('\n');
  assert.deepEqual(formatDiff(before, after, createPaint(false)), ['  c', '  d', '- e', '+ E', '  f', '  g']);
  assert.deepEqual(formatDiff('', 'x\n', createPaint(false)), ['+ x']);
  assert.deepEqual(formatDiff('x\n', 'x\n', createPaint(false)), []);
});
