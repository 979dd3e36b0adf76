/** Tests that a line of any length beside a mistake is shown, with its credentials hidden, in linear time. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { maskCredentials } from '../../compiler/diagnostics/printable.ts';
import { lowerTemplate } from '../../compiler/lower/template.ts';
import { compileConfig, printed } from '../helpers/compile.ts';
import { cpuTime } from '../helpers/cpu-time.ts';

const LENGTH = 1_000_000;
/** Far more than needed, and far less than for a line that is scanned once for each of its characters, in ms of CPU time. */
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
    test(`${what} is hidden in time`, () => {
      const line = `https://${text.repeat(Math.floor(LENGTH / text.length))}`;
      const spent = cpuTime(() => assert.equal(maskCredentials(line).length, line.length));
      assert.ok(spent < MOST_MS, `${Math.round(spent)} ms`);
    });
  }

  test('beside a mistake is shown in time', () => {
    const spent = cpuTime(() => {
      const text = printed(compileConfig(`platfroms: 1\nb: ${'otherwise'.repeat(LENGTH / 10)}\n`));
      assert.match(text, /unknown-key/);
    });
    assert.ok(spent < MOST_MS, `${Math.round(spent)} ms`);
  });
});

test('a placeholder of any length is parsed in time', () => {
  for (const text of ['echo', 'a.', '.']) {
    const placeholder = `{${text.repeat(LENGTH / 10)}%}`;
    const spent = cpuTime(() => lowerTemplate(placeholder));
    assert.ok(spent < MOST_MS, `${Math.round(spent)} ms`);
  }
});

test('a long part of a URL’s path is hidden, words are not', () => {
  const shown = maskCredentials('x: https://hooks.example.test/services/T0/B0/aZ09aZ09aZ09aZ09aZ09aZ09?a=b');
  assert.equal(shown, 'x: https://hooks.example.test/services/T0/B0/************************?a=b');
  const plain = 'see https://example.test/a-very-long-page-without-secrets/index.html';
  assert.equal(maskCredentials(plain), plain);
});
