/** Filters in the syntax of other tools: `eq`, `matches`, `not_in`, `operator` and `value`, `{action: opened}`. */

import { holdsCredential } from '../../diagnostics/printable.ts';
import { flowText } from '../../text/flow-text.ts';
import { isPlainMap } from '../../text/plain-map.ts';
import { oneOf } from '../../text/suggest.ts';
import { knownKeys } from '../known-keys.ts';
import { valueAt } from '../pointer.ts';
import type { ShapePlace, ShapeProblem } from '../shape-problem.ts';
import { MULTI_VALUE_OPERATORS, OPERATOR_ADVICE, OPERATOR_ALIASES, OPPOSITE_OPERATORS } from './foreign-operators.ts';
import type { Slip } from './slip.ts';

const GROUPS = ['all', 'any', 'not', 'and', 'or'];

export const filterSlip: Slip = (place, { keyword, params }) => {
  if (keyword !== 'additionalProperties') return null;
  const known = knownKeys(place.schema, place.path);
  const filter = valueAt(place.data, place.path);
  if (!known.includes('not_equals') || !known.includes('in_file') || !isPlainMap(filter)) return null;
  const key = String(params.additionalProperty);
  const about = { place, key, filter };
  if (key === 'and' || key === 'or') return renamed(about, key === 'and' ? 'all' : 'any');
  if (key === 'header' && !Object.hasOwn(filter, 'field')) return headerField(about);
  if (!Object.hasOwn(filter, 'field')) return shortForm(about, known);
  return operatorWithValue(about) ?? otherName(about) ?? opposite(about) ?? several(about) ?? otherShape(about);
};

/** Advice on the form of conditions. */
const FORM = 'write each condition as `{ field: action, equals: opened }`';

interface Unknown {
  readonly place: ShapePlace;
  readonly key: string;
  readonly filter: Readonly<Record<string, unknown>>;
}

/** Looks up a key, ignoring case and separators. */
const lookUp = (names: Readonly<Record<string, string>>, key: string): string | undefined => {
  const folded = key.toLowerCase().replaceAll(/[- ]/g, '_');
  return Object.hasOwn(names, folded) ? names[folded] : undefined;
};

const problem = ({ place, key }: Unknown, message: string): ShapeProblem => ({
  rule: 'unknown-key',
  path: [...place.path, key],
  at: 'key',
  message,
});

function renamed(unknown: Unknown, name: string): ShapeProblem {
  const isFree = !Object.hasOwn(unknown.filter, name);
  return {
    ...problem(unknown, `a filter has no \`${unknown.key}\`: write \`${name}\``),
    ...(isFree ? { fix: { kind: 'rename', text: name } } : {}),
  };
}

function otherName(unknown: Unknown): ShapeProblem | null {
  const name = lookUp(OPERATOR_ALIASES, unknown.key);
  return name === undefined ? null : renamed(unknown, name);
}

/** `not_in: [a]` is `not: { field, in: [a] }`. */
function opposite(unknown: Unknown): ShapeProblem | null {
  const name = lookUp(OPPOSITE_OPERATORS, unknown.key);
  const { field, [unknown.key]: value, ...others } = unknown.filter;
  if (name === undefined) return null;
  return whole(unknown, { not: { field, [name]: value } }, Object.keys(others).length === 0);
}

/** `contains_any: [a, b]` is `any: [{ field, contains: a }, { field, contains: b }]`. */
function several(unknown: Unknown): ShapeProblem | null {
  const group = lookUp(MULTI_VALUE_OPERATORS, unknown.key);
  const { field, [unknown.key]: values, ...others } = unknown.filter;
  if (group === undefined || !Array.isArray(values)) return null;
  const members = values.map((value: unknown) => ({ field, contains: value }));
  return whole(unknown, { [group]: members }, Object.keys(others).length === 0);
}

function otherShape(unknown: Unknown): ShapeProblem | null {
  const hint = lookUp(OPERATOR_ADVICE, unknown.key);
  if (hint === undefined) return null;
  return { ...problem(unknown, `a filter has no operator \`${unknown.key}\``), hint };
}

/** `operator: equals` and `value: x`. */
function operatorWithValue(unknown: Unknown): ShapeProblem | null {
  const { field, ...rest } = unknown.filter;
  const names = ['operator', 'op', 'comparison', 'condition'].filter((name) => typeof rest[name] === 'string');
  const [name = ''] = names;
  if (names.length !== 1 || !Object.hasOwn(rest, 'value') || Object.keys(rest).length !== 2) return null;
  const written = String(rest[name]);
  const operator =
    knownOperators(unknown.place).find((known) => known === written) ?? lookUp(OPERATOR_ALIASES, written);
  const inverse = lookUp(OPPOSITE_OPERATORS, written);
  if (operator !== undefined) return whole(unknown, { field, [operator]: rest.value });
  if (inverse !== undefined) return whole(unknown, { not: { field, [inverse]: rest.value } });
  const operators = oneOf(knownOperators(unknown.place), 'and');
  return {
    ...problem(unknown, `the operator is the key, and \`${written}\` is not an operator`),
    hint: lookUp(OPERATOR_ADVICE, written) ?? `operators: ${operators}`,
    covers: [unknown.place.path],
  };
}

const knownOperators = (place: ShapePlace): readonly string[] =>
  knownKeys(place.schema, place.path).filter((key) => key !== 'field' && !GROUPS.includes(key));

/** A problem of the whole filter, with its replacement. */
function whole(unknown: Unknown, filter: Readonly<Record<string, unknown>>, isCertain = true): ShapeProblem {
  const { place, key } = unknown;
  const text = flowText(filter);
  if (holdsCredential(text)) return problem(unknown, `a filter has no \`${key}\`: ${FORM}`);
  return {
    ...problem(unknown, `a filter has no \`${key}\`: write \`${text}\``),
    ...(isCertain ? { fix: { kind: 'flow', text }, fixAt: place.path } : {}),
    covers: [place.path],
  };
}

/** `header: X-Name` is `field: headers.X-Name`. */
function headerField(unknown: Unknown): ShapeProblem | null {
  const { header, ...operator } = unknown.filter;
  return typeof header === 'string' ? whole(unknown, { field: `headers.${header}`, ...operator }) : null;
}

/** `action: opened` instead of `field: action` and `equals: opened`. */
function shortForm(unknown: Unknown, known: readonly string[]): ShapeProblem | null {
  const { place, key, filter } = unknown;
  const entries = Object.entries(filter);
  if (entries.some(([name]) => known.includes(name))) return null;
  const leaves = entries.map(([field, value]) =>
    flowText(Array.isArray(value) ? { field, in: value } : { field, equals: value }),
  );
  if (entries.some(([, value]) => isPlainMap(value) || value === null) || leaves.some(holdsCredential)) {
    return { ...problem(unknown, `\`${key}\` is not a key of a filter`), hint: FORM, covers: [place.path] };
  }
  const isList = typeof place.path.at(-1) === 'number';
  const items = isList && leaves.length > 1 ? [`{ all: [${leaves.join(', ')}] }`] : leaves;
  return {
    ...problem(unknown, `a filter names its \`field\` and an operator: write \`${items.join(', ')}\``),
    fix: isList ? { kind: 'flow', text: items.join('') } : { kind: 'items', items },
    fixAt: place.path,
    covers: [place.path],
  };
}
