/** Tests JSON Schemas as shapes: closed objects, unions and recursion. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { findPath } from '../../../../modules/payloads/compiler/shapes/form-set.ts';
import { createSchemaReader } from '../../../../modules/payloads/compiler/shapes/from-json-schema.ts';
import type { ShapeNode } from '../../../../modules/payloads/compiler/shapes/shape.ts';
import { createNodeTable } from '../../../../modules/payloads/compiler/shapes/shape.ts';

/** `absent`, `open`, or the node at a path. */
function at(schema: unknown, path: string): string | ShapeNode {
  const table = createNodeTable();
  const found = findPath(table, createSchemaReader(schema, table).read(schema), path.split('.'));
  return found.kind === 'node' ? table.node(found.node) : found.kind;
}

const kindAt = (schema: unknown, path: string): string => {
  const found = at(schema, path);
  return typeof found === 'string' ? found : [...found.types].sort().join(' ');
};

describe('an object', () => {
  const a = { type: 'string' };
  const CASES: readonly (readonly [string, unknown, string])[] = [
    ['is closed when it lists properties', { properties: { a } }, 'absent'],
    ['is closed if additional properties are forbidden', { properties: { a }, additionalProperties: false }, 'absent'],
    [
      'is closed without any property if additional properties are forbidden',
      { type: 'object', additionalProperties: false },
      'absent',
    ],
    ['is open when it allows more', { properties: { a }, additionalProperties: true }, 'open'],
    [
      'has additional properties of one type',
      { properties: { a }, additionalProperties: { type: 'integer' } },
      'integer',
    ],
    ['is open when it lists nothing', { type: 'object' }, 'open'],
    ['is open when names are patterns', { properties: { a }, patternProperties: { '^x-': {} } }, 'open'],
    ['is unknown without keywords', {}, 'open'],
    ['is unknown outside the document', { $ref: 'https://example.test/schema.json' }, 'open'],
    [
      'of one package is closed beside a closed one',
      { allOf: [{ properties: { a } }, { properties: { c: a } }] },
      'absent',
    ],
    ['has what a part of it has', { allOf: [{ properties: { a } }, { properties: { b: a } }] }, 'string'],
    ['has what one of several has', { oneOf: [{ properties: { a } }, { properties: { b: a } }] }, 'string'],
    [
      'is narrowed by a subschema',
      { allOf: [{ properties: { b: { type: ['string', 'null'] } } }, { properties: { b: a } }] },
      'string',
    ],
    ['may be null in one dialect', { properties: { b: { type: 'string', nullable: true } } }, 'null string'],
    ['has a referenced part', { properties: { b: { $ref: '#/$defs/x~1y' } }, $defs: { 'x/y': a } }, 'string'],
  ];
  for (const [name, schema, expected] of CASES) test(name, () => assert.equal(kindAt(schema, 'b'), expected));
});

test('a union has values if all members list them; null does not matter', () => {
  const values = (schema: unknown): unknown => (at({ properties: { x: schema } }, 'x') as ShapeNode).values;
  assert.deepEqual(values({ const: 'a' }), ['a']);
  assert.deepEqual(values({ enum: ['a', null] }), ['a']);
  assert.deepEqual(values({ anyOf: [{ enum: ['a'] }, { type: 'null' }] }), ['a']);
  assert.deepEqual(values({ anyOf: [{ enum: ['a'] }, { const: 'b' }] }), ['a', 'b']);
  assert.equal(values({ anyOf: [{ enum: ['a'] }, { type: 'string' }] }), null);
  assert.deepEqual(values({ allOf: [{ type: 'string' }, { enum: ['a'] }] }), ['a']);
});

test('a schema may contain itself, also in a nullable member', () => {
  const tree = {
    $ref: '#/$defs/tree',
    $defs: {
      tree: {
        type: 'object',
        properties: {
          name: { type: 'string' },
          parent: { oneOf: [{ $ref: '#/$defs/tree' }, { type: 'null' }] },
          children: { type: 'array', items: { $ref: '#/$defs/tree' } },
        },
      },
    },
  };
  assert.equal(kindAt(tree, 'children.3.parent.parent.name'), 'string');
  assert.equal(kindAt(tree, 'children.3.parent.parent.nam'), 'absent');
  assert.equal(kindAt({ $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/a' } } }, 'x'), 'open');
});

test('never throws, for any document', () => {
  for (const schema of [
    null,
    1,
    'x',
    [],
    { $ref: '#/nowhere' },
    { $ref: '#/%E0' },
    { type: 7, enum: 3, properties: [], allOf: {}, items: [] },
  ]) {
    assert.doesNotThrow(() => at(schema, 'a.b'), JSON.stringify(schema));
  }
});
