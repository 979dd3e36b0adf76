/** Tests schemas that are inferred from payloads. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Ajv } from 'ajv';
import { readJson } from '../../../../base/exact-number.ts';
import { findPath } from '../../../../modules/payloads/compiler/shapes/form-set.ts';
import { createSchemaReader } from '../../../../modules/payloads/compiler/shapes/from-json-schema.ts';
import { learnSchema, widenSchema } from '../../../../modules/payloads/compiler/shapes/learn-schema.ts';
import { createNodeTable } from '../../../../modules/payloads/compiler/shapes/shape.ts';
import { runsOf } from '../../../helpers/sample.ts';
import { seededRandom } from '../../../helpers/seeded-random.ts';

const propertyOf = (payloads: readonly unknown[]): unknown =>
  (learnSchema(payloads.map((x) => ({ x }))).properties as Record<string, unknown>).x;

const times = <T>(count: number, make: (index: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, index) => make(index));

test('a field that is missing in one payload is not required', () => {
  assert.deepEqual(learnSchema([{ a: 1, b: 'x' }, { a: 2.5 }]), {
    type: 'object',
    required: ['a'],
    properties: { a: { type: 'number' }, b: { type: 'string' } },
  });
});

test('a number that JavaScript cannot hold is a number, and without a fraction or an exponent an integer', () => {
  const typeOf = (text: string): unknown => (propertyOf([readJson(text)]) as { type: unknown }).type;
  const texts = ['8202522731445525542', '-0', '1.0', '10.00', '1e400', '1E3'];
  assert.deepEqual(texts.map(typeOf), ['integer', 'integer', 'number', 'number', 'number', 'number']);
  const wide = widenSchema(
    { type: ['object', 'integer'], required: ['a'], enum: [1] },
    readJson('8202522731445525542'),
  );
  assert.deepEqual(wide, { type: ['integer', 'object'], required: ['a'] });
});

describe('lists values only if they are plausible', () => {
  const CASES: readonly (readonly [string, readonly string[], string, boolean])[] = [
    ['words that come again and again', times(12, (at) => ['red', 'green'][at % 2] ?? ''), 'colour', true],
    ['few words in a field for one of a few', times(4, (at) => ['open', 'paid'][at % 2] ?? ''), 'status', true],
    ['words that came once each', ['open', 'paid', 'sent'], 'status', false],
    ['one word, of a field that names the payload', times(3, () => 'order.created'), 'type', true],
    ['one word of another field', times(30, () => 'EUR'), 'currency', false],
    ['ids', times(12, (at) => `ord_${100 + (at % 2)}`), 'order', false],
    ['sentences', times(12, (at) => (at % 2 === 0 ? 'Please call me back.' : 'Thank you!')), 'note', false],
    ['many words', times(100, (at) => `w${'abcdefghijklmnopqrst'[at % 20]}`), 'state', false],
  ];
  for (const [name, texts, field, isListed] of CASES) {
    test(`${name}: ${isListed ? 'listed' : 'free'}`, () => {
      const { properties } = learnSchema(texts.map((text) => ({ [field]: text })));
      const found = (properties as Record<string, { readonly enum?: readonly string[] }>)[field]?.enum;
      assert.deepEqual(found, isListed ? [...new Set(texts)].sort() : undefined);
    });
  }
});

test('a schema that is widened by a payload accepts it, and all that it accepted before', () => {
  const random = seededRandom(7);
  const pick = <T>(...all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;
  const value = (depth: number): unknown =>
    pick(
      () => pick('open', 'paid', 'Please call.', 'https://a.test/', '2026-01-01'),
      () => pick<unknown>(1, 2.5, true, null),
      () => times(pick<number>(0, 1, 2), () => (depth > 2 ? 1 : value(depth + 1))),
      () => payload(depth + 1),
    )();
  const payload = (depth = 0): unknown =>
    Object.fromEntries(
      ['type', 'a', 'b', '__proto__', '17']
        .filter(() => random() < 0.6)
        .map((key) => [key, depth > 2 ? 1 : value(depth)]),
    );
  const ajv = new Ajv({ strict: false, validateFormats: false });
  for (let round = 0; round < runsOf(200); round++) {
    const first = times(pick<number>(1, 2, 4), () => payload());
    const later = times(3, () => payload());
    const wide = later.reduce<Readonly<Record<string, unknown>>>(widenSchema, learnSchema(first));
    const accepts = ajv.compile(wide);
    for (const each of [...first, ...later]) assert.ok(accepts(each), JSON.stringify([wide, each]));
  }
});

test('does not list the single value of a nested field, because other values may follow', () => {
  const learned = learnSchema(times(3, () => ({ type: 'order.created', user: { type: 'User' } })));
  const { type, user } = learned.properties as Record<string, { readonly properties?: unknown }>;
  assert.deepEqual(
    [type, user?.properties],
    [{ type: 'string', enum: ['order.created'] }, { type: { type: 'string' } }],
  );
});

test('infers formats, nullable types, and null', () => {
  assert.deepEqual(propertyOf(['2026-01-01T10:00:00Z', null]), { type: ['string', 'null'], format: 'date-time' });
  assert.deepEqual(propertyOf(['https://a.test/x']), { type: 'string', format: 'uri' });
  assert.deepEqual(propertyOf([null, null]), {});
  assert.deepEqual(propertyOf([[], [{ a: 1 }]]), {
    type: 'array',
    items: { type: 'object', required: ['a'], properties: { a: { type: 'integer' } } },
  });
});

test('infers a map if keys are data', () => {
  assert.deepEqual(propertyOf([{ 17: { n: 1 }, 42: { n: 2 } }]), {
    type: 'object',
    additionalProperties: { type: 'object', required: ['n'], properties: { n: { type: 'integer' } } },
  });
});

test('infers a map if keys differ between payloads, so that a new key is not a mistake', () => {
  const map = { type: 'object', additionalProperties: { type: 'string' } };
  assert.deepEqual(
    propertyOf([
      { k1: 'a', k2: 'b' },
      { k2: 'c', k3: 'd' },
    ]),
    map,
  );
  assert.deepEqual(propertyOf([{ colour: 'a' }, { size: 'b' }, { weight: 'c' }]), map);
  const address = propertyOf([
    { line1: 'a', line2: 'b' },
    { line1: 'c', line2: 'd' },
  ]) as Record<string, unknown>;
  assert.deepEqual(address.required, ['line1', 'line2']);
  const optional = propertyOf([{ id: 'a', note: 'b' }, { id: 'c' }, { id: 'd' }]) as Record<string, unknown>;
  assert.deepEqual(optional.required, ['id']);
});

test('a learned schema has every path of its payloads', () => {
  const payloads = [
    { a: { b: [{ c: 1 }, { d: null }] }, e: 'x' },
    { a: { b: [] }, f: { 'x@y.z': true } },
  ];
  const table = createNodeTable();
  const schema = learnSchema(payloads);
  const root = createSchemaReader(schema, table).read(schema);
  for (const path of ['a.b.0.c', 'a.b.1.d', 'e'])
    assert.notEqual(findPath(table, root, path.split('.')).kind, 'absent', path);
  assert.equal(findPath(table, root, ['f', 'x@y.z']).kind, 'node');
  assert.equal(findPath(table, root, ['a', 'x']).kind, 'absent');
});
