/** The published catalog (§2.8): what `build/blueprints.json` holds and `GET /blueprints` answers. */
import type { BlueprintField, BlueprintPlan, Catalog, PublishedBlueprint } from '../../schemas/generated/types.ts';
import { printCommand } from './command.ts';
import { scheduleHuman } from './derive.ts';
import { defaultValues } from './expand.ts';
import { printLink } from './link.ts';

/** In the order of §2.8, so that the same plan gives the same bytes. */
function publishField(field: BlueprintField): BlueprintField {
  const { name, type, label, default: value, options, optional, strict, help } = field;
  return { name, type, label, default: value, options: [...options], optional, strict, help };
}

function publishOne(plan: BlueprintPlan, appScheme: string): PublishedBlueprint {
  const { key, title, description, category, tags, fields, schedule } = plan;
  const values = defaultValues(fields);
  return {
    key,
    title,
    description,
    category,
    tags: [...tags],
    fields: fields.map(publishField),
    schedule,
    scheduleHuman: scheduleHuman(plan, values),
    command: printCommand({ key, values }, fields),
    appUrl: printLink({ key, values }, appScheme),
  };
}

/** Exactly the fields of §2.8, ordered by key. The prompts stay in the table. */
export function publish(plans: Iterable<BlueprintPlan>, appScheme: string): Catalog {
  const sorted = [...plans].sort((a, b) => (a.key < b.key ? -1 : 1));
  return sorted.map((plan) => publishOne(plan, appScheme));
}

/** The bytes of `build/blueprints.json`. */
export function printCatalog(catalog: Catalog): string {
  return `${JSON.stringify(catalog, null, 2)}\n`;
}
