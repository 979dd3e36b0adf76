/** Converts schema errors to problems that tell the config's author what to do. */
import type { Problem } from '../diagnostics/problem.ts';
import { isSecretName } from '../text/secret-names.ts';
import { didYouMean, oneOf } from '../text/suggest.ts';
import { typesOf, withoutAlternatives } from './alternatives.ts';
import { described, emptyHint, truthHint } from './hints.ts';
import { missingKeyProblem, nameProblem, unknownKeyProblem } from './key-problems.ts';
import type { SchemaName } from './known-keys.ts';
import { guessKey } from './known-keys.ts';
import { parsePointer, valueAt } from './pointer.ts';
import type { SchemaError } from './schema-error.ts';
import type { ShapePlace as Place, ShapeProblem } from './shape-problem.ts';
import { mustBe, nameOf, typeName, atValue as value } from './shape-problem.ts';
import { foreignFile } from './slips/foreign-files.ts';
import { explainSlip } from './slips/match.ts';

/** Returns problems without duplicates and consequences of other problems. */
export function explainErrors(schema: SchemaName, errors: readonly SchemaError[], data: unknown): readonly Problem[] {
  const foreign = foreignFile(schema, data);
  if (foreign !== null) return [foreign];
  const problems = withoutAlternatives(errors).map((error): ShapeProblem => {
    const place: Place = { schema, data, path: parsePointer(error.instancePath, data) };
    if (error.propertyName !== undefined) return nameProblem(place, error.propertyName);
    const slip = explainSlip(place, error);
    if (slip !== null) return slip;
    const explain = Object.hasOwn(KEYWORDS, error.keyword) ? KEYWORDS[error.keyword] : undefined;
    return explain?.(place, error.params) ?? value(place, 'invalid-value', 'this value is not allowed here');
  });
  return withoutMisspelt(schema, withoutCovered(problems));
}

/** Drops problems that a recognised mistake covers. If two mistakes cover the same path, the first one is kept. */
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

/** Does not report a key as missing if it is there but misspelt. */
function withoutMisspelt(schema: SchemaName, problems: readonly ShapeProblem[]): readonly Problem[] {
  const meant = new Set(
    problems
      .filter(({ rule }) => rule === 'unknown-key')
      .map(({ path, instead }) => JSON.stringify([...path.slice(0, -1), instead ?? guessKey(schema, path)])),
  );
  if (meant.size === 0) return problems;
  return problems.filter(
    ({ rule, path, missing }) => rule !== 'missing-key' || !meant.has(JSON.stringify([...path, missing])),
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
    const types = typesOf(params);
    if (types.length === 0) return invalid(place, `must be ${oneOf(allowed)}${guess}`);
    const forms = [...allowed.map((word) => `\`${word}\``), ...types];
    return described(place, value(place, 'invalid-value', `${mustBe(nameOf(place.path), forms)}${guess}`));
  },
  const: (place, params) => invalid(place, `must be \`${String(params.allowedValue)}\``),
  pattern: (place, params) =>
    params.pattern === '\\S'
      ? invalid(place, 'needs a reason in words')
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

const invalid = (place: Place, why: string): Problem =>
  value(place, 'invalid-value', `\`${nameOf(place.path)}\` ${why}`);

function limit(words: string): Explain {
  return (place, params) => {
    const message = `\`${nameOf(place.path)}\` must be ${words} ${String(params.limit)}${notThis(place)}`;
    return value(place, 'invalid-number', message);
  };
}

/** The found value for a message, unless it is under a key for secrets. */
const notThis = ({ data, path }: Place): string =>
  path.some((part) => isSecretName(String(part))) ? '' : `, not ${String(valueAt(data, path))}`;

function wrongTypeProblem(place: Place, types: readonly string[]): Problem {
  const found = valueAt(place.data, place.path);
  const isNumber = typeof found === 'number' && types.includes('integer');
  const message = `${mustBe(nameOf(place.path), types)}${isNumber ? notThis(place) : `, not ${typeName(found)}`}`;
  const problem = value(place, isNumber ? 'invalid-number' : 'wrong-type', message);
  const hint = types.includes('boolean') && typeof found === 'string' ? truthHint(found) : undefined;
  if (found === null) return { ...problem, ...emptyHint(place) };
  if (hint === undefined) return described(place, problem);
  return { ...problem, hint: `write \`${hint}\``, fix: { kind: 'replace', text: hint } };
}
