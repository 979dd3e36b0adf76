/** The published catalog (§2.8): the content of `build/blueprints.json` and the response to `GET /blueprints`. */

import type { CompilerPart } from '../../../compiler/module.ts';
import type { BlueprintPlan, Catalog, PublishedBlueprint } from '../../../schemas/generated/types.ts';
import { defaultValues, scheduleHuman } from './fill.ts';
import { loadCatalogBlueprints } from './load-blueprints.ts';
import { printCommand, printLink } from './trigger.ts';

function publishOne(plan: BlueprintPlan, appScheme: string): PublishedBlueprint {
  const { key, title, description, category, tags, fields, schedule } = plan;
  const values = defaultValues(fields);
  return {
    key,
    title,
    description,
    category,
    tags: [...tags],
    fields,
    schedule,
    scheduleHuman: scheduleHuman(plan, values),
    command: printCommand({ key, values }, fields),
    appUrl: printLink({ key, values }, appScheme),
  };
}

/** Exactly the fields of §2.8, sorted by blueprint key. Prompts are not published. */
export function publish(plans: Iterable<BlueprintPlan>, appScheme: string): Catalog {
  const sorted = [...plans].sort((a, b) => (a.key < b.key ? -1 : 1));
  return sorted.map((plan) => publishOne(plan, appScheme));
}

/** The module's part of the compiler. */
export const blueprintCompiler: CompilerPart = { blueprints: { load: loadCatalogBlueprints, publish } };
