/** Decides whether one filter condition can match an event form, from the shape of its field. */
import type { FilterLeaf } from '../../../../schemas/generated/types.ts';
import { factsOfField } from './field-facts.ts';
import type { FormSet } from './form-set.ts';
import type { LeafMatch } from './operators.ts';
import { factsOf } from './operators.ts';
import type { ShapeNode } from './shape.ts';

export type Leaf = Pick<FilterLeaf, 'field' | 'operator' | 'value'>;

export interface GroupMatch {
  readonly match: LeafMatch;
  /** Indexes of the forms in the set. */
  readonly forms: readonly number[];
}

/** Matches a condition against each group of forms in which its field is the same. */
export function matchGroups(set: FormSet, { field, operator, value }: Leaf): readonly GroupMatch[] {
  const { missing, present } = factsOf(operator);
  const { graph } = set.shape;
  const match = (node: ShapeNode | null, optional: boolean): LeafMatch => {
    if (node === null) return missing(value);
    return node.types.has('any') ? 'sometimes' : present({ graph, node, optional }, value);
  };
  return factsOfField(set, field).groups.map(({ node, optional, forms }) => ({ match: match(node, optional), forms }));
}

export const isImpossible = (set: FormSet, leaf: Leaf): boolean =>
  matchGroups(set, leaf).every(({ match }) => match === 'never');

/** Returns a result for each form, in order. */
export function matchLeaf(set: FormSet, leaf: Leaf): readonly LeafMatch[] {
  const matches: LeafMatch[] = set.forms.map(() => 'sometimes');
  for (const { match, forms } of matchGroups(set, leaf)) for (const index of forms) matches[index] = match;
  return matches;
}

/** The only values that a condition accepts; null if it does not list them. */
export const listedValues = ({ operator, value }: Leaf, isNegated: boolean): readonly unknown[] | null =>
  isNegated ? factsOf(operator).acceptsNegated(value) : factsOf(operator).accepts(value);
