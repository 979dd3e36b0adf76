/** Finds conditions on one field that contradict each other, whatever the payload. */
import type { NodePath, Problem } from '../../../../compiler/diagnostics/problem.ts';
import { oneOf } from '../../../../compiler/text/suggest.ts';
import { printValue } from '../shapes/describe.ts';
import type { WrittenLeaf } from '../shapes/read-leaf.ts';

/** Conditions that already apply, by field. */
export type Constraints = ReadonlyMap<string, Constraint>;

interface Constraint {
  /** The values that the field may have, as JSON. */
  readonly allowed: ReadonlySet<string>;
  /** Path of the condition that requires it, relative to `filters`. */
  readonly path: NodePath;
}

/** Adds a condition that is known to be true. Conditions that do not list values are ignored. */
export function addConstraint(constraints: Constraints, leaf: WrittenLeaf): Constraints {
  const allowed = allowedBy(leaf);
  if (allowed === null) return constraints;
  const before = constraints.get(keyOf(leaf))?.allowed;
  const both = before === undefined ? allowed : allowed.filter((value) => before.has(value));
  return new Map([...constraints, [keyOf(leaf), { allowed: new Set(both), path: leaf.path }]]);
}

/** Returns null if the condition is compatible with them. */
export function findContradiction(constraints: Constraints, leaf: WrittenLeaf): Problem | null {
  const before = constraints.get(keyOf(leaf));
  if (before === undefined || !contradicts(before.allowed, leaf)) return null;
  const is = oneOf([...before.allowed].map((json) => printValue(JSON.parse(json))));
  return {
    rule: 'impossible-filter',
    path: [...leaf.path, leaf.operator],
    at: 'value',
    message: `this contradicts the condition before it, by which \`${leaf.text}\` is ${is}`,
    related: [{ path: before.path, message: 'the other condition' }],
  };
}

function contradicts(allowed: ReadonlySet<string>, leaf: WrittenLeaf): boolean {
  const own = allowedBy(leaf);
  if (own !== null) return !own.some((value) => allowed.has(value));
  if (leaf.operator === 'not_equals') return allowed.size === 1 && allowed.has(JSON.stringify(leaf.value));
  return leaf.operator === 'missing' || (leaf.operator === 'exists' && leaf.value === false);
}

const keyOf = ({ field }: WrittenLeaf): string => `${field.in} ${field.path.join('.')}`;

/** The values that a condition allows, as JSON; null if it does not list them, or lists objects, whose keys have no order. */
function allowedBy({ operator, value }: WrittenLeaf): readonly string[] | null {
  const values: readonly unknown[] =
    operator === 'equals' ? [value] : operator === 'in' && Array.isArray(value) ? value : [];
  if (values.length === 0 || values.some((each) => typeof each === 'object' && each !== null)) return null;
  return values.map((each) => JSON.stringify(each));
}
