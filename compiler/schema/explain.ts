/** Turns schema errors into problems a config's author can act on, without the noise of alternatives that were not meant. */
import type { Problem } from '../diagnostics/problem.ts';
import { invalidName } from '../rules/invalid-name.ts';
import { invalidNumber } from '../rules/invalid-number.ts';
import { invalidValue } from '../rules/invalid-value.ts';
import { missingKey } from '../rules/missing-key.ts';
import { unknownKey } from '../rules/unknown-key.ts';
import { wrongType } from '../rules/wrong-type.ts';
import { flowText } from '../text/flow-text.ts';
import { isPlainMap } from '../text/plain-map.ts';
import { isSecretName } from '../text/secret-names.ts';
import { certainMatch, didYouMean, oneOf, suggest } from '../text/suggest.ts';
import { typesOf, withoutAlternatives } from './alternatives.ts';
import type { SchemaName } from './known-keys.ts';
import { descriptionAt, exampleAt, guessKey, knownKeys } from './known-keys.ts';
import { misplacedKeyHint } from './misplaced-key.ts';
import { parsePointer, valueAt } from './pointer.ts';
import type { SchemaError } from './schema-error.ts';
import type { ShapePlace as Place, ShapeProblem } from './shape-problem.ts';
import { nameOf, atValue as value } from './shape-problem.ts';
import { SLIPS } from './slips/slips.ts';

export function explainErrors(schema: SchemaName, errors: readonly SchemaError[], data: unknown): readonly Problem[] {
  const problems = withoutAlternatives(errors).map((error): ShapeProblem => {
    const place: Place = { schema, data, path: parsePointer(error.instancePath, data) };
    if (error.propertyName !== undefined) return nameProblem(place, error.propertyName);
    const slip = recognise(place, error);
    if (slip !== null) return slip;
    const explain = Object.hasOwn(KEYWORDS, error.keyword) ? KEYWORDS[error.keyword] : undefined;
    return explain?.(place, error.params) ?? value(place, invalidValue, 'this value is not allowed here');
  });
  return withoutMisspelt(schema, withoutCovered(problems));
}

function recognise(place: Place, error: SchemaError): ShapeProblem | null {
  for (const slip of SLIPS) {
    const problem = slip(place, error);
    if (problem !== null) return problem;
  }
  return null;
}

/** What a mistake explains is not said as well; of two mistakes that explain the same, the first is said. */
function withoutCovered(problems: readonly ShapeProblem[]): readonly ShapeProblem[] {
  const kept = new Map<string, ShapeProblem>();
  for (const problem of problems) {
    for (const path of problem.covers ?? []) {
      const key = JSON.stringify(path);
      if (!kept.has(key)) kept.set(key, problem);
    }
  }
  if (kept.size === 0) return problems;
  const isCovered = (problem: ShapeProblem): boolean =>
    problem.path.some((_, length) => isOthers(kept.get(JSON.stringify(problem.path.slice(0, length + 1))), problem));
  return problems.filter((problem) => !isCovered(problem));
}

const isOthers = (cover: ShapeProblem | undefined, problem: ShapeProblem): boolean =>
  cover !== undefined && cover !== problem;

/** A key that is there misspelt is not also reported as missing. */
function withoutMisspelt(schema: SchemaName, problems: readonly ShapeProblem[]): readonly Problem[] {
  const meant = new Set(
    problems
      .filter(({ rule }) => rule === unknownKey)
      .map(({ path, instead }) => JSON.stringify([...path.slice(0, -1), instead ?? guessKey(schema, path)])),
  );
  if (meant.size === 0) return problems;
  return problems.filter(
    ({ rule, path, missing }) => rule !== missingKey || !meant.has(JSON.stringify([...path, missing])),
  );
}

type Explain = (place: Place, params: Readonly<Record<string, unknown>>) => ShapeProblem;

const KEYWORDS: Readonly<Record<string, Explain>> = {
  additionalProperties: (place, params) => unknownKeyProblem(place, String(params.additionalProperty)),
  unevaluatedProperties: (place, params) => unknownKeyProblem(place, String(params.unevaluatedProperty)),
  required: (place, params) => missingKeyProblem(place, String(params.missingProperty)),
  type: (place, params) => wrongTypeProblem(place, typesOf(params)),
  enum: (place, params) => {
    const allowed = Array.isArray(params.allowedValues) ? params.allowedValues.map(String) : [];
    const found = valueAt(place.data, place.path);
    const guess = typeof found === 'string' ? didYouMean(found, allowed) : '';
    return value(place, invalidValue, `\`${nameOf(place.path)}\` must be ${oneOf(allowed)}${guess}`);
  },
  const: (place, params) =>
    value(place, invalidValue, `\`${nameOf(place.path)}\` must be \`${String(params.allowedValue)}\``),
  pattern: (place, params) =>
    params.pattern === '\\S'
      ? value(place, invalidValue, `\`${nameOf(place.path)}\` needs a reason in words`)
      : described(
          place,
          value(place, invalidValue, `\`${nameOf(place.path)}\` has not the form that is expected here`),
        ),
  minLength: (place) => value(place, invalidValue, `\`${nameOf(place.path)}\` must not be empty`),
  maxLength: (place, params) =>
    value(place, invalidValue, `\`${nameOf(place.path)}\` must not be longer than ${String(params.limit)} characters`),
  minItems: (place, params) =>
    value(place, invalidValue, `\`${nameOf(place.path)}\` needs at least ${String(params.limit)} entry`),
  maxItems: (place, params) =>
    value(place, invalidValue, `\`${nameOf(place.path)}\` takes at most ${String(params.limit)} entries`),
  minimum: limit('at least'),
  maximum: limit('at most'),
  exclusiveMinimum: limit('greater than'),
  exclusiveMaximum: limit('less than'),
};

