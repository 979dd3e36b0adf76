/** Creates the shape of a sender from the TypeScript types of its packages. */
import type { NodeTable } from '../../modules/payloads/compiler/shapes/node-table.ts';
import { ANY, createNodeTable } from '../../modules/payloads/compiler/shapes/node-table.ts';
import type { NodeId } from '../../modules/payloads/compiler/shapes/shape.ts';
import type { NewShape } from '../shape-file/print-shape.ts';
import { originOf } from './packages.ts';
import { createTypeReader } from './read-types.ts';
import type { Adjustment, TypedSource } from './typed-source.ts';

export function readTyped({ source, packages, quality, module, events, action, adjust = {} }: TypedSource): NewShape {
  const table = createNodeTable();
  const reader = createTypeReader(module, table, { unexpanded: adjust.unexpanded ?? false });
  const found = new Map<string, NodeId[]>();
  for (const [alias, where] of Object.entries(events)) {
    for (const member of reader.membersOf(alias)) {
      const names = isPlace(where) ? reader.literalsOf(member, where.at.split('.')).map(String) : where;
      const root = reader.read(member);
      for (const name of names) found.set(name, [...(found.get(name) ?? []), root]);
    }
  }
  if (found.size === 0) throw new Error(`${source}: no event has a name`);
  adjustNodes(table, adjust);
  return { source, quality, from: packages.map(originOf), action: action ?? null, graph: table, events: found };
}

function adjustNodes(table: NodeTable, { drop = [], open = [], closed = [], unlisted = [] }: Adjustment): void {
  const any = table.add(ANY);
  const opened = new Set<NodeId>();
  const shut = new Set<NodeId>();
  for (let id = 0; id < table.size; id++) {
    const node = table.node(id);
    const properties = new Map([...node.properties].filter(([name]) => !drop.includes(name)));
    for (const [name, property] of properties) {
      if (open.includes(name)) opened.add(property.node);
      if (closed.includes(name)) shut.add(property.node);
      // A new node, because other fields may share the old one.
      if (unlisted.includes(name))
        properties.set(name, { ...property, node: table.add({ ...table.node(property.node), values: null }) });
    }
    const isChanged = [...node.properties].some(([name, property]) => properties.get(name) !== property);
    if (isChanged) table.define(id, { ...node, properties });
  }
  for (const id of shut) table.define(id, { ...table.node(id), rest: null });
  for (const id of opened) {
    const node = table.node(id);
    if (node.types.has('object')) table.define(id, { ...node, rest: any });
  }
}

const isPlace = (where: TypedSource['events'][string]): where is { readonly at: string } => !Array.isArray(where);
