import assert from 'node:assert/strict';
import { test } from 'node:test';
import { splitShellWords } from '../../../../modules/setup/cli/setup/shell-words.ts';

test('a command line is split as a shell splits it', () => {
  assert.deepEqual(splitShellWords("a'b'\"c\\\"\" $'\\x41\\t' \\ d"), ['abc"', 'A\t', ' d']);
  assert.equal(splitShellWords("a 'b"), null);
});
