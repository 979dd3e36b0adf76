/** Values that may have several shapes: keeps the errors of the shape that was meant. */
import type { SchemaError } from './schema-error.ts';

/**
 * Of a value that may have several shapes, only the errors of the shape it has are of use: branches that fail on the
 * value's own type go. When all of them do, one sentence names all the types. A branch's errors come before its `oneOf`.
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

/** Removes and returns the last errors that lie at or below a pointer. */
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
