/** Validates plain data from files with the generated validators, and converts their errors to problems. */

import * as validators from '../../schemas/built/validators.ts';
import type {
  BlueprintFile,
  Config,
  ProfileConfig,
  SourceFile,
  Subscriptions,
  TargetFile,
  TestFile,
} from '../../schemas/generated/types.ts';
import type { Problem } from '../diagnostics/problem.ts';
import { explainErrors } from './explain.ts';
import type { SchemaError } from './schema-error.ts';

export interface FileTypes {
  readonly config: Config;
  readonly profile: ProfileConfig;
  readonly subscriptions: Subscriptions;
  readonly source: SourceFile;
  readonly target: TargetFile;
  readonly blueprint: BlueprintFile;
  readonly test: TestFile;
}

interface Validator {
  (data: unknown): boolean;
  errors?: readonly SchemaError[] | null;
}

const VALIDATORS: Readonly<Record<keyof FileTypes, Validator>> = validators;

/** Returns schema problems in data order. If there are none, the data has the schema's type. */
export function checkShape(schema: keyof FileTypes, data: unknown): readonly Problem[] {
  const validator = VALIDATORS[schema];
  return validator(data) ? [] : explainErrors(schema, validator.errors ?? [], data);
}
