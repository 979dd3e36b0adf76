import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { NodePath } from '../../../compiler/diagnostics/diagnostic.ts';
import type { Location } from '../../../compiler/source/locate.ts';
import { LocationIndex, locate } from '../../../compiler/source/locate.ts';
import { parseYaml } from '../../../compiler/source/parse-yaml.ts';
import type { Range } from '../../../compiler/text/source-text.ts';

const TEXT = `\
a: 1
list:
  - first
  - { key: x, deep: [1, two] }
"a/b": { "c~1d": e }
1: number key
base: &base
  shared: from base
  own: base
alias: *base
merged:
  <<: *base
  own: mine
many:
  <<: [{ one: 1, both: 1 }, { two: 2, both: 2 }]
empty:
scalar: &text hello
again: *text
`;

function find(text: string, path: NodePath): Location {
  const { file, findings } = parseYaml({ path: '/f.yaml', name: 'f.yaml', text });
  assert.deepEqual(findings, []);
  assert.ok(file !== null);
  return locate(file, path, new LocationIndex());
}

const show = (range: Range | null): string | null => (range === null ? null : TEXT.slice(range.start, range.end));
const lineOf = (range: Range | null): number => TEXT.slice(0, range?.start ?? 0).split('\n').length;

interface Case {
  readonly path: NodePath;
  readonly key: string | null;
  readonly value: string;
  readonly line: number;
  readonly via?: string;
}

const CASES: readonly Case[] = [
  { path: ['a'], key: 'a', value: '1', line: 1 },
  { path: ['list', 0], key: null, value: 'first', line: 3 },
  { path: ['list', 1, 'key'], key: 'key', value: 'x', line: 4 },
  { path: ['list', 1, 'deep', 1], key: null, value: 'two', line: 4 },
  { path: ['a/b', 'c~1d'], key: '"c~1d"', value: 'e', line: 5 },
  { path: ['1'], key: '1', value: 'number key', line: 6 },
  { path: ['alias'], key: 'alias', value: '*base', line: 10 },
  { path: ['alias', 'shared'], key: 'shared', value: 'from base', line: 8, via: '*base' },
  { path: ['merged', 'own'], key: 'own', value: 'mine', line: 13 },
  { path: ['merged', 'shared'], key: 'shared', value: 'from base', line: 8, via: '<<' },
  { path: ['many', 'both'], key: 'both', value: '1', line: 15, via: '<<' },
  { path: ['many', 'two'], key: 'two', value: '2', line: 15, via: '<<' },
  { path: ['again'], key: 'again', value: '*text', line: 18 },
];

describe('locates the key and value of a path', () => {
  for (const { path, key, value, line, via } of CASES) {
    test(path.join(' / '), () => {
      const location = find(TEXT, path);
      assert.deepEqual(
        {
          key: show(location.key),
          value: show(location.value),
          line: lineOf(location.key ?? location.value),
          via: show(location.via),
        },
        { key, value, line, via: via ?? null },
      );
      assert.equal(location.depth, path.length);
    });
  }
});

test('locates the closest ancestor of a missing path', () => {
  const location = find(TEXT, ['list', 1, 'gone', 'deeper']);
  assert.equal(location.depth, 2);
  assert.equal(show(location.value), '{ key: x, deep: [1, two] }');
});

test('locates the list for an index outside it or a key', () => {
  assert.equal(find(TEXT, ['list', 9]).depth, 1);
  assert.equal(find(TEXT, ['list', 'key']).depth, 1);
});

test('a key without a value has an empty range after it', () => {
  const { key, value } = find(TEXT, ['empty']);
  assert.equal(show(key), 'empty');
  assert.equal(value.start, value.end);
});

for (const [name, text] of [
  ['empty', ''],
  ['only comments', '# nothing\n'],
  ['null', 'null\n'],
] as const) {
  test(`a file that is ${name} is located at its start`, () => {
    assert.equal(find(text, ['a', 'b']).depth, 0);
    assert.equal(find(text, []).value.start, 0);
  });
}
