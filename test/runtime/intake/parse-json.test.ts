import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_DEPTH, parseJson } from '../../../runtime/intake/parse-json.ts';

const nested = (depth: number, open = '[', close = ']'): Buffer =>
  Buffer.from(open.repeat(depth) + close.repeat(depth));

const good: readonly (readonly [name: string, text: string, value: unknown])[] = [
  ['an object', '{"a":1}', { a: 1 }],
  ['a list', '[1,"two"]', [1, 'two']],
  ['a scalar', '-1500', -1500],
  ['null', 'null', null],
  ['text beyond ASCII', '{"s":"Zürich 😀"}', { s: 'Zürich 😀' }],
  ['a byte order mark', '\ufeff{"a":1}', { a: 1 }],
  ['CRLF between tokens', '{\r\n"a":\r\n1}', { a: 1 }],
  [
    'brackets in strings',
    `{"s":"${'['.repeat(500)}","t":"\\"${'{'.repeat(500)}"}`,
    { s: '['.repeat(500), t: `"${'{'.repeat(500)}` },
  ],
  [
    'brackets in a string behind backslashes and a quote',
    `{"s":"${'\\\\'.repeat(3)}\\"${'['.repeat(500)}"}`,
    { s: `${'\\'.repeat(3)}"${'['.repeat(500)}` },
  ],
  ['many shallow objects', JSON.stringify(Array(500).fill({})), Array(500).fill({})],
];

for (const [name, text, value] of good) {
  test(`parses ${name}`, () => assert.deepEqual(parseJson(Buffer.from(text)), { ok: true, value }));
}

const bad: readonly (readonly [name: string, bytes: Buffer, fault: string])[] = [
  ['no bytes', Buffer.alloc(0), 'empty'],
  ['a truncated object', Buffer.from('{"a":'), 'not_json'],
  ['two values', Buffer.from('{} {}'), 'not_json'],
  ['Latin-1', Buffer.from('{"s":"Z\xfcrich"}', 'latin1'), 'not_utf8'],
  ['an encoded surrogate', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), 'not_utf8'],
  ['an overlong encoding', Buffer.from([0x22, 0xc0, 0xaf, 0x22]), 'not_utf8'],
  ['lists one level too deep', nested(MAX_DEPTH + 1), 'too_deep'],
  ['objects one level too deep', nested(MAX_DEPTH + 1, '{"a":', '}'), 'too_deep'],
  [
    'lists too deep behind a string that ends in a backslash',
    Buffer.from(`{"s":"\\\\","d":${nested(MAX_DEPTH).toString()}}`),
    'too_deep',
  ],
  ['a megabyte of open brackets', Buffer.alloc(1 << 20, '['), 'too_deep'],
];

for (const [name, bytes, fault] of bad) {
  test(`rejects ${name}`, () => assert.deepEqual(parseJson(bytes), { ok: false, fault }));
}

test('accepts the deepest nesting allowed', () => {
  assert.equal(parseJson(nested(MAX_DEPTH)).ok, true);
});

test('keeps __proto__ as a plain key and leaves the prototype alone', () => {
  const parsed = parseJson(Buffer.from('{"__proto__":{"admin":true},"constructor":1}'));
  assert(parsed.ok);
  const value = parsed.value as Record<string, unknown>;
  assert.deepEqual(Object.keys(value), ['__proto__', 'constructor']);
  assert.equal(Object.getPrototypeOf(value), Object.prototype);
  assert.equal(value.admin, undefined);
});
