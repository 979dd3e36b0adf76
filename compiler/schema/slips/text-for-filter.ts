/** `filters: action == "opened"`: a condition written as an expression. */
import { holdsCredential } from '../../diagnostics/printable.ts';
import { flowText } from '../../text/flow-text.ts';
import { knownKeys } from '../known-keys.ts';
import { valueAt } from '../pointer.ts';
import { atValue } from '../shape-problem.ts';
import type { Slip } from './slip.ts';

/** Operators of expressions: the filter operator, and whether it is negated. */
const OPERATORS: Readonly<Record<string, readonly [name: string, negated: boolean]>> = {
  '=': ['equals', false],
  '==': ['equals', false],
  '===': ['equals', false],
  '!=': ['not_equals', false],
  '!==': ['not_equals', false],
  '=~': ['regex', false],
  '!~': ['regex', true],
  contains: ['contains', false],
  matches: ['regex', false],
  is: ['equals', false],
};

const EXPRESSION =
  /^\{?\$?\.?([A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*)\}?\s*([=!~]{1,3}|\s(?:contains|matches|is)\s)\s*(\S.*)$/;

export const textForFilter: Slip = (place, { keyword }) => {
  const found = valueAt(place.data, place.path);
  const known = knownKeys(place.schema, place.path);
  if (keyword !== 'type' || typeof found !== 'string' || !known.includes('not_equals') || !known.includes('in_file'))
    return null;
  const filter = readExpression(found.trim());
  if (filter === null || holdsCredential(found)) {
    const problem = atValue(place, 'wrong-type', 'a filter is a map, not text');
    return { ...problem, hint: 'write each condition as `{ field: action, equals: opened }`' };
  }
  const text = flowText(filter);
  const problem = atValue(place, 'wrong-type', `a filter is a map, not text: write \`${text}\``);
  return { ...problem, fix: { kind: 'replace', text } };
};

/** Parses a comparison of a field with a constant; null for anything else. */
function readExpression(text: string): Readonly<Record<string, unknown>> | null {
  const [, field, operator = '', operand = ''] = EXPRESSION.exec(text) ?? [];
  const [name, negated] = OPERATORS[operator.trim()] ?? [];
  const value = readConstant(operand);
  if (field === undefined || name === undefined || value === undefined) return null;
  const leaf = { field, [name]: value };
  return negated ? { not: leaf } : leaf;
}

/** Returns undefined if the text may not be a constant. */
function readConstant(text: string): string | number | boolean | null | undefined {
  const quoted = /^(?:"([^"\\]*)"|'([^'\\]*)')$/.exec(text);
  if (quoted !== null) return quoted[1] ?? quoted[2];
  if (/^(?:true|false|null|-?\d{1,15})$/.test(text)) return JSON.parse(text) as number | boolean | null;
  return /^[\w./@:-]+$/.test(text) ? text : undefined;
}
