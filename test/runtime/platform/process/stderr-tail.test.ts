import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { StderrTail, storedTail } from '../../../../runtime/platform/process/stderr-tail.ts';

const SECRET = 'top-secret-value';
const redact = (text: string): string => text.replaceAll(SECRET, '***');

function kept(...chunks: readonly string[]): string {
  const tail = new StderrTail();
  for (const chunk of chunks) tail.push(Buffer.from(chunk));
  return storedTail(tail.text(), redact);
}

describe('the stored stderr', () => {
  it('is all of a short text, without secrets', () => {
    assert.equal(kept('', 'first\n', `key ${SECRET}\n`), 'first\nkey ***\n');
    assert.equal(kept(), '');
  });

  it('is the last 64 KiB, in whole characters, of any number of pieces', () => {
    const pieces = Array.from({ length: 20_000 }, (_, n) => `zeile ${n} ü\n`);
    const text = kept(...pieces);
    assert.ok(Buffer.byteLength(text) <= 65_536 && Buffer.byteLength(text) > 65_500);
    assert.ok(pieces.join('').endsWith(text));
  });

  it('contains no part of a secret that is cut at its start', () => {
    for (let shift = 0; shift < SECRET.length; shift++) {
      // The tail starts within a secret, and redaction shortens the rest.
      const text = kept(`${SECRET}${`${SECRET}\n`.repeat(4000)}`.padEnd(90_000, 'x') + 'x'.repeat(shift));
      assert.ok(!/secret|value|alue|cret/.test(text), text.slice(0, 40));
    }
  });
});
