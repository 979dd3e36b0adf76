/** Checks one condition of a filter against the possible event forms: its field, and the values it is compared with. */
import type { Problem } from '../../../../compiler/diagnostics/problem.ts';
import { factsOfField } from '../shapes/field-facts.ts';
import type { FormSet } from '../shapes/form-set.ts';
import type { Leaf } from '../shapes/match-leaf.ts';
import { isImpossible } from '../shapes/match-leaf.ts';
import { factsOf } from '../shapes/operators.ts';
import type { WrittenLeaf } from '../shapes/read-leaf.ts';
import type { ShapeNode } from '../shapes/shape.ts';
import { explainOperand } from './explain-operand.ts';
import { unknownPath } from './unknown-path.ts';

/** Paths are relative to `filters`. */
export function checkLeaf(set: FormSet, leaf: WrittenLeaf): readonly Problem[] {
  const { nodes, isOpen } = factsOfField(set, leaf.field);
  if (isOpen) return [];
  if (nodes.length > 0) return checkOperands(set, leaf, nodes);
  const field = { path: leaf.field.path, text: leaf.text, shown: (text: string) => text };
  return [unknownPath(set, field, { path: [...leaf.path, 'field'] })];
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
