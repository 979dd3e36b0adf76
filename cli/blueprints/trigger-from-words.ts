/** For commands that print a trigger: the given values, and defaults for the others. */
import { defaultValues } from '../../compiler/blueprints/expand.ts';
import type { Trigger } from '../../compiler/blueprints/trigger.ts';
import type { BlueprintPlan } from '../../schemas/generated/types.ts';
import type { CliContext } from '../base/context.ts';
import { canAsk } from '../output/prompter.ts';
import { fillFromWords } from './fill-from-words.ts';
import type { OpenCatalog } from './open-catalog.ts';

/** On a terminal, prompts for the values when none are given. @throws CliError naming every field that is wrong. */
export async function triggerFromWords(
  context: CliContext,
  catalog: OpenCatalog,
  words: readonly string[],
): Promise<{ readonly plan: BlueprintPlan; readonly trigger: Trigger }> {
  const withDefaults = words.length > 1 || !canAsk(context);
  const { plan, filled } = await fillFromWords(context, catalog, { words, withDefaults });
  return { plan, trigger: { key: plan.key, values: { ...defaultValues(plan.fields), ...filled.values } } };
}
