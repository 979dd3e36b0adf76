/** The shape of the items of a batch, derived from the shape of its bodies. */
import { listsOf } from '../../../../compiler/lower/source.ts';
import type { SourceFile } from '../../../../schemas/generated/types.ts';
import type { PathMatch } from './form-set.ts';
import { findPath } from './form-set.ts';
import type { NodeId, Shape, ShapeGraph, ShapeNode, ShapeVariant } from './shape.ts';

/**
 * Each form begins in an item, and also has `batch`, the body, and `parent`, the enclosing item. A source without `each`, and a
 * form without the list, keep theirs.
 */
export function itemShape(shape: Shape, { each, event }: Pick<SourceFile, 'each' | 'event'>): Shape {
  if (each === undefined) return shape;
  const lists = listsOf(each);
  const roots: ShapeNode[] = [];
  const graph: ShapeGraph = { node: (id) => (id < 0 ? roots[-id - 1] : undefined) ?? shape.graph.node(id) };
  const variants = shape.variants.flatMap((form): readonly ShapeVariant[] => {
    const [item, parent] = itemsIn(shape.graph, form.root, lists);
    if (item === undefined) return [form];
    const node = graph.node(item);
    const around = [['batch', form.root] as const, ...(parent === undefined ? [] : [['parent', parent] as const])];
    const added = around.map(([name, at]) => [name, { node: at, optional: false }] as const);
    const root: NodeId = -roots.push({ ...node, properties: new Map([...node.properties, ...added]) });
    return eventsOf(form, findPath(shape.graph, item, ([event ?? []].flat()[0]?.json ?? '').split('.')), graph).map(
      (name) => ({ ...form, event: name, root }),
    );
  });
  const prefix = lists.map((list) => [...list, '0']);
  const toBody = ([first, ...rest]: readonly string[]): readonly string[] =>
    first === 'batch'
      ? rest
      : first === 'parent'
        ? [...prefix.slice(0, -1).flat(), ...rest]
        : [...prefix.flat(), first ?? '', ...rest];
  // Decisions about fields name their paths in the body.
  const review = {
    ...shape.review,
    find: (name: string, path: readonly string[]) => shape.review.find(name, toBody(path)),
  };
  return { ...shape, graph, variants, review };
}

/** The nodes of an item, and of the item that encloses it; empty without the list. */
function itemsIn(graph: ShapeGraph, root: NodeId, lists: readonly (readonly string[])[]): readonly NodeId[] {
  const items: NodeId[] = [];
  for (const list of lists) {
    const found = findPath(graph, items[0] ?? root, list);
    const item = found.kind === 'node' ? graph.node(found.node).items : null;
    if (item === null) return [];
    items.unshift(item);
  }
  return items;
}

/** The event types of a form: the values of the place of the type, if its schema lists them. */
function eventsOf(form: ShapeVariant, found: PathMatch, graph: ShapeGraph): readonly string[] {
  const values = found.kind === 'node' ? graph.node(found.node).values : null;
  return values === null ? [form.event] : values.map(String);
}
