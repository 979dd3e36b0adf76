import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { MAX_FILE_BYTES } from '../../../base/files.ts';
import type { Files } from '../../../compiler/source/files.ts';
import { readText } from '../../../compiler/source/files.ts';
import { memoryFiles } from '../../helpers/memory-files.ts';

const files = memoryFiles({
  '/plain': 'text',
  '/bom': '\ufefftext',
  '/latin1': Uint8Array.of(0x6d, 0xfc, 0x72),
  '/utf16': Uint8Array.of(0xff, 0xfe, 0x61, 0x00),
  '/folder/file': '',
});

test('removes the byte order mark', () => {
  assert.deepEqual(readText(files, '/plain'), { ok: true, text: 'text' });
  assert.deepEqual(readText(files, '/bom'), { ok: true, text: 'text' });
});

describe('each failure has its own sentence', () => {
  const failing = (code: string): Files => ({
    ...files,
    read: () => {
      throw Object.assign(new Error('no'), { code });
    },
  });
  const huge: Files = { ...files, stat: () => ({ kind: 'file', size: MAX_FILE_BYTES + 1, mode: 0o644 }) };
  const device: Files = { ...files, stat: () => ({ kind: 'other', size: 0, mode: 0o644 }) };
  const cases: readonly (readonly [string, Files, string, isMissing: boolean])[] = [
    ['missing', files, '/none', true],
    ['a directory', files, '/folder', false],
    ['not UTF-8', files, '/latin1', false],
    ['UTF-16', files, '/utf16', false],
    ['too large', huge, '/plain', false],
    ['a device', device, '/plain', false],
    ['no permission', failing('EACCES'), '/plain', false],
    ['something else', failing('EIO'), '/plain', false],
  ];
  const failed = (from: Files, path: string) => {
    const read = readText(from, path);
    assert.ok(!read.ok);
    return read;
  };
  for (const [name, from, path, isMissing] of cases) {
    test(name, () => assert.equal(failed(from, path).missing, isMissing));
  }
  test('describes each error, also for a file that disappears in between', () => {
    assert.equal(new Set(cases.map(([, from, path]) => failed(from, path).message)).size, cases.length);
    assert.deepEqual(failed(failing('ENOENT'), '/plain'), failed(files, '/none'));
  });
});
