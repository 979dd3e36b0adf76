import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FileStamp } from '../../../runtime/platform/files.ts';
import { FileVersion } from '../../../runtime/table/in-file-set.ts';

const STAT: FileStamp = { mtimeMs: 1000, ctimeMs: 1000, size: 10, ino: 7 };

test('a file differs until it is noted', () => {
  const version = new FileVersion();
  assert.equal(version.differs(STAT), true);
  version.note(STAT, 5000);
  assert.equal(version.differs({ ...STAT }), false);
});

for (const part of ['mtimeMs', 'ctimeMs', 'size', 'ino'] as const) {
  test(`a changed ${part} is a changed file`, () => {
    const version = new FileVersion();
    version.note(STAT, 5000);
    assert.equal(version.differs({ ...STAT, [part]: 1 }), true);
  });
}

test('a recently written file is checked again until its stamp is reliable', () => {
  const version = new FileVersion();
  version.note(STAT, 1010);
  assert.equal(version.differs(STAT), true);
  version.note(STAT, 1050);
  assert.equal(version.differs(STAT), false);
});

test('a missing file is a change only if it existed before', () => {
  const version = new FileVersion();
  assert.equal(version.differs(undefined), false);
  version.note(STAT, 5000);
  assert.equal(version.differs(undefined), true);
  version.note(undefined, 5000);
  assert.equal(version.differs(undefined), false);
});
