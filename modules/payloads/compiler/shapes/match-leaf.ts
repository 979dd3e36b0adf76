/** Decides whether one filter condition can match an event form, from the shape of its field. */
import { RE2JS } from 're2js';
import { isPlainMap } from '../../../../compiler/text/plain-map.ts';
import type { FilterLeaf } from '../../../../schemas/generated/types.ts';
import { factsOfField } from './field-facts.ts';
import type { FormSet } from './form-set.ts';
import type { ScalarValue, ShapeGraph, ShapeNode, ShapeType } from './shape.ts';

export type LeafMatch = 'always' | 'sometimes' | 'never';

export type Leaf = Pick<FilterLeaf, 'field' | 'operator' | 'value'>;

export interface GroupMatch {
  readonly match: LeafMatch;
  /** Indexes of the forms in the set. */
  readonly forms: readonly number[];
}

/** Matches a condition against each group of forms in which its field is the same. */
export function matchGroups(set: FormSet, { field, operator, value }: Leaf): readonly GroupMatch[] {
  return factsOfField(set, field).groups.map(({ node, optional, forms }) => ({
    match: node === null ? MISSING[operator](value) : matchNode(set.shape.graph, node, operator, value, optional),
    forms,
  }));
}

export const isImpossible = (set: FormSet, leaf: Leaf): boolean =>
  matchGroups(set, leaf).every(({ match }) => match === 'never');

/** Returns a result for each form, in order. */
export function matchLeaf(set: FormSet, leaf: Leaf): readonly LeafMatch[] {
  const matches: LeafMatch[] = set.forms.map(() => 'sometimes');
  for (const { match, forms } of matchGroups(set, leaf)) for (const index of forms) matches[index] = match;
  return matches;
}

type Operator = FilterLeaf['operator'];

/** How each operator matches a field that is absent. */
const MISSING: Readonly<Record<Operator, (operand: unknown) => LeafMatch>> = {
  exists: (operand) => (operand === true ? 'never' : 'always'),
  missing: () => 'always',
  not_equals: () => 'always',
  equals: () => 'never',
  contains: () => 'never',
  in: () => 'never',
  in_file: () => 'never',
  regex: () => 'never',
};

function matchNode(
  graph: ShapeGraph,
  node: ShapeNode,
  operator: Operator,
  operand: unknown,
  optional: boolean,
): LeafMatch {
  if (node.types.has('any')) return 'sometimes';
  switch (operator) {
    case 'equals':
      return matchValues(node, [operand], optional);
    case 'not_equals':
      return negated(matchValues(node, [operand], optional));
    case 'in':
      return matchValues(node, Array.isArray(operand) ? operand : [], optional);
    case 'contains':
      return canContain(graph, node, operand) ? 'sometimes' : 'never';
    case 'regex':
      return matchRegex(node, String(operand), optional);
    // A shape knows neither whether an optional field is present nor the content of a file.
    case 'exists':
    case 'missing':
    case 'in_file':
      return 'sometimes';
  }
}

export const negated = (match: LeafMatch): LeafMatch =>
  match === 'always' ? 'never' : match === 'never' ? 'always' : 'sometimes';

function matchValues(node: ShapeNode, operands: readonly unknown[], optional: boolean): LeafMatch {
  if (!operands.some((operand) => canBe(node, operand))) return 'never';
  const isCertain = !optional && node.types.size === 1 && node.values !== null;
  return isCertain && node.values.every((value) => operands.includes(value)) ? 'always' : 'sometimes';
}

/** Whether a value of the node can equal the operand. Null is always possible, because schemas are often imprecise about it. */
export function canBe(node: ShapeNode, operand: unknown): boolean {
  if (operand === null || node.types.has('any')) return true;
  if (!typesOf(operand).some((type) => node.types.has(type))) return false;
  return node.values === null || !isScalar(operand) || node.values.includes(operand);
}

const isScalar = (value: unknown): value is ScalarValue => typeof value !== 'object';

function typesOf(value: unknown): readonly ShapeType[] {
  if (Array.isArray(value)) return ['array'];
  if (typeof value === 'number') return Number.isInteger(value) ? ['integer', 'number'] : ['number'];
  return typeof value === 'string' ? ['string'] : typeof value === 'boolean' ? ['boolean'] : ['object'];
}

function canContain(graph: ShapeGraph, node: ShapeNode, operand: unknown): boolean {
  if (node.types.has('any')) return true;
  if (node.items !== null && canBe(graph.node(node.items), operand)) return true;
  if (typeof operand !== 'string') return isPlainMap(operand) && node.items !== null;
  if (node.types.has('object') && (node.rest !== null || node.properties.has(operand))) return true;
  if (!node.types.has('string')) return false;
  return node.values === null || node.values.some((value) => typeof value === 'string' && value.includes(operand));
}

/** Decides only for fields whose values are listed. Another rule reports invalid patterns. */
function matchRegex(node: ShapeNode, pattern: string, optional: boolean): LeafMatch {
  if (node.values === null || !node.types.has('string')) return 'sometimes';
  let regex: RE2JS;
  try {
    regex = RE2JS.compile(pattern);
  } catch {
    return 'sometimes';
  }
  const hits = node.values.filter((value) => regex.matcher(String(value)).find());
  if (hits.length === 0 && node.types.size === 1) return 'never';
  return hits.length === node.values.length && !optional && node.types.size === 1 ? 'always' : 'sometimes';
}
