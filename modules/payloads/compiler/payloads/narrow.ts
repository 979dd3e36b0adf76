/** Narrows the possible event forms by a route's filters, and reports conditions that no form can meet. */
import { printPath } from '../../../../base/paths.ts';
import { conditions, lowerField } from '../../../../compiler/config/grammar.ts';
import { isBeyond } from '../../../../compiler/config/written-numbers.ts';
import type { NodePath, Problem } from '../../../../compiler/diagnostics/diagnostic.ts';
import { certainMatch, oneOf, suggest } from '../../../../compiler/text/suggest.ts';
import type { FieldPlan, FilterConfig } from '../../../../schemas/generated/types.ts';
import { describeForms, describeTypes, printValue, shortList } from '../shapes/describe.ts';
import type { FormSet } from '../shapes/form-set.ts';
import { factsOfField } from '../shapes/form-set.ts';
import type { Leaf, Member, NumberRange, WrittenLeaf } from '../shapes/operators.ts';
import { factsOf, isImpossible, matchAll, matchGroups, membersOf, readLeaf } from '../shapes/operators.ts';
import type { ShapeNode } from '../shapes/shape.ts';
import { textBelow } from '../shapes/suggest-path.ts';
import { suggestion, unknownPath } from './check-templates.ts';

interface Narrowed {
  /** Null if the possible events are unknown. */
  readonly set: FormSet | null;
  /** Paths are relative to `filters`. */
  readonly problems: readonly Problem[];
}

/** Of an operand that JavaScript cannot hold, nothing is certain: it is near, or a text that may be a number. */
const isRounded = (operand: unknown): boolean =>
  (typeof operand === 'string' || typeof operand === 'number') && isBeyond(String(operand));

/** Reports conditions that can never be true, and ignores them when checking the rest. */
export function narrowByFilters(set: FormSet | null, filters: FilterConfig | readonly FilterConfig[]): Narrowed {
  const state: State = { set, constraints: new Map() };
  const problems: Problem[] = [];
  const narrowed = walkAll(membersOf(filters, []), state, problems);
  return { set: narrowed.set, problems };
}

/** The state before a condition is evaluated. */
interface State {
  readonly set: FormSet | null;
  readonly constraints: Constraints;
}

function walkAll(members: readonly Member[], before: State, problems: Problem[]): State {
  return members.reduce((state, member) => walk(member, state, problems), before);
}

function walk({ config, path }: Member, state: State, problems: Problem[]): State {
  if (config.all !== undefined) return walkAll(membersOf(config.all, [...path, 'all']), state, problems);
  if (config.any !== undefined) return walkAny(membersOf(config.any, [...path, 'any']), state, problems);
  if ((config.any_of ?? config.all_of) !== undefined) {
    if (state.set !== null) problems.push(...checkElements(state.set, { config, path }, null));
    return state;
  }
  if (config.not !== undefined) return walkNot(membersOf(config.not, [...path, 'not']), state, problems);
  return walkLeaf({ config, path }, state, problems);
}

function walkLeaf({ config, path }: Member, state: State, problems: Problem[]): State {
  const leaf = readLeaf(config, path);
  if (leaf === null || [leaf.value].flat().some(isRounded)) return state;
  const contradiction = findContradiction(state.constraints, leaf);
  if (contradiction !== null) {
    problems.push(contradiction);
    return state;
  }
  const { set } = state;
  const found = set === null ? [] : checkLeaf(set, leaf);
  problems.push(...found);
  const constraints = addConstraint(state.constraints, leaf);
  if (set === null) return { set, constraints };
  const groups = matchGroups(set, leaf);
  const possible = groups.filter(({ match }) => match !== 'never');
  if (possible.length === groups.length) return { set, constraints };
  const indexes = possible.flatMap(({ forms }) => forms).sort((a, b) => a - b);
  return indexes.length === 0 ? state : { set: set.pick(indexes), constraints };
}

/**
 * Checks the path of a list and those of its elements. Nothing is known about which of them match.
 *
 * @param around the list whose element the filter tests; null: it tests the event
 */
