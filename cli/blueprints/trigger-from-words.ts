/** For the commands that print a trigger: the values given, and the defaults for all others. */
import { defaultValues } from '../../compiler/blueprints/expand.ts';
import type { Trigger } from '../../compiler/blueprints/trigger.ts';
import type { BlueprintPlan } from '../../schemas/generated/types.ts';
import type { CliContext } from '../base/context.ts';
import { canAsk } from '../setup/prompter.ts';
import { fillFromWords } from './fill-from-words.ts';
import type { OpenCatalog } from './open-catalog.ts';

/** A person at a terminal who gives no values is asked for them. @throws CliError naming every field that is wrong. */
export async function triggerFromWords(
  context: CliContext,
  catalog: OpenCatalog,
  words: readonly string[],
): Promise<{ readonly plan: BlueprintPlan; readonly trigger: Trigger }> {
  const withDefaults = words.length > 1 || !canAsk(context);
  const { plan, filled } = await fillFromWords(context, catalog, { words, withDefaults });
  return { plan, trigger: { key: plan.key, values: { ...defaultValues(plan.fields), ...filled.values } } };
}
