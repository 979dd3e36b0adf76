/** Whether one condition of a filter can hold in a form of an event, judged by what the shape says of its field. */
import { RE2JS } from 're2js';
import type { FieldPlan, FilterLeaf } from '../../schemas/generated/types.ts';
import { isPlainMap } from '../source/plain-map.ts';
import type { Found } from './find-path.ts';
import { findPath } from './find-path.ts';
import type { FormSet } from './form-set.ts';
import type { ScalarValue, ShapeGraph, ShapeNode, ShapeType, ShapeVariant } from './shape.ts';
import { ANY_EVENT } from './shape.ts';

/** `absent`: the form has no such field. What follows for the condition depends on its operator. */
export type LeafMatch = 'always' | 'sometimes' | 'never';

export type Leaf = Pick<FilterLeaf, 'field' | 'operator' | 'value'>;

/** For each form in turn. */
export function matchLeaf(set: FormSet, leaf: Leaf): readonly LeafMatch[] {
  return set.remember(`match ${JSON.stringify(leaf)}`, () =>
    set.forms.map((form) => matchForm(set.shape.graph, form, leaf)),
  );
}

function matchForm(graph: ShapeGraph, form: ShapeVariant, { field, operator, value }: Leaf): LeafMatch {
  if (field.in === 'event') {
    return form.event === ANY_EVENT ? 'sometimes' : matchNode(graph, textNode(form.event), operator, value, false);
  }
  const found = findField(graph, form, field);
  if (found.kind === 'open') return 'sometimes';
  if (found.kind === 'absent') return MISSING[operator](value);
  return matchNode(graph, graph.node(found.node), operator, value, found.optional);
}

/** Where a field leads in one form. `payload.<x>` may lead below a `payload` of the body, or below its root (§2.2). */
export function findField(graph: ShapeGraph, { root }: ShapeVariant, field: FieldPlan): Found {
  if (field.in === 'header' || field.in === 'event') return { kind: 'open' };
  const found = findPath(graph, root, field.path);
  if (field.in === 'root') return found;
  const inner = findPath(graph, root, ['payload']);
  if (inner.kind === 'absent') return found;
  const below = findPath(graph, root, ['payload', ...field.path]);
  return inner.kind === 'node' && !inner.optional ? below : either(below, found);
}

function either(a: Found, b: Found): Found {
  if (a.kind === 'absent') return b;
  // Two places with types of their own: nothing certain can be said.
  return b.kind === 'absent' ? a : { kind: 'open' };
}

type Operator = FilterLeaf['operator'];

/** Of a field that is not there. */
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

const textNode = (text: string): ShapeNode => ({
  types: new Set(['string'] as const),
  values: [text],
  format: null,
  leafClass: null,
  properties: new Map(),
  rest: null,
  items: null,
});

function matchNode(
  graph: ShapeGraph,
  node: ShapeNode,
  operator: Operator,
  operand: unknown,
  optional: boolean,
): LeafMatch {
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
    // Whether a field is there, and what is in a file, is not for a shape to say.
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

/** Whether a value of the node may equal the operand. Schemas are careless about null: it is never ruled out. */
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

/** Only of a field whose texts are listed. A pattern that is none is another rule's. */
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
