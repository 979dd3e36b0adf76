/** Reads conditions of filters as other programs write them. */
import { isPlainMap } from '../../../compiler/text/plain-map.ts';
import { oneOf } from '../../../compiler/text/suggest.ts';
import { ADVICE, CALLED, EACH, NEGATED } from './built/names.ts';
import type { PlainMap, Written } from './written.ts';
import { meaningOf } from './written.ts';

/** Advice on the form of conditions. */
export const CONDITION = 'write each condition as `{ field: action, equals: opened }`';

interface Comparison {
  readonly field: unknown;
  readonly operator: string;
  readonly value: unknown;
}

/** Returns null if the operator is not one of these, by their own or another name. */
function conditionWith({ field, operator, value }: Comparison, operators: readonly string[]): PlainMap | null {
  const negated = meaningOf(NEGATED, operator);
  if (negated !== undefined) return { not: { field, [negated]: value } };
  const group = meaningOf(EACH, operator);
  if (group !== undefined && Array.isArray(value)) return { [group]: value.map((item) => ({ field, contains: item })) };
  const name = operators.includes(operator) ? operator : (meaningOf(CALLED, operator) ?? '');
  return operators.includes(name) ? { field, [name]: value } : null;
}

/** `operator: equals` with `value: x`. */
function comparisonIn({ field, value, ...others }: PlainMap): Comparison | null {
  const [[key, operator] = ['', null], second] = Object.entries(others);
  const isOne = second === undefined && ['operator', 'op', 'comparison', 'condition'].includes(key);
  return isOne && value !== undefined && typeof operator === 'string' ? { field, operator, value } : null;
}

/** A map that does not say which of its keys is the field: `action: opened`. */
const isShort = ({ map, known }: Written): boolean =>
  !Object.keys(map).some((key) => known.includes(key) || ['all', 'any'].includes(meaningOf(CALLED, key) ?? ''));

/** A condition with an unknown key, as one that has the same meaning. */
export function conditionOf(written: Written): PlainMap | null {
  const { map, key, known, path } = written;
  const { field, header, ...others } = map;
  if (field !== undefined) {
    const compared = comparisonIn(map);
    const meant =
      compared === null ? conditionWith({ field, operator: key, value: map[key] }, []) : conditionWith(compared, known);
    return meant === null ? null : { '': meant };
  }
  if (typeof header === 'string') return { '': { field: `headers.${header}`, ...others } };
  const isRead = Object.values(map).every((value) => !isPlainMap(value) && value !== null);
  if (!isRead || !isShort(written)) return null;
  const conditions = Object.entries(map).map(([name, value]) => ({
    field: name,
    [Array.isArray(value) ? 'in' : 'equals']: value,
  }));
  const isItem = typeof path.at(-2) === 'number';
  return { '': conditions.length === 1 ? conditions[0] : isItem ? { all: conditions } : conditions };
}

/** Whether the condition has no key beside the unknown one that would be lost. */
export const isOneCondition = ({ map }: Written): boolean =>
  map.field === undefined || comparisonIn(map) !== null || Object.keys(map).length === 2;

export function conditionHint(written: Written): string | undefined {
  const { map, known } = written;
  const compared = comparisonIn(map);
  if (map.field === undefined) return isShort(written) ? CONDITION : undefined;
  if (compared === null) return undefined;
  const operators = known.filter((name) => !['field', 'all', 'any', 'not'].includes(name));
  const advice = meaningOf(ADVICE.not_equals, compared.operator) ?? `operators are ${oneOf(operators, 'and')}`;
  return `\`${compared.operator}\` is not an operator: ${advice}`;
}

const COMPARISON =
  /^\{?\$?\.?([A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*)\}?\s*([=!~]{1,3}|\s(?:contains|matches|is)\s)\s*(\S.*)$/;

/** `action == "opened"`: a comparison of a field with a constant. */
export function conditionIn({ key, value: text, known }: Written): PlainMap | null {
  const [, field, operator = '', operand = ''] = COMPARISON.exec(String(text).trim()) ?? [];
  const value = constantIn(operand);
  if (field === undefined || value === undefined) return null;
  const meant = conditionWith({ field, operator: operator.trim(), value }, known);
  return meant === null ? null : { [key]: meant };
}

/** Returns undefined if the text may not be a constant. */
function constantIn(text: string): unknown {
  const quoted = /^(?:"([^"\\]*)"|'([^'\\]*)')$/.exec(text);
  if (quoted !== null) return quoted[1] ?? quoted[2];
  if (/^(?:true|false|null|-?\d{1,15})$/.test(text)) return JSON.parse(text);
  return /^[\w./@:-]+$/.test(text) ? text : undefined;
}
