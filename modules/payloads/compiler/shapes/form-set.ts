/** The event forms that are possible at one point of a route, with lookups of paths in them. */

import { groupBy } from '../../../../base/group-by.ts';
import { printPath } from '../../../../base/paths.ts';
import type { FieldPlan, TargetEffect } from '../../../../schemas/generated/types.ts';
import type { NodeId, Shape, ShapeGraph, ShapeNode, ShapeProperty, ShapeVariant } from './shape.ts';
import { ANY, ANY_EVENT } from './shape.ts';

export interface FormSet {
  readonly shape: Shape;
  readonly forms: readonly ShapeVariant[];
  /** Looks up a path in each form, in order. */
  find(path: readonly string[]): readonly PathMatch[];
  /** The set of the forms at these indexes; the set itself if that is all forms. */
  pick(indexes: readonly number[]): FormSet;
  /** Returns the cached result for the key, or computes it. */
  remember<T>(key: string, compute: () => T): T;
}

/** Creates the set of all forms of a shape. Subsets are cached, because ten thousand routes share a few of them. */
export function createFormSet(shape: Shape): FormSet {
  const sets = new Map<string, FormSet>();
  const select = (indexes: readonly number[]): FormSet => {
    const key = indexes.join(' ');
    const known = sets.get(key);
    if (known !== undefined) return known;
    const set = formSet(shape, indexes, select);
    sets.set(key, set);
    return set;
  };
  return select(shape.variants.map((_, index) => index));
}

function formSet(shape: Shape, members: readonly number[], select: (indexes: readonly number[]) => FormSet): FormSet {
  const memory = new Map<string, unknown>();
  const forms = members.flatMap((index) => shape.variants[index] ?? []);
  const set: FormSet = {
    shape,
    forms,
    find: (path) =>
      set.remember(`find ${printPath(path)}`, () => forms.map(({ root }) => findPath(shape.graph, root, path))),
    pick: (indexes) =>
      indexes.length === members.length ? set : select(indexes.flatMap((index) => members[index] ?? [])),
    remember<T>(key: string, compute: () => T): T {
      // Each key is used for only one kind of computation, so it always has the same type.
      if (memory.has(key)) return memory.get(key) as T;
      const value = compute();
      memory.set(key, value);
      return value;
    },
  };
  return set;
}

/** Whether a delivery causes this form of an event. */
export const isForm = ({ event, action }: ShapeVariant, { events, actions }: TargetEffect): boolean =>
  events.includes(event) && (actions === undefined || action === null || actions.includes(action));

/** `open`: there may be a value, but nothing is known about it. */
export type PathMatch =
  | { readonly kind: 'absent' }
  | { readonly kind: 'open' }
  | { readonly kind: 'node'; readonly node: NodeId; readonly optional: boolean };

const ABSENT: PathMatch = { kind: 'absent' };
const OPEN: PathMatch = { kind: 'open' };
const INDEX = /^(?:0|[1-9]\d*)$/;

/** @param path parts as in a template: names, and decimal array indexes */
export function findPath(graph: ShapeGraph, root: NodeId, path: readonly string[]): PathMatch {
  let id = root;
  let optional = false;
  for (const part of path) {
    const { types, properties, rest, items } = graph.node(id);
    if (types.has('any')) return OPEN;
    const property = properties.get(part);
    if (property !== undefined) {
      // A value of several types may be of a type without this property.
      optional ||= property.optional || types.size > 1;
      id = property.node;
    } else if (items !== null && INDEX.test(part)) {
      optional = true;
      id = items;
    } else if (rest !== null) {
      optional = true;
      id = rest;
    } else return ABSENT;
  }
  return graph.node(id).types.has('any') ? OPEN : { kind: 'node', node: id, optional };
}

/** The nodes at a path in all forms that have it, without duplicates. */
export type Level = readonly NodeId[];

export interface PathTree {
  readonly root: Level;
  /** Children by name; list elements are `0`. Unlisted properties of open objects are omitted. */
  children(level: Level): ReadonlyMap<string, Level>;
  /** Empty if no form has the path. */
  below(level: Level, path: readonly string[]): Level;
  isOpen(level: Level): boolean;
  /** Whether all nodes are texts, numbers or booleans. */
  isLeaf(level: Level): boolean;
}

export function createPathTree(graph: ShapeGraph, roots: readonly NodeId[]): PathTree {
  const known = new Map<string, ReadonlyMap<string, Level>>();
  const children = (level: Level): ReadonlyMap<string, Level> => {
    const key = level.join(' ');
    const found = known.get(key) ?? readChildren(graph, level);
    known.set(key, found);
    return found;
  };
  const step = (level: Level, part: string): Level =>
    children(level).get(part) ?? (INDEX.test(part) ? itemsOf(graph, level) : []);
  return {
    root: [...new Set(roots)],
    children,
    below: (level, path) => path.reduce(step, level),
    isOpen: (level) => level.some((id) => graph.node(id).types.has('any') || graph.node(id).rest !== null),
    isLeaf: (level) => level.every((id) => [...graph.node(id).types].every((type) => LEAVES.has(type))),
  };
}

