/** A line of any length beside a mistake is shown, and its credentials covered, in time that grows with its length. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { maskCredentials } from '../../compiler/diagnostics/printable.ts';
import { compileConfig, printed } from '../helpers/compile.ts';

const LENGTH = 1_000_000;
/** Far more than it takes, and far less than a line that is looked at once for each of its characters, in ms. */
const MOST_MS = 5000;

const LINES: Readonly<Record<string, string>> = {
  'of one word': 'otherwise',
  'of underscores': 'a_',
  'of what looks like keys': 'secret: ',
  'of what looks like credentials': 'a_secret: x, ',
  'of quotes': '"',
  'of brackets': 'value: [',
  'of URLs': 'https://a:b@c/',
  'of one URL': 'a/',
  'of blanks behind a key': 'token ',
};

describe('a line', () => {
  for (const [what, text] of Object.entries(LINES)) {
    test(`${what} is covered in time`, () => {
      const line = `https://${text.repeat(Math.floor(LENGTH / text.length))}`;
      const start = performance.now();
      assert.equal(maskCredentials(line).length, line.length);
      assert.ok(performance.now() - start < MOST_MS, `${Math.round(performance.now() - start)} ms`);
    });
  }

  test('beside a mistake is shown in time', () => {
    const start = performance.now();
    const text = printed(compileConfig(`platfroms: 1\nb: ${'otherwise'.repeat(LENGTH / 10)}\n`));
    assert.match(text, /unknown-key/);
    assert.ok(performance.now() - start < MOST_MS, `${Math.round(performance.now() - start)} ms`);
  });
});

test('a long part of a URL’s path is covered, words are not', () => {
  const shown = maskCredentials('x: https://hooks.example.test/services/T0/B0/aZ09aZ09aZ09aZ09aZ09aZ09?a=b');
  assert.equal(shown, 'x: https://hooks.example.test/services/T0/B0/************************?a=b');
  const plain = 'see https://example.test/a-very-long-page-without-secrets/index.html';
  assert.equal(maskCredentials(plain), plain);
});
