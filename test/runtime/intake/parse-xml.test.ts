import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseXml } from '../../../runtime/intake/parse-xml.ts';
import { cpuTime } from '../../helpers/cpu-time.ts';

const read = (text: string): unknown => {
  const parsed = parseXml(text);
  return parsed.ok ? parsed.value : parsed.fault;
};

const documents: readonly (readonly [name: string, text: string, value: unknown])[] = [
  ['text', '<a>b</a>', { a: 'b' }],
  ['an empty element', '<a/>', { a: '' }],
  ['attributes and elements', `<a x="1" y='2'><b>c</b></a>`, { a: { x: '1', y: '2', b: 'c' } }],
  ['several elements of one name', '<a><b>1</b><b>2</b></a>', { a: { b: ['1', '2'] } }],
  ['an attribute and an element of one name', '<a id="1"><id>2</id></a>', { a: { id: ['1', '2'] } }],
  ['text beside attributes', '<a x="1"> b </a>', { a: { x: '1', text: 'b' } }],
  ['a prefix', '<yt:a xmlns:yt="u" xmlns="v">b</yt:a>', { yt_a: 'b' }],
  ['references', '<a b="&quot;&apos;">&lt;&amp;&gt; &#65;&#x1F600;</a>', { a: { b: `"'`, text: '<&> A😀' } }],
  ['CDATA', '<a><![CDATA[<b>&amp;</b>]]></a>', { a: '<b>&amp;</b>' }],
  ['text around the root', '\ufeff<?xml version="1.0"?>\n<!-- -- <x> --><a>1<!-- 2 -->3</a>\n', { a: '13' }],
  ['names of other languages', '<größe>1</größe>', { größe: '1' }],
];

for (const [name, text, value] of documents) test(`reads ${name}`, () => assert.deepEqual(read(text), value));

const faults: readonly (readonly [name: string, text: string])[] = [
  ['a document type', '<!DOCTYPE a><a/>'],
  ['a custom entity', '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>'],
  ['an undeclared entity', '<a>&x;</a>'],
  ['a name that every object has', '<a>&constructor;</a>'],
  ['an open reference', '<a>&amp</a>'],
  ['a surrogate', '<a>&#xD800;</a>'],
  ['an element that is not closed', '<a><b></a>'],
  ['a tag too many', '<a/></a>'],
  ['two roots', '<a/><b/>'],
  ['text around the root', '<a/>b'],
  ['an attribute twice', '<a b="1" b="2"/>'],
  ['an attribute without quotes', '<a b=1/>'],
  ['an open comment', '<a/><!-- '],
  ['open CDATA', '<a><![CDATA[ </a>'],
  ['JSON', '{"a":1}'],
  ['blanks alone', '  '],
];

for (const [name, text] of faults) test(`refuses ${name}`, () => assert.equal(read(text), 'not_xml'));

test('nesting is bounded', () => {
  const nested = (depth: number): string => '<a>'.repeat(depth) + '</a>'.repeat(depth);
  assert.equal(typeof read(nested(200)), 'object');
  assert.equal(read(nested(202)), 'too_deep');
});

test('a name like __proto__ is a plain key', () => {
  const { a } = read('<a><__proto__>x</__proto__></a>') as { a: object };
  assert.deepEqual(Object.entries(a), [['__proto__', 'x']]);
  assert.equal(Object.getPrototypeOf(a), Object.prototype);
});

test('any text is parsed or rejected, large ones in linear time', () => {
  fc.assert(fc.property(fc.string({ unit: fc.constantFrom(...'<>/!?-[]&;="\'ab: ') }), (text) => void read(text)));
  const ms = cpuTime(() => {
    for (const part of ['<a>', ' a="', '<!--', '&#', '<a ', ' ', '<![CDATA[', '-']) {
      assert.equal(typeof read(`<a>${part.repeat(1_000_000 / part.length)}`), 'string');
      assert.equal(typeof read(`<a b="1"${part.repeat(1_000_000 / part.length)}`), 'string');
    }
  });
  assert(ms < 5_000, `${ms} ms`);
});
