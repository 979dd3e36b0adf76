/** Checks one condition of a filter against the forms that may come: its field, and the values it is compared with. */
import type { Problem } from '../diagnostics/problem.ts';
import { oneOf, suggest } from '../diagnostics/suggest.ts';
import { describeForms, describeTypes, printValue, shortList } from './describe.ts';
import { factsOfField } from './field-facts.ts';
import type { FormSet } from './form-set.ts';
import type { Leaf } from './match-leaf.ts';
import { isImpossible } from './match-leaf.ts';
import type { WrittenLeaf } from './read-leaf.ts';
import type { ShapeNode } from './shape.ts';
import { textBelow } from './suggest-path.ts';
import { unknownPath } from './unknown-path.ts';

/** Paths start at `filters`. */
export function checkLeaf(set: FormSet, leaf: WrittenLeaf): readonly Problem[] {
  const { nodes, isOpen } = factsOfField(set, leaf.field);
  if (isOpen) return [];
  if (nodes.length > 0) return checkOperands(set, leaf, nodes);
  const field = { path: leaf.field.path, text: leaf.text, shown: (text: string) => text };
  return [unknownPath(set, field, { path: [...leaf.path, 'field'] })];
}

/** A value that the field never has, each at its own place. */
function checkOperands(set: FormSet, leaf: WrittenLeaf, nodes: readonly ShapeNode[]): readonly Problem[] {
  return operandsOf(leaf).flatMap(({ operand, path, asked }): readonly Problem[] =>
    isImpossible(set, { ...leaf, ...asked }) ? [impossible(set, leaf, nodes, operand, path)] : [],
  );
}

interface Operand {
  readonly operand: unknown;
  readonly path: Problem['path'];
  /** The question whether the field ever has this value. */
  readonly asked: Pick<Leaf, 'operator' | 'value'>;
}

function operandsOf({ operator, value, path }: WrittenLeaf): readonly Operand[] {
  const at = [...path, operator];
  if (operator === 'equals' || operator === 'not_equals')
    return [{ operand: value, path: at, asked: { operator: 'equals', value } }];
  if (operator === 'contains' || operator === 'regex')
    return [{ operand: value, path: at, asked: { operator, value } }];
  if (operator !== 'in' || !Array.isArray(value)) return [];
  return value.map((member, index) => ({
    operand: member,
    path: [...at, index],
    asked: { operator: 'equals', value: member },
  }));
}

function impossible(
  set: FormSet,
  leaf: WrittenLeaf,
  nodes: readonly ShapeNode[],
  operand: unknown,
  path: Problem['path'],
): Problem {
  const values = [...new Set(nodes.flatMap((node) => node.values ?? []))].map(String);
  const isListed = nodes.every((node) => node.values !== null);
  const problem = { path, at: 'value' as const };
  if (isListed && isAction(set, leaf)) return { ...problem, ...wrongAction(set, operand, values) };
  const where = leaf.field.in === 'event' ? '' : ` in any ${describeForms(set, set.shape.source)}`;
  const never = `\`${leaf.text}\` ${VERBS[leaf.operator] ?? 'is never'} \`${printValue(operand)}\`${where}`;
  if (!isListed || typeof operand !== 'string')
    return { ...problem, rule: 'impossible-filter', ...wrongType(set, leaf, nodes, never) };
  const hint = values.length > FEW ? { hint: `it is one of ${shortList(values, MANY)}` } : {};
  const is = values.length > FEW ? '' : `: it is ${oneOf(values)}`;
  return { ...problem, rule: 'impossible-filter', message: `${never}${is}${meant(operand, values)}`, ...hint };
}

const VERBS: Readonly<Partial<Record<Leaf['operator'], string>>> = {
  contains: 'never contains',
  regex: 'never matches',
};

/** So many values are listed in the message itself, so many in a hint. */
const FEW = 5;
const MANY = 12;

function isAction({ shape }: FormSet, { field }: WrittenLeaf): boolean {
  return shape.action !== null && field.in !== 'event' && field.path.join('.') === shape.action.join('.');
}

function wrongAction(
  set: FormSet,
  operand: unknown,
  actions: readonly string[],
): Pick<Problem, 'rule' | 'message' | 'hint'> {
  const text = printValue(operand);
  // One that another filter has ruled out is no wrong name.
  const events = new Set(set.forms.map(({ event }) => event));
  const others = set.shape.variants.filter(({ event, action }) => events.has(event) && action === operand);
  const rule = others.length > 0 ? 'impossible-filter' : 'unknown-event-action';
  const event = describeForms(set, set.shape.source);
  const message =
    others.length > 0
      ? `an event that is \`${text}\` does not pass the filters before this one: they leave ${oneOf(actions)}`
      : `no ${event} has the action \`${text}\`${meant(text, actions)}`;
  return { rule, message, ...(others.length > 0 ? {} : { hint: `it is one of ${shortList(actions, MANY)}` }) };
}

/** A value that begins like this is suggested when so much of it is there. */
const SHORTEST = 3;

function meant(text: string, values: readonly string[]): string {
  const near = suggest(text, values);
  const words = near.length > 0 ? near : values.filter((value) => text.length >= SHORTEST && value.startsWith(text));
  return words.length === 0 ? '' : `; did you mean ${oneOf(words)}?`;
}

function wrongType(
  set: FormSet,
  leaf: WrittenLeaf,
  nodes: readonly ShapeNode[],
  never: string,
): Pick<Problem, 'message'> {
  const below = nodes.some(({ types }) => types.has('object')) ? textBelow(set, leaf.field.path) : null;
  const better = below === null ? '' : `; did you mean \`${below.join('.')}\`?`;
  return { message: `${never}: it is ${describeTypes(nodes)}${better}` };
}
