import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { parseField, parsePath, printPath } from '../../base/paths.ts';

describe('paths', () => {
  for (const [text, path] of [
    ['a', ['a']],
    ['pull_request.number', ['pull_request', 'number']],
    ['items[0].id', ['items', '0', 'id']],
    ['items.0.id', ['items', '0', 'id']],
    ['[0][1]', ['0', '1']],
    ['labels["app.kubernetes.io/name"]', ['labels', 'app.kubernetes.io/name']],
    ['["@odata.id"]', ['@odata.id']],
    ['["a\\"b"]["]"]["}"]', ['a"b', ']', '}']],
    ['a[""].b', ['a', '', 'b']],
    ['["\\u00e9\\n"]', ['é\n']],
    ['items[12345678901234567890]', ['items', '12345678901234567890']],
  ] as const)
    test(`${text} has ${path.length} parts`, () => {
      assert.deepEqual(parsePath(text), path);
      assert.deepEqual(parseField(text), path);
    });

  for (const text of [
    ...['', '.', 'a.', '.a', 'a..b', 'a[]', 'a[*]', 'a[01]', 'a[-1]', 'a[b]', "a['b']", 'a["b]'],
    ...['a."b"', 'a.["b"]', 'a["b"]c', 'a["\n"]', '{a}'],
  ])
    test(`${JSON.stringify(text)} is not a path`, () => {
      assert.equal(parsePath(text), null);
      assert.equal(parseField(text), null);
    });

  test('more characters are plain outside of braces', () => {
    assert.deepEqual(parseField('a b.@type.x/y'), ['a b', '@type', 'x/y']);
    assert.equal(parsePath('a.@type'), null);
  });

  const key = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom(...'ab0._-[]"\\{}@$/: \n\ud800') }),
  );

  test('any list of keys can be written, and means the same when it is read', () => {
    fc.assert(
      fc.property(fc.array(key, { minLength: 1, maxLength: 5 }), fc.boolean(), (path, isQuoted) => {
        const printed = printPath(path, isQuoted);
        assert.deepEqual(parsePath(printed), path);
        assert.deepEqual(parseField(printed), path);
      }),
    );
  });

  /** Written apart from the parser: a text is built from its parts, each in one of its spellings. */
  const part = fc.oneof(
    fc.stringMatching(/^[A-Za-z0-9_-]{1,6}$/).map((plain) => ({ keys: plain, plain: `.${plain}` })),
    fc.nat().map((index) => ({ keys: String(index), plain: `[${index}]` })),
    key.map((quoted) => ({ keys: quoted, plain: `[${JSON.stringify(quoted)}]` })),
  );

  test('a path that is printed and read again stays the same text', () => {
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 5 }), (parts) => {
        const text = parts
          .map(({ plain }) => plain)
          .join('')
          .replace(/^\./, '');
        const path = parsePath(text) ?? [];
        assert.deepEqual(
          path,
          parts.map(({ keys }) => keys),
        );
        const printed = printPath(path);
        assert.equal(printPath(parsePath(printed) ?? []), printed);
      }),
    );
  });
});
