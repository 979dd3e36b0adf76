/**
 * Converts schema errors to problems that explain what the schema allows. A tutor, if there is one, adds what was
 * probably meant (modules/tutor).
 */
import { VISIBLE } from '../../base/text.ts';
import type { NodePath, Problem, SchemaError } from '../diagnostics/diagnostic.ts';
import type { RuleId } from '../diagnostics/rule.ts';
import { flowText, isPlainMap } from '../text/plain-data.ts';
import { isSecretName } from '../text/secret-ref.ts';
import { certainMatch, didYouMean, oneOf, suggest } from '../text/suggest.ts';
import type { SchemaName } from './known-keys.ts';
import { descriptionAt, exampleAt, guessKey, knownKeys, typesAt } from './known-keys.ts';
import { parsePointer, valueAt } from './pointer.ts';

/** The place of a schema error. */
export interface ShapePlace {
  readonly schema: SchemaName;
  /** The data of the whole file. */
  readonly data: unknown;
  readonly path: NodePath;
}

/** Explains each error, without the consequences of others. */
export function explainErrors(schema: SchemaName, errors: readonly SchemaError[], data: unknown): readonly Problem[] {
  const problems = withoutAlternatives(errors).map((error): Problem => {
    const problem = explainError({ schema, data, path: parsePointer(error.instancePath, data) }, error);
    return { ...problem, cause: { schema, data, error, message: problem.message } };
  });
  return withoutMisspelt(schema, problems);
}

function explainError(place: ShapePlace, { keyword, params, propertyName }: SchemaError): Problem {
  if (propertyName !== undefined) return nameProblem(place, propertyName);
  const explain = Object.hasOwn(KEYWORDS, keyword) ? KEYWORDS[keyword] : undefined;
  return explain?.(place, params) ?? atValue(place, 'invalid-value', 'this value is not allowed here');
}

/** Does not report a key as missing if it is there but misspelt. */
function withoutMisspelt(schema: SchemaName, problems: readonly Problem[]): readonly Problem[] {
  const meant = new Set(
    problems
      .filter(({ rule }) => rule === 'unknown-key')
      .map(({ path }) => JSON.stringify([...path.slice(0, -1), guessKey(schema, path)])),
  );
  return problems.filter(
    ({ rule, path, cause }) =>
      rule !== 'missing-key' || !meant.has(JSON.stringify([...path, cause?.error.params.missingProperty])),
  );
}

type Explain = (place: ShapePlace, params: Readonly<Record<string, unknown>>) => Problem;

const KEYWORDS: Readonly<Record<string, Explain>> = {
  additionalProperties: (place, params) => unknownKeyProblem(place, String(params.additionalProperty)),
  unevaluatedProperties: (place, params) => unknownKeyProblem(place, String(params.unevaluatedProperty)),
  required: (place, params) => missingKeyProblem(place, String(params.missingProperty)),
  type: (place, params) => wrongTypeProblem(place, typesOf(params)),
  enum: (place, params) => {
    const allowed = Array.isArray(params.allowedValues) ? params.allowedValues.map(String) : [];
    const found = valueAt(place.data, place.path);
    const guess = typeof found === 'string' ? didYouMean(found, allowed) : '';
    const types = typesOf(params);
    if (types.length === 0) return invalid(place, `must be ${oneOf(allowed)}${guess}`);
    const forms = [...allowed.map((word) => `\`${word}\``), ...types];
    return described(place, atValue(place, 'invalid-value', `${mustBe(nameOf(place.path), forms)}${guess}`));
  },
  const: (place, params) => invalid(place, `must be \`${String(params.allowedValue)}\``),
  pattern: (place, params) =>
    params.pattern === VISIBLE
      ? invalid(place, 'must not be blank')
      : described(place, invalid(place, 'does not have the expected form')),
  minLength: (place) => invalid(place, 'must not be empty'),
  maxLength: (place, params) => invalid(place, `must not be longer than ${String(params.limit)} characters`),
  minItems: (place, params) => invalid(place, `needs at least ${String(params.limit)} entry`),
  maxItems: (place, params) => invalid(place, `may have at most ${String(params.limit)} entries`),
  minimum: limit('at least'),
  maximum: limit('at most'),
  exclusiveMinimum: limit('greater than'),
  exclusiveMaximum: limit('less than'),
};

const invalid = (place: ShapePlace, why: string): Problem =>
  atValue(place, 'invalid-value', `\`${nameOf(place.path)}\` ${why}`);

