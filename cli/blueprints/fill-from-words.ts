/** Fills a blueprint from the words of a command line: parses them, prompts for what is missing, and validates. */

import { printCommand } from '../../compiler/blueprints/command.ts';
import { defaultValues } from '../../compiler/blueprints/expand.ts';
import type { BlueprintValues } from '../../compiler/blueprints/fields.ts';
import type { FilledBlueprint } from '../../compiler/blueprints/fill.ts';
import { fillBlueprint } from '../../compiler/blueprints/fill.ts';
import type { BlueprintPlan } from '../../schemas/generated/types.ts';
import type { CliContext } from '../base/context.ts';
import { CliError } from '../base/errors.ts';
import { canAsk } from '../output/prompter.ts';
import { askValues } from './ask-values.ts';
import type { OpenCatalog } from './open-catalog.ts';
import { findBlueprint } from './open-catalog.ts';
import { readTrigger } from './read-trigger.ts';

export interface Words {
  readonly words: readonly string[];
  /** Fields that are not given take their default. */
  readonly withDefaults: boolean;
}

export interface FilledWords {
  readonly plan: BlueprintPlan;
  readonly filled: FilledBlueprint;
}

/** All errors, one per line; nothing was created. */
function refuse(plan: BlueprintPlan, messages: readonly string[]): CliError {
  const example = printCommand({ key: plan.key, values: defaultValues(plan.fields) }, plan.fields);
  const [first = '', ...others] = messages;
  return new CliError(first, ...others, `with every default: ${example}`);
}

async function chooseValues(
  context: CliContext,
  plan: BlueprintPlan,
  given: BlueprintValues,
): Promise<BlueprintValues> {
  return Object.keys(given).length === 0 && canAsk(context) ? askValues(context, plan) : given;
}

/**
 * @throws CliError naming every field that is wrong and what it takes.
 */
export async function fillFromWords(context: CliContext, catalog: OpenCatalog, given: Words): Promise<FilledWords> {
  const trigger = readTrigger(given.words, catalog.appScheme);
  const plan = findBlueprint(catalog, trigger.key);
  const base = given.withDefaults ? defaultValues(plan.fields) : {};
  const values = given.withDefaults ? trigger.values : await chooseValues(context, plan, trigger.values);
  const filled = fillBlueprint(plan, { ...base, ...values });
  if (!filled.ok)
    throw refuse(
      plan,
      filled.problems.map((problem) => problem.message),
    );
  return { plan, filled: filled.filled };
}
