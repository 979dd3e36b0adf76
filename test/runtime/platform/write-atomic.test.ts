/** Tests that a file is replaced as a whole, and that its temporary file is always new. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { writeAtomic } from '../../../runtime/platform/files.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

test('does not write to a link or a file at the path of the temporary file', (t) => {
  const folder = tempDir(t);
  const [path, victim] = [join(folder, '.env'), join(folder, 'victim')];
  const temporary = join(folder, `..env.${process.pid}.tmp`);
  writeFileSync(victim, 'untouched');
  symlinkSync(victim, temporary);
  writeAtomic(path, 'SECRET=1', 0o600);
  assert.equal(readFileSync(victim, 'utf8'), 'untouched');
  writeFileSync(temporary, 'longer than the new text', { mode: 0o666 });
  writeAtomic(path, 'SECRET=2', 0o600);
  assert.deepEqual([readFileSync(path, 'utf8'), statSync(path).mode & 0o777], ['SECRET=2', 0o600]);
  assert.deepEqual(readdirSync(folder).sort(), ['.env', 'victim']);
});

test('replaces the target of a link, with the given mode', (t) => {
  const folder = tempDir(t);
  const [link, target] = [join(folder, '.env'), join(folder, 'kept')];
  writeFileSync(target, 'A=1', { mode: 0o644 });
  symlinkSync(target, link);
  writeAtomic(link, 'A=2', 0o600);
  assert.deepEqual([readFileSync(target, 'utf8'), statSync(target).mode & 0o777], ['A=2', 0o600]);
});
