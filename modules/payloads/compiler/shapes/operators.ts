/**
 * Defines what each filter operator says about a field whose shape is known but not its value: one row per operator. A new
 * operator does not compile without a row.
 */

import type { Condition } from '../../../../compiler/config/grammar.ts';
import { lowerField, operatorsOf } from '../../../../compiler/config/grammar.ts';
import type { NodePath } from '../../../../compiler/diagnostics/diagnostic.ts';
import { linearRegex } from '../../../../compiler/globs/linear-glob.ts';
import { isPlainMap } from '../../../../compiler/text/plain-data.ts';
import type { FilterConfig, FilterLeaf } from '../../../../schemas/generated/types.ts';
import type { FormSet } from './form-set.ts';
import { factsOfField } from './form-set.ts';
import type { ScalarValue, ShapeGraph, ShapeNode } from './shape.ts';
import { allowsType, jsonType } from './shape.ts';

type LeafMatch = 'always' | 'sometimes' | 'never';
type Operator = FilterLeaf['operator'];

/** A field that may be present. */
interface PossibleField {
  readonly graph: ShapeGraph;
  readonly node: ShapeNode;
  readonly optional: boolean;
}

interface OperatorFacts {
  /** The result for an absent field. */
  readonly missing: (operand: unknown) => LeafMatch;
  /** The result for a field of known type. */
  readonly present: (field: PossibleField, operand: unknown) => LeafMatch;
  /** The only values that it accepts; null: it does not list them. */
  readonly accepts: (operand: unknown) => readonly unknown[] | null;
  /** The only values that its negation accepts. */
  readonly acceptsNegated: (operand: unknown) => readonly unknown[] | null;
  /** The operands that a shape can refute separately: the operand, the members of the list, or none. */
  readonly refutes: 'operand' | 'members' | 'nothing';
  /** The verb for a field that no operand can match: it "is never" a value, or "never contains" it. */
  readonly never: string;
  /** Whether the operator matches this text; null: the field is absent. */
  readonly holds: (operand: unknown, found: string | null) => boolean;
  /** Returns a value that it accepts; undefined: none is needed, or none can be determined. @param usual a usual value of the field */
  readonly sample: (operand: unknown, usual: unknown) => unknown;
  /** Whether it fixes the start of the text. */
  readonly fixesStart: (operand: unknown) => boolean;
  /** For an operator that compares numbers. */
  readonly range: NumberRange | null;
}

export interface NumberRange {
  /** The words in messages: a number is "more than" the operand. */
  readonly words: string;
  readonly compares: (value: number, bound: number) => boolean;
}

const NEVER = (): LeafMatch => 'never';
const ALWAYS = (): LeafMatch => 'always';
/** A shape does not say whether an optional field is present, nor what a file contains. */
const SOMETIMES = (): LeafMatch => 'sometimes';
const NOT_LISTED = (): null => null;
const NO = (): boolean => false;
const YES = (): boolean => true;

const operatorMembers = (operand: unknown): readonly unknown[] => (Array.isArray(operand) ? operand : []);

/** Defaults: an operator that neither lists the values it accepts nor can be refuted. Rows state the differences. */
const USUAL = {
  accepts: NOT_LISTED,
  acceptsNegated: NOT_LISTED,
  refutes: 'nothing',
  never: 'is never',
  fixesStart: NO,
  range: null,
} as const;

