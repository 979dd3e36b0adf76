/** Tests the text form of shapes: printed nodes can be read again, and equal types are written once. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { findPath } from '../../../../modules/payloads/compiler/shapes/form-set.ts';
import type { ScalarValue, ShapeNode, ShapeType } from '../../../../modules/payloads/compiler/shapes/shape.ts';
import { ANY, createNodeTable } from '../../../../modules/payloads/compiler/shapes/shape.ts';
import type { ShapeFile } from '../../../../modules/payloads/compiler/shapes/shape-file.ts';
import { printNode, readNode, readShapeFile } from '../../../../modules/payloads/compiler/shapes/shape-file.ts';
import { printShape } from '../../../../scripts/shape-file/print-shape.ts';

const ANY_ID = 0;
const base36 = (id: number): string => id.toString(36);

const id = fc.integer({ min: 1, max: 5000 });
const name = fc.string({ minLength: 1, unit: 'grapheme' });

/** All values of a node have one type, as generators write them. */
const values: fc.Arbitrary<readonly [ShapeType, readonly ScalarValue[]] | null> = fc.oneof(
  fc.constant(null),
  fc.uniqueArray(name, { minLength: 1 }).map((list) => ['string', list] as const),
  fc.uniqueArray(fc.integer(), { minLength: 1 }).map((list) => ['integer', list] as const),
);

const node: fc.Arbitrary<ShapeNode> = fc
  .record({
    types: fc.uniqueArray(fc.constantFrom<ShapeType>('string', 'integer', 'number', 'boolean', 'null')),
    values,
    format: fc.constantFrom(null, 'uri', 'date-time'),
    leafClass: fc.constantFrom(null, 't', 'i'),
    properties: fc.option(fc.uniqueArray(fc.tuple(name, id, fc.boolean()), { selector: ([key]) => key })),
    rest: fc.constantFrom(null, ANY_ID, 77),
    items: fc.option(id),
  })
  .map(({ types, values: listed, properties, rest, items, ...leaf }) => ({
    ...leaf,
    types: new Set<ShapeType>([
      ...(listed === null ? types : [listed[0], 'null' as const]),
      ...(properties === null ? [] : ['object' as const]),
      ...(items === null ? [] : ['array' as const]),
    ]),
    values: listed?.[1] ?? null,
    properties: new Map((properties ?? []).map(([key, target, optional]) => [key, { node: target, optional }])),
    rest: properties === null ? null : rest,
    items,
  }));

test('a printed node can be read again, with any names and values', () => {
  fc.assert(
    fc.property(node, (before) => {
      const line = printNode(before, base36, ANY_ID);
      const { types, ...after } = readNode(line, ANY_ID);
      assert.deepEqual(after.properties, before.properties);
      assert.deepEqual(after.values, before.values);
      assert.deepEqual(
        [after.rest, after.items, after.format, after.leafClass],
        [before.rest, before.items, before.format, before.leafClass],
      );
      assert.deepEqual([...types].sort(), [...before.types].sort());
    }),
  );
});

test('rejects an invalid line', () => {
  for (const line of ['q', '{a}', 's=a{b:1', '[', 's]']) assert.throws(() => readNode(line, ANY_ID), SyntaxError, line);
});

test('writes equal types once, including recursive types', () => {
  const table = createNodeTable();
  const text = (): number => table.add({ ...ANY, types: new Set(['string']) });
  const person = (): number => {
    const self = table.reserve();
    const friends = table.add({ ...ANY, types: new Set(['array']), items: self });
    const properties = new Map([
      ['name', { node: text(), optional: false }],
      ['friends', { node: friends, optional: true }],
    ]);
    table.define(self, { ...ANY, types: new Set(['object']), properties });
    return self;
  };
  const file = printShape({
    source: 'x',
    quality: 'good',
    from: [],
    action: null,
    graph: table,
    events: new Map([
      ['a', [person()]],
      ['b', [person()]],
    ]),
  });
  const { nodes, events } = JSON.parse(file) as ShapeFile;
  assert.equal(nodes.length, 4, 'anything, a text, a list, a person');
  assert.equal(events.a, events.b);
  const { graph, variants } = readShapeFile({ shape: file, review: null });
  const root = variants[0]?.root ?? -1;
  assert.equal(findPath(graph, root, ['friends', '0', 'friends', '3', 'name']).kind, 'node');
  assert.equal(findPath(graph, root, ['friends', 'name']).kind, 'absent');
});

describe('the shipped shapes', () => {
  const folder = new URL('../../../../catalog/shapes/', import.meta.url);
  const files = readdirSync(folder).map((file) => ({ file, text: readFileSync(new URL(file, folder), 'utf8') }));

  test('name their packages, versions and licences, and all nodes can be read', () => {
    for (const { file, text } of files) {
      const shape = readShapeFile({ shape: text, review: null });
      assert.equal(`${shape.source}.json`, file);
      assert.ok(shape.from.length > 0 && shape.variants.length > 0, file);
      for (const origin of shape.from)
        assert.match(
          `${origin.version} ${origin.licence}`,
          /^\d+\.\d+\.\d+ (?:MIT|MIT License|Apache-2\.0|Unlicense)$/,
        );
      const count = (JSON.parse(text) as ShapeFile).nodes.length;
      assert.deepEqual(shape.graph.node(ANY_ID).types, new Set(['any']));
      for (let at = 0; at < count; at++) {
        const { properties, rest, items } = shape.graph.node(at);
        for (const below of [...[...properties.values()].map((each) => each.node), rest ?? 0, items ?? 0])
          assert.ok(below < count);
      }
    }
  });

  test('are small: 25 KB for GitHub, 150 KB in all, gzipped', () => {
    const size = ({ text }: { readonly text: string }): number => gzipSync(text, { level: 9 }).length;
    const github = files.find(({ file }) => file === 'github.json');
    assert.ok(github !== undefined && size(github) <= 25 * 1024);
    assert.ok(files.map(size).reduce((sum, each) => sum + each) <= 150 * 1024);
  });
});
