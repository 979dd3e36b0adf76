/** Broken and hostile files are rejected or converted, without exceptions and without secrets in the output. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { convertAdnanh } from '../../../modules/convert/compiler/adnanh/convert-adnanh.ts';
import type { Conversion, ConversionRefusal, Tools } from '../../../modules/convert/compiler/conversion.ts';
import { convertHermes } from '../../../modules/convert/compiler/hermes/convert-hermes.ts';
import { ROOT } from '../../helpers/root.ts';
import { runsOf } from '../../helpers/sample.ts';

const tools: Tools = { check: () => [], newSecret: () => 'made' };
const sourceOf = (text: string) => ({ path: '/foreign', name: 'foreign', text });

const PROGRAMS: Readonly<Record<string, (text: string) => Conversion | ConversionRefusal>> = {
  hermes: (text) => convertHermes(sourceOf(text), new Map(), tools),
  adnanh: (text) => convertAdnanh(sourceOf(text), '', tools),
};

const fixtures = (program: string): readonly string[] => {
  const folder = join(ROOT, 'test/fixtures/convert', program);
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return files
    .filter((file) => /(?:config|hooks)\.(?:yaml|json|conf)$/.test(file))
    .map((file) => readFileSync(join(folder, file), 'utf8'));
};

const NASTY = [
  '',
  'null',
  '5',
  '[]',
  '{}',
  '[[]]',
  'a: [',
  '\u0000\u0001',
  '[{"id":{}}]',
  '- *nothing',
  '&a [*a]',
  `${'['.repeat(20_000)}`,
  `${'- and: '.repeat(300)}x`,
  'platforms: {webhook: {extra: {routes: {a: 5, b: [], c: null}}}}',
  'platforms: {webhook: {routes: {__proto__: {prompt: x}, constructor: {deliver: constructor, toString: 1}}}}',
  'platforms: []\nwebhooks: {routes: {x: {filters: [[[]]], secret: {}, deliver_extra: 7, events: {}, script: []}}}',
  '[{id: __proto__, execute-command: x, constructor: 1, trigger-rule: {match: {type: value, parameter: []}}}]',
  '[{id: a, execute-command: x, pass-arguments-to-command: [5, null, {source: {}}], pass-file-to-command: {}}]',
  '{{ range .Hooks }}',
];

for (const [program, convert] of Object.entries(PROGRAMS)) {
  describe(`convert ${program}`, () => {
    for (const text of NASTY)
      test(`converts or rejects ${JSON.stringify(text.slice(0, 60))}`, () => {
        const result = convert(text);
        assert.ok('config' in result || result.faults.length > 0);
      });

    test('converts or rejects samples with removed, duplicated or swapped parts', () => {
      const sample = fc.constantFrom(...fixtures(program));
      const place = fc.double({ min: 0, max: 1, noNaN: true });
      const part = fc.constantFrom('', 'null', '[]', '{}', '- ', ': ', '"', '\n', '{{', '~', '&a ', '*a', '5');
      const property = fc.property(sample, place, place, part, (text, from, length, inserted) => {
        const start = Math.floor(from * text.length);
        const changed = text.slice(0, start) + inserted + text.slice(start + Math.floor(length * 40));
        const result = convert(changed);
        return 'config' in result || result.faults.length > 0;
      });
      fc.assert(property, { numRuns: runsOf(300) });
    });
  });
}
