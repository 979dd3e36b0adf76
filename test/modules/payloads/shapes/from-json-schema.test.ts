/** JSON Schemas as shapes: what is closed, what is united, and what refers to itself. */
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
    ['is closed when it says so', { properties: { a }, additionalProperties: false }, 'absent'],
    ['is closed without any property when it says so', { type: 'object', additionalProperties: false }, 'absent'],
    ['is open when it allows more', { properties: { a }, additionalProperties: true }, 'open'],
    ['holds more of one kind', { properties: { a }, additionalProperties: { type: 'integer' } }, 'integer'],
    ['is open when it lists nothing', { type: 'object' }, 'open'],
    ['is open when names are patterns', { properties: { a }, patternProperties: { '^x-': {} } }, 'open'],
    ['is not known when nothing is said', {}, 'open'],
    ['is not known outside the document', { $ref: 'https://example.test/schema.json' }, 'open'],
    [
      'of one package is closed beside a closed one',
      { allOf: [{ properties: { a } }, { properties: { c: a } }] },
      'absent',
    ],
    ['has what a part of it has', { allOf: [{ properties: { a } }, { properties: { b: a } }] }, 'string'],
    ['has what one of several has', { oneOf: [{ properties: { a } }, { properties: { b: a } }] }, 'string'],
    [
      'is narrowed by a part of it',
      { allOf: [{ properties: { b: { type: ['string', 'null'] } } }, { properties: { b: a } }] },
      'string',
    ],
    ['may be null in one dialect', { properties: { b: { type: 'string', nullable: true } } }, 'null string'],
    ['has a referenced part', { properties: { b: { $ref: '#/$defs/x~1y' } }, $defs: { 'x/y': a } }, 'string'],
  ];
  for (const [name, schema, expected] of CASES) test(name, () => assert.equal(kindAt(schema, 'b'), expected));
});

test('values, also of one beside null; a list without them beside a list has none', () => {
  const values = (schema: unknown): unknown => (at({ properties: { x: schema } }, 'x') as ShapeNode).values;
  assert.deepEqual(values({ const: 'a' }), ['a']);
  assert.deepEqual(values({ enum: ['a', null] }), ['a']);
  assert.deepEqual(values({ anyOf: [{ enum: ['a'] }, { type: 'null' }] }), ['a']);
  assert.deepEqual(values({ anyOf: [{ enum: ['a'] }, { const: 'b' }] }), ['a', 'b']);
  assert.equal(values({ anyOf: [{ enum: ['a'] }, { type: 'string' }] }), null);
  assert.deepEqual(values({ allOf: [{ type: 'string' }, { enum: ['a'] }] }), ['a']);
});

test('a schema may contain itself, below null too', () => {
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

test('no document makes it throw', () => {
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
