/** Validates plain data from files with the generated validators, and converts their errors to problems. */

import * as validators from '../../schemas/built/validators.ts';
import type { AllSchemas } from '../../schemas/generated/types.ts';
import type { NodePath, Problem, SchemaError } from '../diagnostics/diagnostic.ts';
import { explainErrors } from './explain.ts';
import { parsePointer } from './pointer.ts';

export type FileTypes = Pick<
  AllSchemas,
  'agent' | 'blueprint' | 'config' | 'profile' | 'source' | 'subscriptions' | 'target' | 'test'
>;

interface Validator {
  (data: unknown): boolean;
  errors?: readonly SchemaError[] | null;
}

const VALIDATORS: Readonly<Record<keyof FileTypes, Validator>> = validators;

/**
 * The paths of all schema errors, without explanations, also of those that follow from others. Empty if the data has
 * the schema's type.
 */
export function faultyPaths(schema: keyof FileTypes, data: unknown): readonly NodePath[] {
  const validator = VALIDATORS[schema];
  if (validator(data)) return [];
  return (validator.errors ?? []).map(({ instancePath, params, propertyName }) => {
    const key = propertyName ?? params.additionalProperty ?? params.unevaluatedProperty;
    const path = parsePointer(instancePath, data);
    return key === undefined ? path : [...path, String(key)];
  });
}

/** Returns schema problems in data order. If there are none, the data has the schema's type. */
export function checkShape(schema: keyof FileTypes, data: unknown): readonly Problem[] {
  const validator = VALIDATORS[schema];
  return validator(data) ? [] : explainErrors(schema, validator.errors ?? [], data);
}
