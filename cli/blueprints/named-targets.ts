/** A blueprint as a person sees it: its `deliver` field offers targets by the names that people know (`telegram`). */
import type { Named } from '../../compiler/text/common-name.ts';
import { commonName } from '../../compiler/text/common-name.ts';
import type { BlueprintPlan } from '../../schemas/generated/types.ts';

/** The usual name; a target that is not in the catalog keeps its own. */
export const knownName = (name: string, targets: Readonly<Record<string, Named>>): string =>
  Object.hasOwn(targets, name) ? commonName(name, targets[name] ?? {}) : name;

/** @param targets catalog entries by canonical name */
export function withNamedTargets(plan: BlueprintPlan, targets: Readonly<Record<string, Named>>): BlueprintPlan {
  const fields = plan.fields.map((field) =>
    field.name === 'deliver' ? { ...field, options: field.options.map((name) => knownName(name, targets)) } : field,
  );
  return { ...plan, fields };
}
