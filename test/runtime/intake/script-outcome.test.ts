/** Tests how the end of a script's process decides the outcome of its event. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scriptOutcome } from '../../../runtime/intake/script-runner.ts';

const notStarted = (code: string) => scriptOutcome({ kind: 'spawn_failed', code, stderr: '' }).kind;

test('an event is retried if the sandbox of its script is unavailable', () => {
  assert.equal(notStarted('sandbox_unavailable: bubblewrap is not installed'), 'busy');
  assert.equal(notStarted('EAGAIN'), 'busy');
  assert.equal(notStarted('ENOENT'), 'ignored');
});
