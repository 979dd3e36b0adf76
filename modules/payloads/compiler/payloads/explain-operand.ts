/** Explains that a field never has a value: describes the field's values, and suggests what was probably meant. */
import type { Problem } from '../../../../compiler/diagnostics/problem.ts';
import { oneOf, suggest } from '../../../../compiler/text/suggest.ts';
import { describeForms, describeTypes, printValue, shortList } from '../shapes/describe.ts';
import type { FormSet } from '../shapes/form-set.ts';
import type { Leaf } from '../shapes/match-leaf.ts';
import { factsOf } from '../shapes/operators.ts';
import type { WrittenLeaf } from '../shapes/read-leaf.ts';
import type { ShapeNode } from '../shapes/shape.ts';
import { textBelow } from '../shapes/suggest-path.ts';
import { onlyFix, suggestion } from './unknown-path.ts';

type Explanation = Pick<Problem, 'rule' | 'message' | 'hint' | 'fix'>;

/** @param nodes the field's nodes in the possible event forms */
export function explainOperand(
  set: FormSet,
  leaf: WrittenLeaf,
  nodes: readonly ShapeNode[],
  operand: unknown,
): Explanation {
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
  return { rule: 'impossible-filter', message: `${never}${is}${suggestion(meant)}`, ...hint, ...fixFor(meant) };
}

const whereOf = (set: FormSet, { field }: Leaf): string =>
  field.in === 'event' ? '' : ` in any ${describeForms(set, set.shape.source)}`;

/** Maximum number of values listed in a message, and in a hint. */
const MAX_IN_MESSAGE = 5;
const MAX_IN_HINT = 12;

function isAction({ shape }: FormSet, { field }: Leaf): boolean {
  return shape.action !== null && field.in !== 'event' && field.path.join('.') === shape.action.join('.');
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
    ...fixFor(meant),
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
  const below = nodes.some(({ types }) => types.has('object')) ? textBelow(set, leaf.field.path) : null;
  const better = below === null ? [] : [below.join('.')];
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

const fixFor = (meant: readonly string[]): Pick<Problem, 'fix'> =>
  meant.every((value) => PLAIN.test(value)) ? onlyFix(meant) : {};
