/** What the end of a script's process means for its event. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scriptOutcome } from '../../../runtime/intake/script-runner.ts';

const notStarted = (code: string) => scriptOutcome({ kind: 'spawn_failed', code, stderr: '' }).kind;

test('an event whose script cannot have its sandbox comes again, as where no program can be started', () => {
  assert.equal(notStarted('sandbox_unavailable: bubblewrap is not installed'), 'busy');
  assert.equal(notStarted('EAGAIN'), 'busy');
  assert.equal(notStarted('ENOENT'), 'ignored');
});
