/** Filters errors of values with alternative shapes: keeps those of the shape that was meant. */
import type { SchemaError } from './schema-error.ts';

/**
 * Drops the errors of alternatives that reject the value's type. If all of them do, replaces them with one error that lists
 * all types. The validator reports the errors of alternatives before that of their `oneOf`.
 */
export function withoutAlternatives(errors: readonly SchemaError[]): readonly SchemaError[] {
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
  const isWrongType = (branch: SchemaError): boolean =>
    branch.keyword === 'type' && branch.instancePath === error.instancePath;
  const meant = branches.filter((branch) => !isWrongType(branch));
  if (meant.length > 0) return meant;
  const types = branches.flatMap((branch) => typesOf(branch.params));
  return [types.length > 0 ? { ...error, keyword: 'type', params: { type: types } } : error];
}

export const typesOf = (params: Readonly<Record<string, unknown>>): readonly string[] =>
  [params.type].flat().filter((type) => typeof type === 'string');
