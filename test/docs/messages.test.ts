/** Every call of the logger has its words where it is made: docs/messages.md lists them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { logCalls } from '../../scripts/docs/messages-page.ts';

/** The page says of them that they have separate texts. */
const OWN_WORDS = 'modules/rescue/runtime/rescue.ts';

test('every call of the logger says something that is written at the call', () => {
  const silent = logCalls().filter(({ lines }) => lines.length === 0);
  assert.deepEqual(
    silent.map(({ place }) => place),
    [OWN_WORDS, OWN_WORDS],
  );
});
