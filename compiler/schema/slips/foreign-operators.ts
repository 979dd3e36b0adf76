/** Operators of filters in other tools, by name. */

/** Other names of operators. */
export const OPERATOR_ALIASES: Readonly<Record<string, string>> = {
  eq: 'equals',
  equal: 'equals',
  equal_to: 'equals',
  is: 'equals',
  value: 'equals',
  '=': 'equals',
  '==': 'equals',
  '===': 'equals',
  ne: 'not_equals',
  neq: 'not_equals',
  not_equal: 'not_equals',
  is_not: 'not_equals',
  '!=': 'not_equals',
  '!==': 'not_equals',
  matches: 'regex',
  match: 'regex',
  regexp: 'regex',
  pattern: 'regex',
  '=~': 'regex',
  include: 'contains',
  includes: 'contains',
  has: 'contains',
  one_of: 'in',
  is_one_of: 'in',
  present: 'exists',
};

/** Negations of operators. */
export const OPPOSITE_OPERATORS: Readonly<Record<string, string>> = {
  not_in: 'in',
  nin: 'in',
  not_contains: 'contains',
  not_includes: 'contains',
  excludes: 'contains',
  not_matches: 'regex',
  not_match: 'regex',
  not_regex: 'regex',
  '!~': 'regex',
};

/** Operators without an equivalent, and what to write instead. */
export const OPERATOR_ADVICE: Readonly<Record<string, string>> = {
  starts_with: 'write `regex: "^…"`',
  startswith: 'write `regex: "^…"`',
  ends_with: 'write `regex: "…$"`',
  endswith: 'write `regex: "…$"`',
  gt: 'filters cannot compare numbers; use a `script`',
  gte: 'filters cannot compare numbers; use a `script`',
  lt: 'filters cannot compare numbers; use a `script`',
  lte: 'filters cannot compare numbers; use a `script`',
  '>': 'filters cannot compare numbers; use a `script`',
  '<': 'filters cannot compare numbers; use a `script`',
};

/** Operators with several values, each of which becomes a condition in a group. */
export const MULTI_VALUE_OPERATORS: Readonly<Record<string, 'any' | 'all'>> = {
  contains_any: 'any',
  any_of: 'any',
  contains_one_of: 'any',
  contains_all: 'all',
};