function checkElements(set: FormSet, { config, path }: Member, around: FieldPlan | null): readonly Problem[] {
  const key = config.any_of !== undefined ? 'any_of' : config.all_of !== undefined ? 'all_of' : 'field';
  const written = config[key] ?? '';
  const own = lowerField(written, around !== null);
  if (typeof own === 'string') return [];
  const field = around === null ? own : { in: around.in, path: [...around.path, '0', ...own.path] };
  const { nodes, isOpen } = factsOfField(set, field);
  const at = [...path, key];
  if (nodes.length === 0) {
    const text = key === 'field' ? printPath(own.path) : written;
    return unknownPath(set, { path: field.path, text, shown: (meant) => fromElement(meant, around) }, { path: at });
  }
  if (key === 'field') return [];
  if (!isOpen && set.shape.complete && !nodes.some(({ types }) => types.has('array'))) {
    const message = `\`${written}\` is ${describeTypes(nodes)}, not a list`;
    return [{ rule: 'unknown-payload-path', path: at, at: 'value', message }];
  }
  return conditions(config.where ?? [], [...path, 'where']).flatMap((member) => checkElements(set, member, field));
}

/** A path as it would be written in the filter of an element. */
function fromElement(path: readonly string[], around: FieldPlan | null): string {
  const list = around?.path ?? [];
  const isBelow = around !== null && printPath(path.slice(0, list.length)) === printPath(list);
  return printPath(isBelow ? path.slice(list.length + 1) : path);
}

/** After `any`, the possible forms are those that remain after at least one member. */
function walkAny(members: readonly Member[], state: State, problems: Problem[]): State {
  const states = members.map((member) => walk(member, state, problems));
  const { set } = state;
  if (set === null || states.length === 0) return state;
  const left = new Set(states.flatMap((each) => each.set?.forms ?? []));
  return { ...state, set: set.pick(indexesOf(set.forms, (form) => left.has(form))) };
}

/** Checks the members by themselves. After `not`, the possible forms are those that the members do not always match. */
function walkNot(members: readonly Member[], state: State, problems: Problem[]): State {
  const { set } = state;
  walkAll(members, { set, constraints: new Map() }, problems);
  if (set === null) return state;
  const matches = matchAll(set, members);
  const possible = indexesOf(matches, (match) => match !== 'always');
  return possible.length === 0 ? state : { ...state, set: set.pick(possible) };
}

function indexesOf<T>(list: readonly T[], keep: (item: T) => boolean): readonly number[] {
  return list.flatMap((item, index) => (keep(item) ? [index] : []));
}

/** Paths are relative to `filters`. */
function checkLeaf(set: FormSet, leaf: WrittenLeaf): readonly Problem[] {
  const { nodes, isOpen } = factsOfField(set, leaf.field);
  if (isOpen) return [];
  // The values and types of a shape that is not complete are not all there are.
  if (nodes.length > 0) return set.shape.complete ? checkOperands(set, leaf, nodes) : [];
  const field = { path: leaf.field.path, text: leaf.text, shown: printPath };
  return unknownPath(set, field, { path: [...leaf.path, 'field'] });
}

/** Reports each operand that the field can never equal, at its own path. */
function checkOperands(set: FormSet, leaf: WrittenLeaf, nodes: readonly ShapeNode[]): readonly Problem[] {
  return operandsOf(leaf).flatMap(({ operand, path, asked }): readonly Problem[] =>
    isImpossible(set, { ...leaf, ...asked })
      ? [{ path, at: 'value', ...explainOperand(set, leaf, nodes, operand) }]
      : [],
  );
}

interface Operand {
  readonly operand: unknown;
  readonly path: Problem['path'];
  /** A condition that tests for this value alone. */
  readonly asked: Pick<Leaf, 'operator' | 'value'>;
}

function operandsOf({ operator, value, path }: WrittenLeaf): readonly Operand[] {
  const at = [...path, operator];
  const { refutes } = factsOf(operator);
  if (refutes === 'members' && Array.isArray(value))
    return value.map((member, index) => ({
      operand: member,
      path: [...at, index],
      asked: { operator: 'equals', value: member },
    }));
  // What a field can never equal is a mistake in its negation too.
  const asked = operator === 'not_equals' ? 'equals' : operator;
  return refutes === 'operand' ? [{ operand: value, path: at, asked: { operator: asked, value } }] : [];
}

/** Conditions that already apply, by field. */
type Constraints = ReadonlyMap<string, Constraint>;

interface Constraint {
  /** The values that the field may have, as JSON; null: no condition lists them. */
  readonly allowed: readonly string[] | null;
  /** Comparisons that hold for the field, which is a number. */
  readonly bounds: readonly Leaf[];
  /** Path of the condition that requires it, relative to `filters`. */
  readonly path: NodePath;
}

