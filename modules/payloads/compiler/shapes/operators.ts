/**
 * What each filter operator says about a field whose shape is known, without its value: one row an operator. A new operator
 * does not compile until it has a row.
 */
import { linearRegex } from '../../../../compiler/text/linear-regex.ts';
import { isPlainMap } from '../../../../compiler/text/plain-map.ts';
import type { FilterLeaf } from '../../../../schemas/generated/types.ts';
import { allowsType, jsonType } from './json-type.ts';
import type { ScalarValue, ShapeGraph, ShapeNode } from './shape.ts';

export type LeafMatch = 'always' | 'sometimes' | 'never';
export type Operator = FilterLeaf['operator'];

/** A field that may be present. */
export interface PossibleField {
  readonly graph: ShapeGraph;
  readonly node: ShapeNode;
  readonly optional: boolean;
}

interface OperatorFacts {
  /** How it matches a field that is absent. */
  readonly missing: (operand: unknown) => LeafMatch;
  /** How it matches a field of known type. */
  readonly present: (field: PossibleField, operand: unknown) => LeafMatch;
  /** The only values that it accepts; null: it does not list them. */
  readonly accepts: (operand: unknown) => readonly unknown[] | null;
  /** The only values that its negation accepts. */
  readonly acceptsNegated: (operand: unknown) => readonly unknown[] | null;
  /** The operands that a shape can refute one by one: the operand, the members of the list, or none. */
  readonly refutes: 'operand' | 'members' | 'nothing';
  /** Of a field that no operand can match: it "is never" a value, or "never contains" it. */
  readonly never: string;
  /** Whether it holds for this text; null: the field is absent. */
  readonly holds: (operand: unknown, found: string | null) => boolean;
  /** A value that it accepts; undefined: none is needed, or none can be determined. @param usual a usual value of the field */
  readonly sample: (operand: unknown, usual: unknown) => unknown;
  /** Whether it fixes how the text begins. */
  readonly fixesStart: (operand: unknown) => boolean;
}

const NEVER = (): LeafMatch => 'never';
const ALWAYS = (): LeafMatch => 'always';
/** A shape knows neither whether an optional field is present nor the content of a file. */
const SOMETIMES = (): LeafMatch => 'sometimes';
const NOT_LISTED = (): null => null;
const NO = (): boolean => false;
const YES = (): boolean => true;

const membersOf = (operand: unknown): readonly unknown[] => (Array.isArray(operand) ? operand : []);

/** Of an operator that neither lists the values it accepts nor can be refuted; rows state what differs. */
const USUAL = {
  accepts: NOT_LISTED,
  acceptsNegated: NOT_LISTED,
  refutes: 'nothing',
  never: 'is never',
  fixesStart: NO,
} as const;

const OPERATOR_FACTS = {
  exists: {
    ...USUAL,
    missing: (operand) => (operand === true ? 'never' : 'always'),
    present: SOMETIMES,
    holds: (operand, found) => (found !== null) === operand,
    sample: (operand, usual) => (operand === true ? usual : undefined),
  },
  missing: {
    ...USUAL,
    missing: ALWAYS,
    present: SOMETIMES,
    holds: (operand, found) => (found === null) === operand,
    sample: () => undefined,
  },
  equals: {
    ...USUAL,
    missing: NEVER,
    present: (field, operand) => matchValues(field, [operand]),
    accepts: (operand) => [operand],
    refutes: 'operand',
    holds: (operand, found) => found === operand,
    sample: (operand) => operand,
    fixesStart: YES,
  },
  not_equals: {
    ...USUAL,
    missing: ALWAYS,
    present: (field, operand) => negated(matchValues(field, [operand])),
    acceptsNegated: (operand) => [operand],
    refutes: 'operand',
    holds: (operand, found) => found !== operand,
    sample: () => undefined,
  },
  contains: {
    ...USUAL,
    missing: NEVER,
    present: ({ graph, node }, operand) => (canContain(graph, node, operand) ? 'sometimes' : 'never'),
    refutes: 'operand',
    never: 'never contains',
    holds: (operand, found) => found?.includes(String(operand)) === true,
    sample: (operand) => (typeof operand === 'string' ? operand : [operand]),
  },
  starts_with: {
    ...USUAL,
    missing: NEVER,
    present: ({ node, ...field }, operand) =>
      node.types.has('string') ? matchListed({ node, ...field }, (text) => text.startsWith(String(operand))) : 'never',
    refutes: 'operand',
    never: 'never starts with',
    holds: (operand, found) => found?.startsWith(String(operand)) === true,
    sample: (operand) => operand,
    fixesStart: YES,
  },
  in: {
    ...USUAL,
    missing: NEVER,
    present: (field, operand) => matchValues(field, membersOf(operand)),
    accepts: (operand) => (Array.isArray(operand) ? operand : null),
    refutes: 'members',
    holds: (operand, found) => found !== null && membersOf(operand).includes(found),
    sample: (operand) => membersOf(operand)[0],
  },
  in_file: {
    ...USUAL,
    missing: NEVER,
    present: SOMETIMES,
    holds: NO,
    sample: () => undefined,
  },
  regex: {
    ...USUAL,
    missing: NEVER,
    present: (field, operand) => matchRegex(field, String(operand)),
    accepts: (operand) => alternativesOf(String(operand)),
    refutes: 'operand',
    never: 'never matches',
    holds: (operand, found) => found?.includes(String(operand)) === true,
    sample: (operand) => matching(String(operand)),
    fixesStart: (operand) => String(operand).startsWith('^'),
  },
} as const satisfies Readonly<Record<Operator, OperatorFacts>>;

