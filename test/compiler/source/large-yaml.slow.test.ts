/** Large YAML takes seconds at most, whatever it contains. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileFiles } from '../../helpers/compile.ts';
import { cpuTime } from '../../helpers/cpu-time.ts';

/** CPU time, in ms. */
const MOST_MS = 20_000;

const lines = (count: number, text: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => text(index)).join('');

const rulesOf = (text: string): readonly string[] =>
  compileFiles({ 'hookwright.yaml': text }).diagnostics.map(({ rule }) => rule);

const TOO_LARGE: Readonly<Record<string, string>> = {
  '10 MB of keys': lines(600_000, (index) => `key_${index}: value\n`),
  '4 MB of items': `a: [${'1,'.repeat(2_000_000)}]`,
};

for (const [name, text] of Object.entries(TOO_LARGE))
  test(`${name} are one error, within seconds`, () => {
    assert.ok(cpuTime(() => assert.deepEqual(rulesOf(text), ['yaml-syntax'])) < MOST_MS);
  });

test('20,000 unknown keys in one map are an error each', () => {
  const text = lines(20_000, (index) => `key_${index}: value\n`);
  const ms = cpuTime(() => {
    const rules = rulesOf(text);
    assert.deepEqual([rules.length, new Set(rules).size], [20_000, 1]);
  });
  assert.ok(ms < MOST_MS, `${ms} ms`);
});

/** 60,000 errors on one line. */
const ON_ONE_LINE: Readonly<Record<string, string>> = {
  anchors: `a: ${'&a '.repeat(60_000)}`,
  tags: `a: ${'!!str '.repeat(60_000)}`,
  'anchors and tags': `a: ${'&a !x '.repeat(30_000)}`,
  'closing brackets': `a: ${']'.repeat(60_000)}`,
  aliases: `b: &a x\na: ${'*a '.repeat(60_000)}`,
  commas: `a: [${','.repeat(60_000)}`,
  colons: `a: {${': '.repeat(60_000)}`,
  quotes: `a: ${'"" '.repeat(60_000)}`,
  escapes: `a: "${'\\x'.repeat(60_000)}"`,
};

for (const [name, text] of Object.entries(ON_ONE_LINE))
  test(`60,000 ${name} on one line are one error in that line, within seconds`, () => {
    const ms = cpuTime(() => assert.deepEqual(rulesOf(text), ['yaml-syntax']));
    assert.ok(ms < MOST_MS / 2, `${ms} ms`);
  });
