/** Tests that data from strangers is compared with secrets only in constant time, so that no time reveals how much matched. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

const FOLDER = new URL('../../runtime/verify/', import.meta.url);

/** Comparisons that end at the first difference. */
const EARLY = /\.equals\(|Buffer\.compare\(|\.compare\(|localeCompare|deepStrictEqual/;
/** A digest, key, secret or signature on one side of an operator that ends early. */
const BY_OPERATOR =
  /\b(?:secret|signature|digest|expected|claimed|token|mac|key)\b(?:\.text|\.value)? (?:===|!==) (?!null|undefined|''|-?\d)|(?:===|!==) (?:secret|signature|digest|expected|claimed|token|mac)\b/;

const sources = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.ts'))
  .map((file) => [file, readFileSync(new URL(file, FOLDER), 'utf8')] as const);

test('no verifying code uses a comparison that ends at the first difference', () => {
  const wrong = sources.flatMap(([file, text]) =>
    text
      .split('\n')
      .filter((line) => !/^\s*(?:\*|\/\/|\/\*)/.test(line) && (EARLY.test(line) || BY_OPERATOR.test(line)))
      .map((line) => `${file}: ${line.trim()}`),
  );
  assert.deepEqual(wrong, []);
});

test('signatures, tokens, digests of bodies and verify tokens are compared with timingSafeEqual', () => {
  const using = sources.filter(([file, text]) => file.endsWith('.ts') && /[^'"]timingSafeEqual\(/.test(text));
  assert.deepEqual(using.map(([file]) => file).sort(), ['handshake.ts', 'primitives.ts', 'scheme.ts']);
});