/** Adds a condition that is known to be true. Conditions that neither list values nor compare numbers are ignored. */
function addConstraint(constraints: Constraints, leaf: WrittenLeaf): Constraints {
  const both = restrict(constraints.get(keyOf(leaf)), leaf);
  return both === null ? constraints : new Map([...constraints, [keyOf(leaf), both]]);
}

/** Returns null if the condition neither lists values nor compares numbers. */
function restrict(before: Constraint | undefined, leaf: WrittenLeaf): Constraint | null {
  const own = allowedBy(leaf);
  const isBound = rangeOf(leaf) !== null && typeof leaf.value === 'number';
  if (own === null && !isBound) return null;
  const { allowed = null, bounds: earlier = [] } = before ?? {};
  const bounds = isBound ? [...earlier, leaf] : earlier;
  const listed = own === null || allowed === null ? (own ?? allowed) : own.filter((value) => allowed.includes(value));
  return { allowed: listed?.filter((json) => isWithin(JSON.parse(json), bounds)) ?? null, bounds, path: leaf.path };
}

const rangeOf = ({ operator }: Leaf): NumberRange | null => factsOf(operator).range;

const isWithin = (value: unknown, bounds: readonly Leaf[]): boolean =>
  bounds.every((bound) => typeof value === 'number' && rangeOf(bound)?.compares(value, Number(bound.value)) === true);

/** Of numbers, those at the bounds, between them and beyond them stand for all. */
function isEmpty({ allowed, bounds }: Constraint): boolean {
  if (allowed !== null) return allowed.length === 0;
  const ends = [-Infinity, ...bounds.map(({ value }) => Number(value)), Infinity];
  return !ends.some((one) => ends.some((other) => isWithin(one / 2 + other / 2, bounds)));
}

/** Returns null if the condition is compatible with them. */
function findContradiction(constraints: Constraints, leaf: WrittenLeaf): Problem | null {
  const before = constraints.get(keyOf(leaf));
  if (before === undefined || !contradicts(before, leaf)) return null;
  return {
    rule: 'impossible-filter',
    path: [...leaf.path, leaf.operator],
    at: 'value',
    message: `this contradicts the previous condition, which requires that \`${leaf.text}\` is ${printConstraint(before)}`,
    related: [{ path: before.path, message: 'the other condition' }],
  };
}

function contradicts(before: Constraint, leaf: WrittenLeaf): boolean {
  const both = restrict(before, leaf);
  if (both !== null) return isEmpty(both);
  const { allowed } = before;
  if (leaf.operator === 'not_equals') return allowed?.length === 1 && allowed[0] === JSON.stringify(leaf.value);
  return leaf.operator === 'missing' || (leaf.operator === 'exists' && leaf.value === false);
}

const printConstraint = ({ allowed, bounds }: Constraint): string =>
  allowed === null
    ? bounds.map((bound) => `${rangeOf(bound)?.words} \`${bound.value}\``).join(' and ')
    : oneOf(allowed.map((json) => printValue(JSON.parse(json))));

const keyOf = ({ field }: WrittenLeaf): string => `${field.in} ${printPath(field.path)}`;

/** The values that a condition allows, as JSON; null if it does not list them, or lists objects, whose keys have no order. */
function allowedBy({ operator, value }: WrittenLeaf): readonly string[] | null {
  const values: readonly unknown[] =
    operator === 'equals' ? [value] : operator === 'in' && Array.isArray(value) ? value : [];
  if (values.length === 0 || values.some((each) => typeof each === 'object' && each !== null)) return null;
  return [...new Set(values.map((each) => JSON.stringify(each)))];
}

type Explanation = Pick<Problem, 'rule' | 'message' | 'hint' | 'fix'>;

/** @param nodes the field's nodes in the possible event forms */
function explainOperand(set: FormSet, leaf: WrittenLeaf, nodes: readonly ShapeNode[], operand: unknown): Explanation {
  const { never: verb } = factsOf(leaf.operator);
  const never = `\`${leaf.text}\` ${verb} \`${printOperand(nodes, operand)}\`${whereOf(set, leaf)}`;
  const values = [...new Set(nodes.flatMap((node) => node.values ?? []))].map(String);
  const isListed = nodes.every((node) => node.values !== null);
  if (!isListed || typeof operand !== 'string') return explainType(set, leaf, nodes, { never, operand });
  // A pattern or a substring is not a misspelt value.
  const isValue = verb === 'is never';
  if (isValue && isAction(set, leaf)) return explainAction(set, operand, values);
  const hint = values.length > MAX_IN_MESSAGE ? { hint: `it is one of ${shortList(values, MAX_IN_HINT)}` } : {};
  const is = values.length > MAX_IN_MESSAGE ? '' : `: it is ${oneOf(values)}`;
  const meant = isValue ? meantBy(operand, values) : [];
  return {
    rule: 'impossible-filter',
    message: `${never}${is}${suggestion(meant)}`,
    ...hint,
    ...(isValue ? fixFor(operand, values) : {}),
  };
}

