/** Links a filter plan to a predicate over one event, for the filters stage (§2.2). */

import { RE2JS } from 're2js';
import { compareNumbers, ExactNumber, isNumber, readJson, writeJson } from '../../base/exact-number.ts';
import { printPath } from '../../base/paths.ts';
import type { FieldPlan, FilterElements, FilterGroup, FilterLeaf, FilterPlan } from '../../schemas/generated/types.ts';
import { Item, valueAtPath } from '../verify/items.ts';
import type { ListFile } from './in-file-set.ts';
import type { ValueSet } from './value-set.ts';
import { createValueSet, jsonEqual } from './value-set.ts';

/** The values of an event that filters read. `headers` have lower-case names, as in node:http. */
export interface FilterSubject {
  readonly payload: unknown;
  readonly event: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

type MatchFilter = (subject: FilterSubject) => boolean;

/** The result of a filter, or of a member of one, for one event. */
export interface FilterFinding {
  /** An operator, or the kind of a group. */
  readonly operator: FilterLeaf['operator'] | FilterGroup['kind'] | FilterElements['kind'];
  /** The field as written in a config; of `any_of` and `all_of`, the list; null for a group. */
  readonly field: string | null;
  readonly expected: FilterLeaf['value'];
  /** Null if the field is missing. */
  readonly found: FilterLeaf['value'];
  readonly missing: boolean;
  readonly holds: boolean;
  /** Members of a group; of `any_of` and `all_of`, the element that decided or, if none did, the first ones. */
  readonly of: FilterFinding[];
  /** The index of the element that this was found for. */
  readonly element?: number;
}

export interface LinkedFilter {
  /** Stops at the first member that decides the result. */
  readonly matches: MatchFilter;
  /** Evaluates every leaf and returns each result. The `holds` of the result equals that of `matches`. */
  readonly inspect: (subject: FilterSubject) => FilterFinding;
}

/** Opens the list at an `in_file` path of the plan; called at link time (createListOpener). */
export type OpenList = (path: string) => ListFile;

/** A field's value; undefined if it is missing. */
type ReadField = (subject: FilterSubject) => unknown;
type Test = (value: unknown) => boolean;

/** The top-level `payload` object if there is one, otherwise the root (§2.2). */
function payloadRoot(payload: unknown): unknown {
  if (payload instanceof Item) return payload.with(payloadRoot(payload.value));
  if (typeof payload !== 'object' || payload === null || !Object.hasOwn(payload, 'payload')) return payload;
  const inner = (payload as { readonly payload: unknown }).payload;
  return typeof inner === 'object' && inner !== null && !(inner instanceof ExactNumber) ? inner : payload;
}

export function linkField(field: FieldPlan): ReadField {
  if (field.in === 'event') return (subject) => subject.event;
  if (field.in === 'header') return linkHeader(field.path[0] ?? '');
  const { path } = field;
  if (field.in === 'root') return (subject) => valueAtPath(subject.payload, path);
  return (subject) => valueAtPath(payloadRoot(subject.payload), path);
}

function linkHeader(name: string): ReadField {
  return ({ headers }) => {
    const value = Object.hasOwn(headers, name) ? headers[name] : undefined;
    return typeof value === 'object' ? value.join(', ') : value;
  };
}

/** Substring of a string, element of a list, key of an object; anything else contains nothing. */
function contains(value: unknown, operand: unknown): boolean {
  if (typeof value === 'string') return typeof operand === 'string' && value.includes(operand);
  if (Array.isArray(value)) {
    for (const member of value) if (jsonEqual(operand, member)) return true;
    return false;
  }
  return typeof value === 'object' && value !== null && typeof operand === 'string' && Object.hasOwn(value, operand);
}

/** Only numbers are ordered; a text that spells a number is not. */
function comparing(holds: (order: number) => boolean): (operand: unknown) => Test {
  return (operand) => (value) => isNumber(value) && isNumber(operand) && holds(compareNumbers(value, operand));
}

/** Tests by operator. `value` is undefined for a missing field, for which only `missing` and the negations hold. */
const TESTS: Record<FilterLeaf['operator'], (operand: unknown, open: (path: string) => ValueSet) => Test> = {
  exists: (operand) => (value) => (value !== undefined) === operand,
  missing: () => (value) => value === undefined,
  equals: (operand) => (value) => jsonEqual(operand, value),
  not_equals: (operand) => (value) => !jsonEqual(operand, value),
  gt: comparing((order) => order > 0),
  gte: comparing((order) => order >= 0),
  lt: comparing((order) => order < 0),
  lte: comparing((order) => order <= 0),
  contains: (operand) => (value) => contains(value, operand),
  starts_with: (operand) => (value) => typeof value === 'string' && value.startsWith(String(operand)),
  in: (operand) => {
    const members = createValueSet(Array.isArray(operand) ? operand : []);
    return (value) => members.has(value);
  },
  in_file: (operand, open) => {
    const list = open(String(operand));
    return (value) => value !== undefined && list.has(value);
  },
  regex: (operand) => {
    const regex = RE2JS.compile(String(operand));
    return (value) => value !== undefined && regex.test(typeof value === 'string' ? value : writeJson(value));
  },
};

/**
 * Links a filter. The linked filter never throws, for any JSON payload.
 * @throws RE2JSSyntaxException for a regex that the compiler would have rejected.
 */
export function linkFilter(plan: FilterPlan, open: (path: string) => ValueSet): LinkedFilter {
  if (plan.kind === 'leaf') return linkLeaf(plan, open);
  return 'where' in plan ? linkElements(plan, open) : linkGroup(plan, open);
}

/** Elements that a finding shows if none decided. */
const SHOWN_ELEMENTS = 3;

/** An empty or missing list matches neither `any_of` nor `all_of`. */
function linkElements({ kind, field, where }: FilterElements, open: (path: string) => ValueSet): LinkedFilter {
  const read = linkField(field);
  const linked = linkFilter(where, open);
  const isAny = kind === 'any_of';
  const at = ({ event, headers }: FilterSubject, payload: unknown): FilterSubject => ({ payload, event, headers });
  const decide = (subject: FilterSubject, list: readonly unknown[]): number =>
    list.findIndex((element) => linked.matches(at(subject, element)) === isAny);
  const holds = (subject: FilterSubject, list: unknown): list is readonly unknown[] =>
    Array.isArray(list) && list.length > 0 && decide(subject, list) >= 0 === isAny;
  return {
    matches: (subject) => holds(subject, read(subject)),
    inspect: (subject) => {
      const value = read(subject);
      const list: readonly unknown[] = Array.isArray(value) ? value : [];
      const decided = decide(subject, list);
      const shown = decided < 0 ? [...list.slice(0, SHOWN_ELEMENTS).keys()] : [decided];
      const of = shown.map((element) => ({ ...linked.inspect(at(subject, list[element])), element }));
      return { operator: kind, ...foundAt(field, value), expected: null, holds: holds(subject, value), of };
    },
  };
}

function linkLeaf({ field, operator, value, exact }: FilterLeaf, open: (path: string) => ValueSet): LinkedFilter {
  const expected = exact === undefined ? value : (readJson(exact) as FilterLeaf['value']);
  const read = linkField(field);
  const test = TESTS[operator](expected, open);
  return {
    matches: (subject) => test(read(subject)),
    inspect: (subject) => {
      const value = read(subject);
      return { operator, ...foundAt(field, value), expected, holds: test(value), of: [] };
    },
  };
}

const foundAt = (field: FieldPlan, value: unknown): Pick<FilterFinding, 'field' | 'found' | 'missing'> => {
  const missing = value === undefined;
  // Payloads are JSON.
  return { field: printField(field), found: missing ? null : (value as FilterLeaf['value']), missing };
};

/** Combines the results of a group's members: each leaf is evaluated once, however deep it is nested. */
const COMBINED: Readonly<Record<FilterGroup['kind'], (of: readonly FilterFinding[]) => boolean>> = {
  all: (of) => of.every(({ holds }) => holds),
  any: (of) => of.some(({ holds }) => holds),
  not: (of) => !of.every(({ holds }) => holds),
};

const NO_FIELD = { field: null, expected: null, found: null, missing: false } as const;

function linkGroup({ kind, filters }: FilterGroup, open: (path: string) => ValueSet): LinkedFilter {
  const members = filters.map((member) => linkFilter(member, open));
  const tests = members.map(({ matches }) => matches);
  const every = matchesAll(tests);
  const matches =
    kind === 'any' ? matchesAny(tests) : kind === 'not' ? (subject: FilterSubject) => !every(subject) : every;
  return {
    matches,
    inspect: (subject) => {
      const of = members.map(({ inspect }) => inspect(subject));
      return { operator: kind, ...NO_FIELD, holds: COMBINED[kind](of), of };
    },
  };
}

function matchesAll(members: readonly MatchFilter[]): MatchFilter {
  return (subject) => {
    for (const member of members) if (!member(subject)) return false;
    return true;
  };
}

function matchesAny(members: readonly MatchFilter[]): MatchFilter {
  return (subject) => {
    for (const member of members) if (member(subject)) return true;
    return false;
  };
}

/** Prints a filter's field in the form of a config, for findings and reports. */
export function printField({ in: place, path }: FieldPlan): string {
  if (place === 'event') return 'event';
  if (place === 'header') return `headers.${path[0] ?? ''}`;
  if (place === 'payload') return printPath(['payload', ...path]);
  const [first] = path;
  if (first === undefined) return '.';
  return printPath(path, (path.length > 1 ? ['headers', 'payload'] : ['event', 'event_type']).includes(first));
}
