/** What is said of a value that a field never has: what the field holds, and what was meant. */
import type { Problem } from '../diagnostics/problem.ts';
import { impossibleFilter } from '../rules/impossible-filter.ts';
import { unknownEventAction } from '../rules/unknown-event-action.ts';
import { describeForms, describeTypes, printValue, shortList } from '../shapes/describe.ts';
import type { FormSet } from '../shapes/form-set.ts';
import type { Leaf } from '../shapes/match-leaf.ts';
import type { WrittenLeaf } from '../shapes/read-leaf.ts';
import type { ShapeNode } from '../shapes/shape.ts';
import { textBelow } from '../shapes/suggest-path.ts';
import { oneOf, suggest } from '../text/suggest.ts';
import { onlyFix } from './unknown-path.ts';

type Explanation = Pick<Problem, 'rule' | 'message' | 'hint' | 'fix'>;

/** @param nodes what the field may hold in the forms that may come */
export function explainOperand(
  set: FormSet,
  leaf: WrittenLeaf,
  nodes: readonly ShapeNode[],
  operand: unknown,
): Explanation {
  const never = `\`${leaf.text}\` ${VERBS[leaf.operator] ?? 'is never'} \`${printOperand(nodes, operand)}\`${whereOf(set, leaf)}`;
  const values = [...new Set(nodes.flatMap((node) => node.values ?? []))].map(String);
  const isListed = nodes.every((node) => node.values !== null);
  if (!isListed || typeof operand !== 'string') return explainType(set, leaf, nodes, { never, operand });
  // A pattern or a part of a text is no misspelt value.
  const isValue = VERBS[leaf.operator] === undefined;
  if (isValue && isAction(set, leaf)) return explainAction(set, operand, values);
  const hint = values.length > FEW ? { hint: `it is one of ${shortList(values, MANY)}` } : {};
  const is = values.length > FEW ? '' : `: it is ${oneOf(values)}`;
  const meant = isValue ? meantBy(operand, values) : [];
  return { rule: impossibleFilter, message: `${never}${is}${didYouMean(meant)}`, ...hint, ...fixFor(meant) };
}

const whereOf = (set: FormSet, { field }: Leaf): string =>
  field.in === 'event' ? '' : ` in any ${describeForms(set, set.shape.source)}`;

const VERBS: Readonly<Partial<Record<Leaf['operator'], string>>> = {
  contains: 'never contains',
  regex: 'never matches',
};

/** The most values listed in the message itself, and in a hint. */
const FEW = 5;
const MANY = 12;

function isAction({ shape }: FormSet, { field }: Leaf): boolean {
  return shape.action !== null && field.in !== 'event' && field.path.join('.') === shape.action.join('.');
}

function explainAction(set: FormSet, action: string, actions: readonly string[]): Explanation {
  const events = new Set(set.forms.map(({ event }) => event));
  const isKnown = set.shape.variants.some((form) => events.has(form.event) && form.action === action);
  // One that another filter has ruled out is no wrong name.
  if (isKnown) {
    const message = `an event that is \`${action}\` does not pass the filters before this one: they leave ${oneOf(actions)}`;
    return { rule: impossibleFilter, message };
  }
  const meant = meantBy(action, actions);
  return {
    rule: unknownEventAction,
    message: `no ${describeForms(set, set.shape.source)} has the action \`${action}\`${didYouMean(meant)}`,
    hint: `it is one of ${shortList(actions, MANY)}`,
    ...fixFor(meant),
  };
}

/** A text that reads like one of the field's values is shown in its quotes: without them it would be another value. */
const printOperand = (nodes: readonly ShapeNode[], operand: unknown): string =>
  unquoted(nodes, operand) === null ? printValue(operand) : JSON.stringify(operand);

/** The value that the field can have, of a text that spells it; null: it spells none. */
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
    const message = `${never}: it is ${describeTypes(nodes)}, and what is quoted is a text`;
    return {
      rule: impossibleFilter,
      message,
      hint: `without quotes: \`${meant}\``,
      fix: { kind: 'replace', text: meant },
    };
  }
  const below = nodes.some(({ types }) => types.has('object')) ? textBelow(set, leaf.field.path) : null;
  const better = below === null ? [] : [below.join('.')];
  return { rule: impossibleFilter, message: `${never}: it is ${describeTypes(nodes)}${didYouMean(better)}` };
}

/** A value that begins like this is suggested when so much of it is there. */
const SHORTEST = 3;

function meantBy(text: string, values: readonly string[]): readonly string[] {
  const near = suggest(text, values);
  return near.length > 0 ? near : values.filter((value) => text.length >= SHORTEST && value.startsWith(text));
}

const didYouMean = (words: readonly string[]): string => (words.length === 0 ? '' : `; did you mean ${oneOf(words)}?`);

/** What YAML reads as a text without quotes. */
const PLAIN = /^(?!(?:true|false|null|yes|no|on|off|y|n)$)[A-Za-z_][\w/-]*(?:[. ]\w+)*$/i;

const fixFor = (meant: readonly string[]): Pick<Problem, 'fix'> =>
  meant.every((value) => PLAIN.test(value)) ? onlyFix(meant) : {};