function limit(words: string): Explain {
  return (place, params) => {
    const message = `\`${nameOf(place.path)}\` must be ${words} ${String(params.limit)}${notThis(place)}`;
    return atValue(place, 'invalid-number', message);
  };
}

/** The found value for a message, unless it is under a key for secrets. */
const notThis = ({ data, path }: ShapePlace): string =>
  path.some((part) => isSecretName(String(part))) ? '' : `, not ${String(valueAt(data, path))}`;

function wrongTypeProblem(place: ShapePlace, types: readonly string[]): Problem {
  const found = valueAt(place.data, place.path);
  const isNumber = typeof found === 'number' && types.includes('integer');
  const message = `${mustBe(nameOf(place.path), types)}${isNumber ? notThis(place) : `, not ${typeName(found)}`}`;
  const problem = atValue(place, isNumber ? 'invalid-number' : 'wrong-type', message);
  return found === null ? { ...problem, ...emptyHint(place) } : described(place, problem);
}

/** An unknown key, with a suggestion or the known keys. */
function unknownKeyProblem(place: ShapePlace, key: string): Problem {
  const known = knownKeys(place.schema, place.path);
  const guess = didYouMean(key, known);
  const meant = certainMatch(key, known);
  const types = typesAt(place.schema, [...place.path, meant ?? '']);
  const isFit = types.has('array') || !Array.isArray(valueAt(place.data, [...place.path, key]));
  const hint =
    misplacedKeyHint(place.schema, place.path, key) ??
    (guess === '' ? (anchorHint(place, key) ?? listOf(known)) : undefined);
  return {
    rule: 'unknown-key',
    path: [...place.path, key],
    at: 'key',
    message: `unknown key \`${key}\`${guess}`,
    ...(hint === undefined ? {} : { hint }),
    ...(meant !== null && isFit ? { fix: { kind: 'rename', text: meant } } : {}),
    ...(isSecretName(suggest(key, known)[0] ?? '') ? { sensitive: true } : {}),
  };
}

/** Maps whose keys are often written elsewhere, most likely first. */
const HOMES: readonly NodePath[] = [
  ['platforms', 'webhook'],
  [],
  ['gateway'],
  ['agent'],
  ['platforms', 'webhook', 'routes', 'x'],
];

/** Returns undefined if the key is unknown everywhere. */
function misplacedKeyHint(schema: SchemaName, path: NodePath, key: string): string | undefined {
  if (schema !== 'config') return undefined;
  const home = HOMES.find((place) => place.join('.') !== path.join('.') && knownKeys(schema, place).includes(key));
  if (home === undefined) return undefined;
  if (home.length === 0) return `\`${key}\` belongs at the top of the file`;
  return home.length > 2 ? `\`${key}\` belongs to a route` : `\`${key}\` belongs under \`${home.join('.')}\``;
}

/** For an unknown top-level map, which probably exists for YAML anchors. */
function anchorHint({ schema, path, data }: ShapePlace, key: string): string | undefined {
  const isOwn = schema === 'config' && path.length === 0 && isPlainMap(valueAt(data, [key]));
  return isOwn ? `a map for YAML anchors has a name that begins with \`x-\`: \`x-${key}\`` : undefined;
}

const listOf = (known: readonly string[]): string | undefined =>
  known.length === 0 ? undefined : `valid here: ${oneOf(known.toSorted(), 'and')}`;

function missingKeyProblem(place: ShapePlace, key: string): Problem {
  const entry = place.path.length === 0 ? 'this file' : `\`${nameOf(place.path)}\``;
  return {
    rule: 'missing-key',
    path: place.path,
    at: 'key',
    message: `${entry} needs the key \`${key}\``,
    ...hintFrom(place.schema, [...place.path, key]),
  };
}

/** An invalid name of an entry: a route, a job, a source or a profile; or of a variable. */
function nameProblem(place: ShapePlace, name: string): Problem {
  const found = { rule: 'invalid-name', path: [...place.path, name], at: 'key' } as const;
  if (place.path.at(-1) === 'env') {
    const hint = 'letters, digits and `_`; names that begin with `HOOKWRIGHT_` describe the run and cannot be set';
    return { ...found, message: `\`${name}\` is not a valid name of a variable`, hint };
  }
  if (place.path.at(-1) === 'headers') {
    const hint =
      'letters, digits, `-` and `_`; hookwright sets `host`, `content-type` and headers of the connection itself';
    return { ...found, message: `\`${name}\` cannot be set as a header here`, hint };
  }
  return {
    ...found,
    message: `\`${name}\` is not a valid name${nameLike(name)}`,
    hint: 'a name has 1 to 64 lower-case letters, digits, `-` and `_`, and starts with a letter or a digit',
  };
}

