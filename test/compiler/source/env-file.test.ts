import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { mergeEnv, parseEnvFile } from '../../../compiler/source/load-env.ts';

const parse = (text: string) => parseEnvFile({ path: '/h/.env', name: '.env', text });

describe('a line of an env file', () => {
  const cases: readonly (readonly [string, string, string])[] = [
    ['bare', 'A=value', 'value'],
    ['with spaces around', '  A = a value  ', 'a value'],
    ['exported', 'export A=x', 'x'],
    ['empty', 'A=', ''],
    ['with a comment', 'A=x # why', 'x'],
    ['with a # inside', 'A=x#y', 'x#y'],
    ['in single quotes, verbatim', "A='a # \\n $B'", 'a # \\n $B'],
    ['in double quotes, with escapes', 'A="a\\n\\"b\\" # c"', 'a\n"b" # c'],
    ['with = in the value', 'A=x=y==', 'x=y=='],
    ['with a Windows line end', 'A=x\r', 'x'],
    ['with a dollar sign, which is not expanded', 'A=$HOME', '$HOME'],
    ['said twice: the later one counts', 'A=1\nA=2', '2'],
    ['between comments and blank lines', '# x\n\n  \nA=1\n# y', '1'],
  ];
  for (const [name, text, expected] of cases) {
    test(name, () => {
      const { values, findings } = parse(text);
      assert.deepEqual(findings, []);
      assert.equal(values.get('A'), expected);
    });
  }
});

for (const line of ['A', 'A: x', '1A=x', 'A B=x', "A='x", 'A="x" y', '=x']) {
  test(`\`${line}\` sets nothing and is reported`, () => {
    const { values, findings } = parse(`OK=1\n  ${line}\nLAST=2`);
    assert.deepEqual([...values.keys()], ['OK', 'LAST']);
    assert.deepEqual(findings[0]?.range, { start: 7, end: 7 + line.length });
  });
}

test('the process environment overrides the file', () => {
  const merged = mergeEnv(
    { A: 'process', B: undefined, C: '' },
    new Map([
      ['A', 'file'],
      ['B', 'file'],
      ['C', 'file'],
    ]),
  );
  assert.deepEqual(
    [...merged],
    [
      ['A', 'process'],
      ['B', 'file'],
      ['C', 'file'],
    ],
  );
});
