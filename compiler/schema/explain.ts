/** Turns schema errors into problems a config's author can act on, without the noise of alternatives that were not meant. */
import type { SCHEMAS } from '../../schemas/generated/schemas.ts';
import type { NodePath, Problem } from '../diagnostics/problem.ts';
import { didYouMean, oneOf } from '../diagnostics/suggest.ts';
import { knownKeys } from './known-keys.ts';
import { misplacedKeyHint } from './misplaced-key.ts';
import { parsePointer, valueAt } from './pointer.ts';
import type { SchemaError } from './schema-error.ts';

type SchemaName = keyof typeof SCHEMAS;

interface Place {
  readonly schema: SchemaName;
  readonly data: unknown;
  readonly path: NodePath;
}

export function explainErrors(schema: SchemaName, errors: readonly SchemaError[], data: unknown): readonly Problem[] {
  return withoutAlternatives(errors).map((error) => {
    const place: Place = { schema, data, path: parsePointer(error.instancePath, data) };
    if (error.propertyName !== undefined) return nameProblem(place, error.propertyName);
    const explain = Object.hasOwn(KEYWORDS, error.keyword) ? KEYWORDS[error.keyword] : undefined;
    return explain?.(place, error.params) ?? value(place, 'invalid-value', 'this value is not allowed here');
  });
}

/**
 * Of a value that may have several shapes, only the errors of the shape it has are of use: branches that fail on the
 * value's own type go. When all of them do, one sentence names all the types. A branch's errors come before its `oneOf`.
 */
function withoutAlternatives(errors: readonly SchemaError[]): readonly SchemaError[] {
  const kept: SchemaError[] = [];
  for (const error of errors) {
    if (error.keyword === 'propertyNames') continue;
    if (error.keyword !== 'oneOf' && error.keyword !== 'anyOf') kept.push(error);
    else kept.push(...closeBranches(error, takeBelow(kept, error.instancePath)));
  }
  return kept;
}

/** Removes and answers the last errors that lie at or below a pointer. */
function takeBelow(errors: SchemaError[], pointer: string): readonly SchemaError[] {
  let from = errors.length;
  while (from > 0 && isBelow(errors[from - 1]?.instancePath ?? '', pointer)) from--;
  return errors.splice(from);
}

const isBelow = (pointer: string, ancestor: string): boolean =>
  pointer === ancestor || pointer.startsWith(`${ancestor}/`);

function closeBranches(error: SchemaError, branches: readonly SchemaError[]): readonly SchemaError[] {
  const isWrongType = (branch: SchemaError): boolean =>
    branch.keyword === 'type' && branch.instancePath === error.instancePath;
  const meant = branches.filter((branch) => !isWrongType(branch));
  if (meant.length > 0) return meant;
  const types = branches.flatMap((branch) => typesOf(branch.params));
  return [types.length > 0 ? { ...error, keyword: 'type', params: { type: types } } : error];
}

type Explain = (place: Place, params: Readonly<Record<string, unknown>>) => Problem;

const KEYWORDS: Readonly<Record<string, Explain>> = {
  additionalProperties: (place, params) => unknownKey(place, String(params.additionalProperty)),
  unevaluatedProperties: (place, params) => unknownKey(place, String(params.unevaluatedProperty)),
  required: (place, params) => missingKey(place, String(params.missingProperty)),
  type: (place, params) => wrongType(place, typesOf(params)),
  enum: (place, params) => {
    const allowed = Array.isArray(params.allowedValues) ? params.allowedValues.map(String) : [];
    const found = valueAt(place.data, place.path);
    const guess = typeof found === 'string' ? didYouMean(found, allowed) : '';
    return value(place, 'invalid-value', `must be ${oneOf(allowed)}${guess}`);
  },
  const: (place, params) => value(place, 'invalid-value', `must be \`${String(params.allowedValue)}\``),
  pattern: (place) => value(place, 'invalid-value', `\`${nameOf(place.path)}\` has not the form that is expected here`),
  minLength: (place) => value(place, 'invalid-value', 'must not be empty'),
  maxLength: (place, params) =>
    value(place, 'invalid-value', `must not be longer than ${String(params.limit)} characters`),
  minItems: (place, params) => value(place, 'invalid-value', `needs at least ${String(params.limit)} entry`),
  maxItems: (place, params) => value(place, 'invalid-value', `takes at most ${String(params.limit)} entries`),
  minimum: limit('at least'),
  maximum: limit('at most'),
  exclusiveMinimum: limit('greater than'),
  exclusiveMaximum: limit('less than'),
};

function limit(words: string): Explain {
  return (place, params) => {
    const found = String(valueAt(place.data, place.path));
    return value(
      place,
      'invalid-number',
      `\`${nameOf(place.path)}\` must be ${words} ${String(params.limit)}, not ${found}`,
    );
  };
}

function unknownKey(place: Place, key: string): Problem {
  const known = knownKeys(place.schema, place.path);
  const guess = didYouMean(key, known);
  const hint = misplacedKeyHint(place.schema, place.path, key) ?? (guess === '' ? listOf(known) : undefined);
  const message = `unknown key \`${key}\`${guess}`;
  return {
    rule: 'unknown-key',
    path: [...place.path, key],
    at: 'key',
    message,
    ...(hint === undefined ? {} : { hint }),
  };
}

const listOf = (known: readonly string[]): string | undefined =>
  known.length === 0 ? undefined : `known here: ${oneOf(known.toSorted(), 'and')}`;

function missingKey(place: Place, key: string): Problem {
  const entry = place.path.length === 0 ? 'this file' : `\`${nameOf(place.path)}\``;
  return { rule: 'missing-key', path: place.path, at: 'key', message: `${entry} lacks the key \`${key}\`` };
}

/** The only names with a pattern are those of entries: routes, jobs, sources, profiles. */
function nameProblem(place: Place, name: string): Problem {
  return {
    rule: 'invalid-name',
    path: [...place.path, name],
    at: 'key',
    message: `\`${name}\` cannot be a name here`,
    hint: 'a name has 1 to 64 lower-case letters, digits, `-` and `_`, and starts with a letter or a digit',
  };
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'a whole number',
  number: 'a number',
  boolean: '`true` or `false`',
  array: 'a list',
  object: 'a map',
  null: 'nothing',
};

function wrongType(place: Place, types: readonly string[]): Problem {
  const found = valueAt(place.data, place.path);
  const expected = [...new Set(types.map((type) => TYPE_NAMES[type] ?? type))].join(' or ');
  const rule = typeof found === 'number' && types.includes('integer') ? 'invalid-number' : 'wrong-type';
  const was = rule === 'invalid-number' ? String(found) : (TYPE_NAMES[typeOf(found)] ?? typeOf(found));
  return value(place, rule, `\`${nameOf(place.path)}\` must be ${expected}, not ${was}`);
}

const typeOf = (found: unknown): string => (found === null ? 'null' : Array.isArray(found) ? 'array' : typeof found);

const typesOf = (params: Readonly<Record<string, unknown>>): readonly string[] =>
  [params.type].flat().filter((type) => typeof type === 'string');

const value = (place: Place, rule: string, message: string): Problem => ({
  rule,
  path: place.path,
  at: 'value',
  message,
});

/** The last key of a path, with the index of a list item: `events[1]`. */
function nameOf(path: NodePath): string {
  const last = path.findLastIndex((part) => typeof part === 'string');
  const indexes = path.slice(last + 1).map((index) => `[${index}]`);
  return `${String(path[last] ?? '')}${indexes.join('')}`;
}
