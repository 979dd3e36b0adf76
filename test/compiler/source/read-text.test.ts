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

test('the text comes without its byte order mark', () => {
  assert.deepEqual(readText(files, '/plain'), { ok: true, text: 'text' });
  assert.deepEqual(readText(files, '/bom'), { ok: true, text: 'text' });
});

describe('each way to fail has its sentence', () => {
  const failing = (code: string): Files => ({
    ...files,
    read: () => {
      throw Object.assign(new Error('no'), { code });
    },
  });
  const huge: Files = { ...files, stat: () => ({ kind: 'file', size: MAX_FILE_BYTES + 1, mode: 0o644 }) };
  const device: Files = { ...files, stat: () => ({ kind: 'other', size: 0, mode: 0o644 }) };
  const cases: readonly (readonly [string, Files, string, RegExp])[] = [
    ['missing', files, '/none', /does not exist/],
    ['a directory', files, '/folder', /is a directory/],
    ['not UTF-8', files, '/latin1', /not valid UTF-8; save/],
    ['UTF-16', files, '/utf16', /UTF-16/],
    ['too large', huge, '/plain', /16\.0 MiB large; at most 16 MiB/],
    ['a device', device, '/plain', /not a regular file/],
    ['no permission', failing('EACCES'), '/plain', /permission denied/],
    ['gone in between', failing('ENOENT'), '/plain', /does not exist/],
    ['something else', failing('EIO'), '/plain', /EIO/],
  ];
  for (const [name, from, path, message] of cases) {
    test(name, () => {
      const read = readText(from, path);
      assert.ok(!read.ok);
      assert.match(read.message, message);
    });
  }
});
