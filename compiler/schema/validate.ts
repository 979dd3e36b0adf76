/** Runs the generated validators over plain data from files; what they find becomes problems with paths into the data. */
import type {
  BlueprintFile,
  Config,
  ProfileConfig,
  SourceFile,
  Subscriptions,
  TargetFile,
} from '../../schemas/generated/types.ts';
import { validate as validateBlueprint } from '../../schemas/generated/validate-blueprint.ts';
import { validate as validateConfig } from '../../schemas/generated/validate-config.ts';
import { validate as validateProfile } from '../../schemas/generated/validate-profile.ts';
import { validate as validateSource } from '../../schemas/generated/validate-source.ts';
import { validate as validateSubscriptions } from '../../schemas/generated/validate-subscriptions.ts';
import { validate as validateTarget } from '../../schemas/generated/validate-target.ts';
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
}

interface Validator {
  (data: unknown): boolean;
  errors?: readonly SchemaError[] | null;
}

const VALIDATORS: Readonly<Record<keyof FileTypes, Validator>> = {
  config: validateConfig,
  profile: validateProfile,
  subscriptions: validateSubscriptions,
  source: validateSource,
  target: validateTarget,
  blueprint: validateBlueprint,
};

/** Problems of shape, in the order of the data; without any, the data is of the schema's type. */
export function checkShape(schema: keyof FileTypes, data: unknown): readonly Problem[] {
  const validator = VALIDATORS[schema];
  return validator(data) ? [] : explainErrors(schema, validator.errors ?? [], data);
}