const whereOf = (set: FormSet, { field }: Leaf): string =>
  field.in === 'event' ? '' : ` in any ${describeForms(set, set.shape.source)}`;

/** Maximum number of values listed in a message, and in a hint. */
const MAX_IN_MESSAGE = 5;
const MAX_IN_HINT = 12;

function isAction({ shape }: FormSet, { field }: Leaf): boolean {
  return shape.action !== null && field.in !== 'event' && printPath(field.path) === printPath(shape.action);
}

function explainAction(set: FormSet, action: string, actions: readonly string[]): Explanation {
  const known = set.remember('actions', () => {
    const events = new Set(set.forms.map(({ event }) => event));
    return new Set(set.shape.variants.filter(({ event }) => events.has(event)).map((form) => form.action));
  });
  // The name is valid, but another filter excludes it.
  if (known.has(action)) {
    const message = `an event that is \`${action}\` does not pass the filters before this one: they accept only ${oneOf(actions)}`;
    return { rule: 'impossible-filter', message };
  }
  const meant = meantBy(action, actions);
  return {
    rule: 'unknown-event-action',
    message: `no ${describeForms(set, set.shape.source)} has the action \`${action}\`${suggestion(meant)}`,
    hint: `it is one of ${shortList(actions, MAX_IN_HINT)}`,
    ...fixFor(action, actions),
  };
}

/** Prints a quoted boolean or number with its quotes, if the field has booleans or numbers: the quotes are the mistake. */
const printOperand = (nodes: readonly ShapeNode[], operand: unknown): string =>
  unquoted(nodes, operand) === null ? printValue(operand) : JSON.stringify(operand);

/** Returns the text if it spells a boolean or number that the field can have, else null. */
function unquoted(nodes: readonly ShapeNode[], operand: unknown): string | null {
  if (typeof operand !== 'string') return null;
  const types = new Set(nodes.flatMap((node) => [...node.types]));
  if (types.has('string')) return null;
  const isBoolean = types.has('boolean') && /^(?:true|false)$/.test(operand);
  const isNumber = (types.has('integer') || types.has('number')) && /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/.test(operand);
  return isBoolean || isNumber ? operand : null;
}

interface Refused {
  readonly never: string;
  readonly operand: unknown;
}

function explainType(set: FormSet, leaf: Leaf, nodes: readonly ShapeNode[], { never, operand }: Refused): Explanation {
  const meant = unquoted(nodes, operand);
  if (meant !== null) {
    const message = `${never}: it is ${describeTypes(nodes)}, and a quoted value is a text`;
    return {
      rule: 'impossible-filter',
      message,
      hint: `without quotes: \`${meant}\``,
      fix: { kind: 'replace', text: meant },
    };
  }
  const hasText = rangeOf(leaf) === null && nodes.some(({ types }) => types.has('object'));
  const below = hasText ? textBelow(set, leaf.field.path) : null;
  const better = below === null ? [] : [printPath(below)];
  return { rule: 'impossible-filter', message: `${never}: it is ${describeTypes(nodes)}${suggestion(better)}` };
}

/** Minimum length of a prefix for which values are suggested. */
const MIN_PREFIX = 3;

function meantBy(text: string, values: readonly string[]): readonly string[] {
  const near = suggest(text, values);
  return near.length > 0 ? near : values.filter((value) => text.length >= MIN_PREFIX && value.startsWith(text));
}

/** Matches text that YAML reads as a string without quotes. */
const PLAIN = /^(?!(?:true|false|null|yes|no|on|off|y|n)$)[A-Za-z_][\w/-]*(?:[. ]\w+)*$/i;

/** A fix, if the text is a slip of exactly one value. */
function fixFor(text: string, values: readonly string[]): Pick<Problem, 'fix'> {
  const meant = certainMatch(text, values);
  return meant !== null && PLAIN.test(meant) ? { fix: { kind: 'rename', text: meant } } : {};
}
