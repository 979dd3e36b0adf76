/** Reads the shape of Figma's payloads from the description of its REST API. */
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { createSchemaReader } from '../../modules/payloads/compiler/shapes/from-json-schema.ts';
import { createNodeTable } from '../../modules/payloads/compiler/shapes/node-table.ts';
import type { NodeId } from '../../modules/payloads/compiler/shapes/shape.ts';
import { singleValue } from '../../modules/payloads/compiler/shapes/single-value.ts';
import type { NewShape } from '../shape-file/print-shape.ts';
import { originOf, packagePath } from './packages.ts';

const PACKAGE = '@figma/rest-api-spec';

export function readFigma(): NewShape {
  const document = parse(readFileSync(packagePath(PACKAGE, 'openapi/openapi.yaml'), 'utf8')) as {
    readonly components: { readonly schemas: Readonly<Record<string, unknown>> };
  };
  const table = createNodeTable();
  const reader = createSchemaReader(document, table);
  const events = new Map<string, readonly NodeId[]>();
  for (const [name, schema] of Object.entries(document.components.schemas)) {
    const root = /^Webhook\w+Payload$/.test(name) ? reader.read(schema) : null;
    const event = root === null ? null : singleValue(table, root, ['event_type']);
    if (root !== null && event !== null) events.set(event, [root]);
  }
  return { source: 'figma', quality: 'exact', from: [originOf(PACKAGE)], action: null, graph: table, events };
}
