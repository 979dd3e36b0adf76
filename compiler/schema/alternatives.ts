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
  const isHere = (branch: SchemaError, keyword: string): boolean =>
    branch.keyword === keyword && branch.instancePath === error.instancePath;
  const wrong = branches.filter((branch) => isHere(branch, 'type'));
  const meant = branches.filter((branch) => !isHere(branch, 'type'));
  const type = wrong.flatMap((branch) => typesOf(branch.params));
  if (meant.length === 0) return [type.length > 0 ? { ...error, keyword: 'type', params: { type } } : error];
  // The words that one alternative lists are meant unless another one takes the type of the value.
  const others = meant.filter((branch) => !isHere(branch, 'enum'));
  return others.length > 0 ? others : meant.map((branch) => ({ ...branch, params: { ...branch.params, type } }));
}

export const typesOf = (params: Readonly<Record<string, unknown>>): readonly string[] =>
  [params.type].flat().filter((type) => typeof type === 'string');
