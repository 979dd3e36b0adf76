/** Looks up a field in the possible event forms. Forms in which the field is the same are examined once. */
import { groupBy } from '../../../../base/group-by.ts';
import type { FieldPlan } from '../../../../schemas/generated/types.ts';
import type { Found } from './find-path.ts';
import { findPath } from './find-path.ts';
import type { FormSet } from './form-set.ts';
import { ANY } from './node-table.ts';
import type { ShapeGraph, ShapeNode, ShapeVariant } from './shape.ts';
import { ANY_EVENT } from './shape.ts';

export interface FieldFacts {
  readonly groups: readonly FieldGroup[];
  /** The field's nodes; empty if no form has it. */
  readonly nodes: readonly ShapeNode[];
  /** Whether a form leads to a node that is not fully known. */
  readonly isOpen: boolean;
}

/** Forms in which the field has the same node. */
export interface FieldGroup {
  /** Null if the forms do not have the field. */
  readonly node: ShapeNode | null;
  readonly optional: boolean;
  /** Indexes of the forms in the set. */
  readonly forms: readonly number[];
}

/** Looks up a field in all forms of a set. Results are cached in the set. */
export function factsOfField(set: FormSet, field: FieldPlan): FieldFacts {
  return set.remember(`field ${field.in} ${field.path.join('.')}`, () => {
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
  const at = (index = 0): Found => found[index] ?? { kind: 'absent' };
  const keyOf = (each: Found): string => (each.kind === 'node' ? `${each.node} ${each.optional}` : each.kind);
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
function findField(graph: ShapeGraph, { root }: ShapeVariant, field: FieldPlan): Found {
  if (field.in === 'header') return { kind: 'open' };
  const found = findPath(graph, root, field.path);
  if (field.in === 'root') return found;
  const inner = findPath(graph, root, ['payload']);
  if (inner.kind === 'absent') return found;
  const below = findPath(graph, root, ['payload', ...field.path]);
  return inner.kind === 'node' && !inner.optional ? below : either(below, found);
}

function either(a: Found, b: Found): Found {
  if (a.kind === 'absent') return b;
  // Two different places: the type is unknown.
  return b.kind === 'absent' ? a : { kind: 'open' };
}