const LEAVES: ReadonlySet<string> = new Set(['string', 'integer', 'number', 'boolean', 'null']);

function readChildren(graph: ShapeGraph, level: Level): ReadonlyMap<string, Level> {
  const found = new Map<string, Set<NodeId>>();
  const add = (name: string, { node }: Pick<ShapeProperty, 'node'>): void => {
    const known = found.get(name);
    if (known === undefined) found.set(name, new Set([node]));
    else known.add(node);
  };
  for (const id of level) for (const [name, property] of graph.node(id).properties) add(name, property);
  for (const item of itemsOf(graph, level)) add('0', { node: item });
  return new Map([...found].map(([name, ids]) => [name, [...ids].sort((a, b) => a - b)]));
}

const itemsOf = (graph: ShapeGraph, level: Level): Level => [
  ...new Set(level.flatMap((id) => graph.node(id).items ?? [])),
];

/** Returns null if there is no such field, or if it can have several values. */
export function singleValue(graph: ShapeGraph, root: NodeId, path: readonly string[]): string | null {
  const found = findPath(graph, root, path);
  if (found.kind !== 'node') return null;
  const [value, ...others] = graph.node(found.node).values ?? [];
  return typeof value === 'string' && others.length === 0 ? value : null;
}

/** Looks up a field in the possible event forms. Forms in which the field is the same are examined once. */
interface FieldFacts {
  readonly groups: readonly FieldGroup[];
  /** The field's nodes; empty if no form has it. */
  readonly nodes: readonly ShapeNode[];
  /** Whether a form leads to a node that is not fully known. */
  readonly isOpen: boolean;
}

/** Forms in which the field has the same node. */
interface FieldGroup {
  /** Null if the forms do not have the field. */
  readonly node: ShapeNode | null;
  readonly optional: boolean;
  /** Indexes of the forms in the set. */
  readonly forms: readonly number[];
}

/** Looks up a field in all forms of a set. Results are cached in the set. */
export function factsOfField(set: FormSet, field: FieldPlan): FieldFacts {
  return set.remember(`field ${field.in} ${printPath(field.path)}`, () => {
    const groups = field.in === 'event' ? eventGroups(set) : fieldGroups(set, field);
    const nodes = groups.flatMap(({ node }) => node ?? []);
    return { groups, nodes, isOpen: nodes.some(({ types }) => types.has('any')) };
  });
}

function eventGroups({ forms }: FormSet): readonly FieldGroup[] {
  const groups = groupBy(forms.keys(), (index) => forms[index]?.event ?? ANY_EVENT);
  return [...groups].map(([event, indexes]) => ({
    node: event === ANY_EVENT ? ANY : textNode(event),
    optional: false,
    forms: indexes,
  }));
}

const textNode = (text: string): ShapeNode => ({ ...ANY, types: new Set(['string'] as const), values: [text] });

function fieldGroups({ shape: { graph }, forms }: FormSet, field: FieldPlan): readonly FieldGroup[] {
  const found = forms.map((form) => findField(graph, form, field));
  const at = (index = 0): PathMatch => found[index] ?? { kind: 'absent' };
  const keyOf = (each: PathMatch): string => (each.kind === 'node' ? `${each.node} ${each.optional}` : each.kind);
  return [...groupBy(found.keys(), (index) => keyOf(at(index))).values()].map((indexes) => {
    const one = at(indexes[0]);
    return {
      node: one.kind === 'node' ? graph.node(one.node) : one.kind === 'open' ? ANY : null,
      optional: one.kind !== 'node' || one.optional,
      forms: indexes,
    };
  });
}

/** `payload.<x>` may refer to a `payload` key in the body, or to the body itself (§2.2). */
function findField(graph: ShapeGraph, { root }: ShapeVariant, field: FieldPlan): PathMatch {
  if (field.in === 'header') return { kind: 'open' };
  const found = findPath(graph, root, field.path);
  if (field.in === 'root') return found;
  const inner = findPath(graph, root, ['payload']);
  if (inner.kind === 'absent') return found;
  const below = findPath(graph, root, ['payload', ...field.path]);
  return inner.kind === 'node' && !inner.optional ? below : either(below, found);
}

function either(a: PathMatch, b: PathMatch): PathMatch {
  if (a.kind === 'absent') return b;
  // Two different places: the type is unknown.
  return b.kind === 'absent' ? a : { kind: 'open' };
}