export const factsOf = (operator: Operator): OperatorFacts => OPERATOR_FACTS[operator];

export const negated = (match: LeafMatch): LeafMatch =>
  match === 'always' ? 'never' : match === 'never' ? 'always' : 'sometimes';

function matchValues({ node, optional }: PossibleField, operands: readonly unknown[]): LeafMatch {
  if (!operands.some((operand) => canBe(node, operand))) return 'never';
  const isCertain = !optional && node.types.size === 1 && node.values !== null;
  return isCertain && node.values.every((value) => operands.includes(value)) ? 'always' : 'sometimes';
}

/** Whether a value of the node can equal the operand. Null is always possible, because schemas are often imprecise about it. */
function canBe(node: ShapeNode, operand: unknown): boolean {
  if (operand === null || node.types.has('any')) return true;
  if (!allowsType(node.types, jsonType(operand))) return false;
  return node.values === null || !isScalar(operand) || node.values.includes(operand);
}

const isScalar = (value: unknown): value is ScalarValue => typeof value !== 'object';

function canContain(graph: ShapeGraph, node: ShapeNode, operand: unknown): boolean {
  if (node.types.has('any')) return true;
  if (node.items !== null && canBe(graph.node(node.items), operand)) return true;
  if (typeof operand !== 'string') return isPlainMap(operand) && node.items !== null;
  if (node.types.has('object') && (node.rest !== null || node.properties.has(operand))) return true;
  if (!node.types.has('string')) return false;
  return node.values === null || node.values.some((value) => typeof value === 'string' && value.includes(operand));
}

/** Whether all, some or none of the listed values of a text field pass; for values that are not listed, some may. */
function matchListed({ node, optional }: PossibleField, passes: (text: string) => boolean): LeafMatch {
  if (node.values === null || !node.types.has('string')) return 'sometimes';
  const hits = node.values.filter((value) => passes(String(value)));
  if (hits.length === 0 && node.types.size === 1) return 'never';
  return hits.length === node.values.length && !optional && node.types.size === 1 ? 'always' : 'sometimes';
}

/** Another rule reports invalid patterns. */
function matchRegex(field: PossibleField, pattern: string): LeafMatch {
  try {
    return matchListed(field, (text) => linearRegex(pattern).matcher(text).find());
  } catch {
    return 'sometimes';
  }
}

/** The alternatives of a fully anchored pattern of plain words, such as `^(a|b)$`. */
function alternativesOf(pattern: string): readonly string[] | null {
  const [, group, single] = /^\^(?:\((?:\?:)?([\w|-]+)\)|([\w-]+))\$$/.exec(pattern) ?? [];
  return single === undefined ? (group?.split('|') ?? null) : [single];
}

/** Returns a text that matches a simple pattern: its first alternatives, without anchors. */
function matching(pattern: string): string | undefined {
  const text = pattern
    .replace(/^\(\?i\)/, '')
    .replaceAll(/\((?:\?:)?([\w-]+)(?:\|[\w|-]*)?\)/g, '$1')
    .replaceAll(/\\([./-])/g, '$1')
    .replace(/^\^/, '')
    .replace(/\$$/, '');
  return /^[\w /:-]+$/.test(text) ? text : undefined;
}