/** Suggests a similar valid name. */
function nameLike(name: string): string {
  const words = name.replace(/([a-z0-9])([A-Z])/g, '$1-$2').toLowerCase();
  const plain = words.replace(/[^a-z0-9_]+/g, '-').replace(/^[-_]+|-+$/g, '');
  return plain === '' || plain.length > 64 ? '' : `: write, for example, \`${plain}\``;
}

/** Adds a hint from the schema: an example or the description of the value. */
const described = ({ schema, path }: ShapePlace, problem: Problem): Problem => ({
  ...problem,
  ...hintFrom(schema, path),
});

/** An example of a map or list, else the description of the value. */
export function hintFrom(schema: SchemaName, path: NodePath): Pick<Problem, 'hint'> {
  const description = descriptionAt(schema, path);
  const example = exampleAt(schema, path);
  const name = nameOf(path);
  // An example explains a structure best; a word or a number needs the description.
  if (typeof example === 'object' && example !== null)
    return { hint: `write, for example, \`${name}: ${flowText(example)}\`` };
  return description === null ? {} : { hint: `\`${name}\`: ${description}` };
}

/** The hint for a key without a value. */
function emptyHint({ schema, path }: ShapePlace): Pick<Problem, 'hint'> {
  const isItem = typeof path.at(-1) === 'number';
  const example = exampleAt(schema, isItem ? path.slice(0, -1) : path);
  const value: unknown = isItem && Array.isArray(example) ? example[0] : example;
  if (value === undefined) return { hint: 'write its content below, indented further, or remove the key' };
  return { hint: `write, for example, \`${isItem ? '-' : `${nameOf(path)}:`} ${flowText(value)}\`, or remove it` };
}

/**
 * Drops the errors of alternatives that reject the value's type. If all of them do, replaces them with one error that lists
 * all types. The validator reports the errors of alternatives before that of their `oneOf`.
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

/** Removes and returns the trailing errors at or below a pointer. */
function takeBelow(errors: SchemaError[], pointer: string): readonly SchemaError[] {
  let from = errors.length;
  while (from > 0 && isBelow(errors[from - 1]?.instancePath ?? '', pointer)) from--;
  return errors.splice(from);
}

const isBelow = (pointer: string, ancestor: string): boolean =>
  pointer === ancestor || pointer.startsWith(`${ancestor}/`);

function closeBranches(error: SchemaError, branches: readonly SchemaError[]): readonly SchemaError[] {
  const isHere = (branch: SchemaError, keyword: string): boolean =>
    branch.keyword === keyword && branch.instancePath === error.instancePath;
  const wrong = branches.filter((branch) => isHere(branch, 'type'));
  const meant = branches.filter((branch) => !isHere(branch, 'type'));
  const type = wrong.flatMap((branch) => typesOf(branch.params));
  if (meant.length === 0) return [type.length > 0 ? { ...error, keyword: 'type', params: { type } } : error];
  // An alternative's list of words is meant unless another alternative accepts the type of the value.
  const others = meant.filter((branch) => !isHere(branch, 'enum'));
  return others.length > 0 ? others : meant.map((branch) => ({ ...branch, params: { ...branch.params, type } }));
}

export const typesOf = (params: Readonly<Record<string, unknown>>): readonly string[] =>
  [params.type].flat().filter((type) => typeof type === 'string');

const atValue = (place: ShapePlace, rule: RuleId, message: string): Problem => ({
  rule,
  path: place.path,
  at: 'value',
  message,
});

/** The last key of a path, with the index of a list item: `events[1]`. */
export function nameOf(path: NodePath): string {
  const last = path.findLastIndex((part) => typeof part === 'string');
  const indexes = path.slice(last + 1).map((index) => `[${index}]`);
  return `${String(path[last] ?? '')}${indexes.join('')}`;
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

/** The JSON type of a value. */
export const typeOf = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;

export const typeName = (value: unknown): string => TYPE_NAMES[typeOf(value)] ?? typeof value;

/** "`events` must be a list". */
export const mustBe = (name: string, types: readonly string[]): string =>
  `\`${name}\` must be ${[...new Set(types.map((type) => TYPE_NAMES[type] ?? type))].join(' or ')}`;
