/** Converts a trigger rule. If a map has several of `and`, `or`, `not` and `match`, the original uses only the first. */
import type { NodePath } from '../../../../compiler/diagnostics/problem.ts';
import type { Settings } from '../draft.ts';
import { asList, asMap } from '../foreign-value.ts';
import type { Auth, TriggerCondition, TriggerFilter } from './condition.ts';
import { ALWAYS, gap, sameAuth, sameScheme } from './condition.ts';
import type { RuleContext } from './convert-match.ts';
import { convertMatch } from './convert-match.ts';
import { fieldOf } from './hook-value.ts';

const MAX_DEPTH = 60;

export function convertRule(rule: Settings, path: NodePath, context: RuleContext, depth = 0): TriggerCondition {
  if (depth > MAX_DEPTH) return gap(path, `it is nested deeper than ${MAX_DEPTH} levels`, 'Flatten it');
  const child = (value: unknown, at: NodePath): TriggerCondition => convertRule(asMap(value), at, context, depth + 1);
  const and = fieldOf(rule, 'and', path);
  if (and !== null) return all(asList(and.value).map((part, at) => conjunct(part, [...and.path, at], child)));
  const or = fieldOf(rule, 'or', path);
  if (or !== null)
    return any(
      asList(or.value).map((part, at) => child(part, [...or.path, at])),
      or.path,
      context,
    );
  const not = fieldOf(rule, 'not', path);
  if (not !== null) return negated(child(not.value, not.path), not.path);
  const match = fieldOf(rule, 'match', path);
  if (match !== null) return convertMatch(asMap(match.value), match.path, context);
  return gap(path, 'a rule without `and`, `or`, `not` or `match` never matches', 'Correct it, or leave it out');
}

type Child = (value: unknown, path: NodePath) => TriggerCondition;

/** Inside `and`, a missing field makes the rule false, even if the field is inside `not`. */
function conjunct(part: unknown, path: NodePath, child: Child): TriggerCondition {
  const condition = child(part, path);
  const isNot = fieldOf(asMap(part), 'not', path) !== null && fieldOf(asMap(part), 'or', path) === null;
  const present = isNot ? condition.fields.map((field): TriggerFilter => ({ field, exists: true })) : [];
  return { ...condition, filters: [...present, ...condition.filters] };
}

const all = (parts: readonly TriggerCondition[]): TriggerCondition => ({
  auths: parts.flatMap(({ auths }) => auths),
  filters: parts.flatMap(({ filters }) => filters),
  gaps: parts.flatMap(({ gaps }) => gaps),
  fields: parts.flatMap(({ fields }) => fields),
});

function any(parts: readonly TriggerCondition[], path: NodePath, { soft }: RuleContext): TriggerCondition {
  const [first] = parts;
  if (first === undefined) return gap(path, 'an empty `or` never matches', 'Correct it, or leave it out');
  const gaps = parts.flatMap((part) => part.gaps);
  if (gaps.length > 0) return { ...ALWAYS, gaps };
  // One part that always matches makes the whole rule match.
  const isOpen = parts.some(({ auths, filters }) => auths.length === 0 && filters.length === 0);
  const filters = isOpen || parts.some((part) => part.filters.length === 0) ? [] : [{ any: parts.map(oneFilter) }];
  if (parts.every(({ auths }) => auths.length === 0)) return { ...ALWAYS, filters };
  const [auth] = first.auths;
  const single = parts.every(({ auths }) => auths.length === 1);
  const same = single && auth !== undefined && parts.every((part) => sameAuth(auth, part.auths[0] as Auth));
  if (same) return { ...ALWAYS, auths: [auth], filters };
  const bare = parts.every((part) => part.filters.length === 0);
  const rotation =
    single && bare && auth !== undefined && parts.every((part) => sameScheme(auth, part.auths[0] as Auth));
  if (rotation && (soft || auth.verify === 'token'))
    return { ...ALWAYS, auths: [{ ...auth, secrets: parts.flatMap((part) => part.auths[0]?.secrets ?? []) }] };
  if (rotation)
    return gap(
      path,
      'without `trigger-signature-soft-failures`, webhook accepts only the first of these secrets',
      'List the accepted ones under `secrets`',
    );
  const instead = 'Create a route for each authentication method, with its filters';
  return gap(path, 'a route has one authentication method for all senders, not alternatives', instead);
}

const oneFilter = ({ filters }: TriggerCondition): TriggerFilter => {
  const [first] = filters;
  return filters.length === 1 && first !== undefined ? first : { all: filters };
};

function negated(condition: TriggerCondition, path: NodePath): TriggerCondition {
  if (condition.gaps.length > 0) return condition;
  const instead = 'Invert the rule, so that it states what the sender must have';
  if (condition.auths.length > 0) return gap(path, 'it accepts senders that do not know the secret', instead);
  if (condition.filters.length === 0) return gap(path, 'it never holds', 'Correct it, or leave it out');
  return { ...ALWAYS, filters: [{ not: oneFilter(condition) }], fields: condition.fields };
}
