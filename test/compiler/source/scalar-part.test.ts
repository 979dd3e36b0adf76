import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { stringify } from 'yaml';
import { LocationIndex, locate } from '../../../compiler/source/locate.ts';
import { parseYaml } from '../../../compiler/source/parse-yaml.ts';

/** The file's text for the part `wanted` of the decoded scalar `a`. */
function partOf(text: string, wanted: string): string | null {
  const { file } = parseYaml({ path: '/f.yaml', name: 'f.yaml', text });
  assert.ok(file !== null);
  const decoded = (file.value as { a: string }).a;
  const offset = decoded.indexOf(wanted);
  assert.notEqual(offset, -1);
  const range = locate(file, ['a'], new LocationIndex()).part(offset, wanted.length);
  return range === null ? null : text.slice(range.start, range.end);
}

describe('finds a part of a scalar in the file', () => {
  const cases: readonly (readonly [string, string, string, string?])[] = [
    ['plain', 'a: one {two} three', '{two}'],
    ['plain over lines', 'a: one\n  {two}\n  three', '{two}'],
    ['single quotes', "a: 'it''s {two}'", '{two}'],
    ['double quotes', 'a: "tab\\t \\"q\\" \\u00e9\\x41\\n {two}"', '{two}'],
    ['double quotes with an escaped line end', 'a: "one \\\n  {two}"', '{two}'],
    ['double quotes with a character of two units', 'a: "\\U0001F600 \u{1f600} {two}"', '{two}'],
    ['an escape inside the part', 'a: "x {a\\u0062} y"', '{ab}', '{a\\u0062}'],
    ['literal block', 'a: |\n  one\n\n    {two}\n  three\n', '{two}'],
    ['literal block with an indentation indicator', 'a: |2-\n    one\n  {two}\n', '{two}'],
    ['folded block', 'a: >-\n  one\n  {two} x\n\n  three\n', '{two}'],
    ['Windows line ends', 'a: |\r\n  one\r\n  {two}\r\n', '{two}'],
  ];
  for (const [name, text, wanted, written] of cases) {
    test(name, () => assert.equal(partOf(text, wanted), written ?? wanted));
  }
});

test('finds a word in a text of any style', () => {
  const style = fc.constantFrom('PLAIN', 'QUOTE_DOUBLE', 'QUOTE_SINGLE', 'BLOCK_FOLDED', 'BLOCK_LITERAL');
  const words = fc.array(fc.string({ unit: 'grapheme', maxLength: 12 }), { maxLength: 6 });
  fc.assert(
    fc.property(words, words, style, (before, after, defaultStringType) => {
      const a = [...before, '{found}', ...after].join('\n ');
      const text = stringify({ a }, { defaultStringType, defaultKeyType: 'PLAIN', lineWidth: 40 });
      fc.pre(!a.replace('{found}', '').includes('{found}'));
      assert.equal(partOf(text, '{found}'), '{found}');
    }),
    { seed: 7, numRuns: 150 },
  );
});