function limit(words: string): Explain {
  return (place, params) => {
    const message = `\`${nameOf(place.path)}\` must be ${words} ${String(params.limit)}${notThis(place)}`;
    return value(place, invalidNumber, message);
  };
}

/** What is there instead; a number under a key for secrets is not repeated. */
const notThis = ({ data, path }: Place): string =>
  path.some((part) => isSecretName(String(part))) ? '' : `, not ${String(valueAt(data, path))}`;

function unknownKeyProblem(place: Place, key: string): Problem {
  const known = knownKeys(place.schema, place.path);
  const guess = didYouMean(key, known);
  const meant = certainMatch(key, known);
  const hint =
    misplacedKeyHint(place.schema, place.path, key) ??
    (guess === '' ? (anchorHint(place, key) ?? listOf(known)) : undefined);
  return {
    rule: unknownKey,
    path: [...place.path, key],
    at: 'key',
    message: `unknown key \`${key}\`${guess}`,
    ...(hint === undefined ? {} : { hint }),
    ...(meant !== null ? { fix: { kind: 'rename', text: meant } } : {}),
    ...(isSecretName(suggest(key, known)[0] ?? '') ? { sensitive: true } : {}),
  };
}

/** A map at the top of the file that is nothing like a known one: a place for anchors, most likely. */
function anchorHint({ schema, path, data }: Place, key: string): string | undefined {
  const isOwn = schema === 'config' && path.length === 0 && isPlainMap(valueAt(data, [key]));
  return isOwn ? `a map for YAML anchors has a name that begins with \`x-\`: \`x-${key}\`` : undefined;
}

const listOf = (known: readonly string[]): string | undefined =>
  known.length === 0 ? undefined : `known here: ${oneOf(known.toSorted(), 'and')}`;

function missingKeyProblem(place: Place, key: string): ShapeProblem {
  const entry = place.path.length === 0 ? 'this file' : `\`${nameOf(place.path)}\``;
  return {
    rule: missingKey,
    path: place.path,
    at: 'key',
    missing: key,
    message: `${entry} lacks the key \`${key}\``,
    ...hintFrom(place.schema, [...place.path, key]),
  };
}

/** What the value is for tells what it should look like. */
const described = ({ schema, path }: Place, problem: Problem): Problem => ({ ...problem, ...hintFrom(schema, path) });

function hintFrom(schema: SchemaName, path: Place['path']): Pick<Problem, 'hint'> {
  const description = descriptionAt(schema, path);
  const example = exampleAt(schema, path);
  const name = nameOf(path);
  // A form is understood at once, a word or a number only from what it is for.
  if (typeof example === 'object' && example !== null)
    return { hint: `write for example \`${name}: ${flowText(example)}\`` };
  return description === null ? {} : { hint: `\`${name}\`: ${description}` };
}

/** The only names with a pattern are those of entries: routes, jobs, sources, profiles. */
function nameProblem(place: Place, name: string): Problem {
  return {
    rule: invalidName,
    path: [...place.path, name],
    at: 'key',
    message: `\`${name}\` cannot be a name here${nameLike(name)}`,
    hint: 'a name has 1 to 64 lower-case letters, digits, `-` and `_`, and starts with a letter or a digit',
  };
}

/** The same name in the letters that are allowed. */
function nameLike(name: string): string {
  const words = name.replace(/([a-z0-9])([A-Z])/g, '$1-$2').toLowerCase();
  const plain = words.replace(/[^a-z0-9_]+/g, '-').replace(/^[-_]+|-+$/g, '');
  return plain === '' || plain.length > 64 ? '' : `: write for example \`${plain}\``;
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

function wrongTypeProblem(place: Place, types: readonly string[]): Problem {
  const found = valueAt(place.data, place.path);
  const expected = [...new Set(types.map((type) => TYPE_NAMES[type] ?? type))].join(' or ');
  const rule = typeof found === 'number' && types.includes('integer') ? invalidNumber : wrongType;
  const was = rule === invalidNumber ? notThis(place) : `, not ${TYPE_NAMES[typeOf(found)] ?? typeOf(found)}`;
  const problem = value(place, rule, `\`${nameOf(place.path)}\` must be ${expected}${was}`);
  const hint = types.includes('boolean') && typeof found === 'string' ? truthHint(found) : undefined;
  if (found === null) return { ...problem, ...emptyHint(place) };
  if (hint === undefined) return described(place, problem);
  return { ...problem, hint: `write \`${hint}\``, fix: { kind: 'replace', text: hint } };
}

/** A key whose value is still to be written. */
function emptyHint({ schema, path }: Place): Pick<Problem, 'hint'> {
  const isItem = typeof path.at(-1) === 'number';
  const example = exampleAt(schema, isItem ? path.slice(0, -1) : path);
  const value: unknown = isItem && Array.isArray(example) ? example[0] : example;
  if (value === undefined) return { hint: 'write what belongs to it below, indented further, or remove the key' };
  return { hint: `write for example \`${isItem ? '-' : `${nameOf(path)}:`} ${flowText(value)}\`, or remove it` };
}

/** `yes` and its like were truth values in older YAML, and are text today; so is `true` in quotes. */
function truthHint(found: string): string | undefined {
  if (/^(?:yes|y|on|true)$/i.test(found)) return 'true';
  return /^(?:no|n|off|false)$/i.test(found) ? 'false' : undefined;
}

const typeOf = (found: unknown): string => (found === null ? 'null' : Array.isArray(found) ? 'array' : typeof found);
