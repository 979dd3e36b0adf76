import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseYaml } from '../../../compiler/source/parse-yaml.ts';

const parse = (text: string) => parseYaml({ path: '/f.yaml', name: 'f.yaml', text });

const value = (text: string): unknown => {
  const { file, findings } = parse(text);
  assert.deepEqual(findings, []);
  return file?.value;
};

describe('values', () => {
  const cases: readonly (readonly [string, string, unknown])[] = [
    ['scalars', 'a: 1\nb: 1.5\nc: true\nd: null\ne: text\nf:', { a: 1, b: 1.5, c: true, d: null, e: 'text', f: null }],
    ['what older YAML took for truth values stays text', 'a: yes\nb: off', { a: 'yes', b: 'off' }],
    ['dates stay text', 'a: 2024-01-01', { a: '2024-01-01' }],
    [
      'integers beyond 2^53 keep their digits as text',
      'a: 1234567890123456789\nb: -1001234567890',
      {
        a: '1234567890123456789',
        b: -1001234567890,
      },
    ],
    ['JSON', '{"a": [1, {"b": null}]}', { a: [1, { b: null }] }],
    ['Windows line ends', 'a: 1\r\nb:\r\n  - x\r\n', { a: 1, b: ['x'] }],
    ['odd Unicode', '"\u202eevil": "\u{1f600} a\u0301"', { '\u202eevil': '\u{1f600} a\u0301' }],
    [
      'merge keys: own keys win, then earlier maps',
      'a: {<<: [{x: 1, y: 1}, {y: 2, z: 2}], x: 0}',
      {
        a: { x: 0, y: 1, z: 2 },
      },
    ],
    ['a quoted << is a key like any other', 'a: {"<<": 1}', { a: { '<<': 1 } }],
    ['an anchor used twice', 'a: &x [1]\nb: *x', { a: [1], b: [1] }],
    ['a redefined anchor means the latest one', 'a: &x 1\nb: *x\nc: &x 2\nd: *x', { a: 1, b: 1, c: 2, d: 2 }],
    ['an empty file is an empty map', '', {}],
  ];
  for (const [name, text, expected] of cases) test(name, () => assert.deepEqual(value(text), expected));

  test('__proto__ is an ordinary key', () => {
    const parsed = value('__proto__: { polluted: true }\na: { <<: { __proto__: 1 } }') as Record<string, unknown>;
    assert.deepEqual(Object.keys(parsed), ['__proto__', 'a']);
    assert.equal(Object.getPrototypeOf(parsed), Object.prototype);
    assert.deepEqual(Object.keys(parsed.a as object), ['__proto__']);
  });
});

describe('refusals', () => {
  const bomb = `a0: &a0 [x]\n${Array.from({ length: 20 }, (_, i) => `a${i + 1}: &a${i + 1} [${`*a${i},`.repeat(9)}]\n`).join('')}`;
  const cases: readonly (readonly [name: string, text: string, rule: string])[] = [
    ['a syntax error', 'a: [1\nb: 2', 'yaml-syntax'],
    ['a tab as indentation', 'a:\n\tb: 1', 'yaml-syntax'],
    ['a second document', 'a: 1\n---\nb: 2', 'yaml-syntax'],
    ['a map as a key', '? {a: 1}\n: 2', 'yaml-syntax'],
    ['an unknown tag', 'a: !!js/function x', 'yaml-syntax'],
    ['an alias without anchor', 'a: *b', 'yaml-alias'],
    ['an alias before its anchor', 'a: *b\nb: &b 1', 'yaml-alias'],
    ['an alias that contains itself', 'a: &a { b: *a }', 'yaml-alias'],
    ['a billion laughs', bomb, 'yaml-alias'],
    ['a merge of something else than maps', 'a: { <<: [1] }', 'yaml-alias'],
    ['deep nesting', `a: ${'['.repeat(500)}${']'.repeat(500)}`, 'yaml-syntax'],
    ['absurd nesting', '['.repeat(30_000), 'yaml-syntax'],
    ['an infinite number', 'a: .inf', 'invalid-number'],
    ['a duplicate key', 'a: 1\nb: 2\na: 3', 'duplicate-key'],
  ];
  for (const [name, text, rule] of cases) test(name, () => assert.equal(parse(text).findings[0]?.rule, rule));

  test('reports both positions of a duplicate key and uses the first', () => {
    const { file, findings } = parse('a: 1\nb: 2\na: 3\n');
    assert.deepEqual(findings[0]?.range, { start: 10, end: 11 });
    assert.deepEqual(findings[0]?.related?.[0]?.range, { start: 0, end: 1 });
    assert.deepEqual(file?.value, { a: 1, b: 2 });
  });

  test('counts a repeatedly merged map against the limit', () => {
    const keys = Array.from({ length: 2000 }, (_, i) => `k${i}: 1`).join(', ');
    const text = `a: &a {${keys}}\nb:\n${'  - <<: *a\n'.repeat(600)}`;
    assert.equal(parse(text).findings[0]?.rule, 'yaml-alias');
  });

  test('compares ten thousand keys in linear time', () => {
    const text = Array.from({ length: 10_000 }, (_, i) => `k${i}: 1\n`).join('');
    assert.equal(Object.keys(value(text) as object).length, 10_000);
  });
});

test('a comment with a placeholder cuts off every template, and no other text', () => {
  const cut = (key: string) => parse(`${key}: sha #{sha}`).findings.map(({ rule }) => rule);
  for (const key of ['prompt', 'session_key', 'fresh', 'body']) assert.deepEqual(cut(key), ['template-cut'], key);
  assert.deepEqual(cut('title'), []);
});