/** @param step from the operand to a number that passes */
function comparing(words: string, compares: NumberRange['compares'], step: number): OperatorFacts {
  return {
    ...USUAL,
    missing: NEVER,
    present: (field, operand) => matchNumbers(field, (value) => compares(value, Number(operand))),
    refutes: 'operand',
    never: `is never ${words}`,
    holds: NO,
    sample: (operand) => Number(operand) + step,
    range: { words, compares },
  };
}

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
  gt: comparing('more than', (value, bound) => value > bound, 1),
  gte: comparing('at least', (value, bound) => value >= bound, 0),
  lt: comparing('less than', (value, bound) => value < bound, -1),
  lte: comparing('at most', (value, bound) => value <= bound, 0),
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
      node.types.has('string')
        ? matchListed({ node, ...field }, (value) => String(value).startsWith(String(operand)))
        : 'never',
    refutes: 'operand',
    never: 'never starts with',
    holds: (operand, found) => found?.startsWith(String(operand)) === true,
    sample: (operand) => operand,
    fixesStart: YES,
  },
  in: {
    ...USUAL,
    missing: NEVER,
    present: (field, operand) => matchValues(field, operatorMembers(operand)),
    accepts: (operand) => (Array.isArray(operand) ? operand : null),
    refutes: 'members',
    holds: (operand, found) => found !== null && operatorMembers(operand).includes(found),
    sample: (operand) => operatorMembers(operand)[0],
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

const negated = (match: LeafMatch): LeafMatch =>
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

/** Whether all, some or none of the listed values of a field pass; for values that are not listed, some may. */
function matchListed({ node, optional }: PossibleField, passes: (value: ScalarValue) => boolean): LeafMatch {
  if (node.values === null) return 'sometimes';
  const hits = node.values.filter(passes);
  if (hits.length === 0 && node.types.size === 1) return 'never';
  return hits.length === node.values.length && !optional && node.types.size === 1 ? 'always' : 'sometimes';
}

function matchNumbers(field: PossibleField, passes: (value: number) => boolean): LeafMatch {
  if (!allowsType(field.node.types, 'integer')) return 'never';
  return matchListed(field, (value) => typeof value === 'number' && passes(value));
}

/** Another rule reports invalid patterns. */
function matchRegex(field: PossibleField, pattern: string): LeafMatch {
  if (!field.node.types.has('string')) return 'sometimes';
  try {
    return matchListed(field, (value) => linearRegex(pattern).matcher(String(value)).find());
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

/** Decides whether one filter condition can match an event form, from the shape of its field. */
export type Leaf = Pick<FilterLeaf, 'field' | 'operator' | 'value'>;

interface GroupMatch {
  readonly match: LeafMatch;
  /** Indexes of the forms in the set. */
  readonly forms: readonly number[];
}

/** Matches a condition against each group of forms in which its field is the same. */
export function matchGroups(set: FormSet, { field, operator, value }: Leaf): readonly GroupMatch[] {
  const { missing, present } = factsOf(operator);
  const { graph, complete } = set.shape;
  const match = (node: ShapeNode | null, optional: boolean): LeafMatch => {
    // A shape that is not complete may lack the field.
    if (node === null) return complete ? missing(value) : 'sometimes';
    return node.types.has('any') ? 'sometimes' : present({ graph, node, optional }, value);
  };
  return factsOfField(set, field).groups.map(({ node, optional, forms }) => ({ match: match(node, optional), forms }));
}

export const isImpossible = (set: FormSet, leaf: Leaf): boolean =>
  matchGroups(set, leaf).every(({ match }) => match === 'never');

/** Returns a result for each form, in order. */
function matchLeaf(set: FormSet, leaf: Leaf): readonly LeafMatch[] {
  const matches: LeafMatch[] = set.forms.map(() => 'sometimes');
  for (const { match, forms } of matchGroups(set, leaf)) for (const index of forms) matches[index] = match;
  return matches;
}

/** The only values that a condition accepts; null if it does not list them. */
export const listedValues = ({ operator, value }: Leaf, isNegated: boolean): readonly unknown[] | null =>
  isNegated ? factsOf(operator).acceptsNegated(value) : factsOf(operator).accepts(value);

/** Returns a result for each form, in order. */
export function matchAll(set: FormSet, members: readonly Member[]): readonly LeafMatch[] {
  const all = members.map((member) => matchMember(set, member));
  return set.forms.map((_, index) => allOf(all.map((matches) => matches[index] ?? 'sometimes')));
}

function matchMember(set: FormSet, { config, path }: Member): readonly LeafMatch[] {
  if (config.all !== undefined) return matchAll(set, membersOf(config.all, path));
  if (config.not !== undefined) return matchAll(set, membersOf(config.not, path)).map(negated);
  if (config.any !== undefined) {
    const any = membersOf(config.any, path).map((member) => matchMember(set, member));
    // De Morgan: any(a, b) = not all(not a, not b).
    return set.forms.map((_, index) => negated(allOf(any.map((matches) => negated(matches[index] ?? 'sometimes')))));
  }
  const leaf = readLeaf(config, path);
  return leaf === null ? set.forms.map(() => 'sometimes') : matchLeaf(set, leaf);
}

function allOf(matches: readonly LeafMatch[]): LeafMatch {
  if (matches.includes('never')) return 'never';
  return matches.every((match) => match === 'always') ? 'always' : 'sometimes';
}

/** A condition, and its path relative to `filters`. */
export interface WrittenLeaf extends Leaf {
  readonly text: string;
  readonly path: NodePath;
}

/** Returns null if it is not a valid condition. */
export function readLeaf(config: FilterConfig, path: NodePath): WrittenLeaf | null {
  const [operator, second] = operatorsOf(config);
  if (config.field === undefined || operator === undefined || second !== undefined) return null;
  const field = lowerField(config.field);
  if (typeof field === 'string') return null;
  return { field, operator, value: config[operator] as FilterLeaf['value'], text: config.field, path };
}

/** The members of `all`, `any` or `not`, each with its path. */
export function membersOf(value: FilterConfig | readonly FilterConfig[], path: NodePath): readonly Member[] {
  if (!Array.isArray(value)) return [{ config: value as FilterConfig, path }];
  return value.map((config, index) => ({ config, path: [...path, index] }));
}

export type Member = Condition;
