/** Prompts for the values of a blueprint, field by field, starting from the defaults. */

import { intro, outro, select, text } from '@clack/prompts';
import type { BlueprintValues } from '../../compiler/blueprints/fields.ts';
import { checkValue } from '../../compiler/blueprints/fill.ts';
import type { BlueprintField, BlueprintPlan } from '../../schemas/generated/types.ts';
import type { CliContext } from '../base/context.ts';
import { CliError } from '../base/errors.ts';

/** The menu entry behind which any name can be typed. No option can be empty. */
const OTHER = '';

/** The only symbol that a prompt returns means that the user cancelled. */
function answered(answer: string | symbol | undefined): string {
  if (typeof answer === 'symbol') throw new CliError('nothing was made');
  return answer ?? '';
}

async function askText(context: CliContext, field: BlueprintField): Promise<string> {
  const answer = await text({
    message: field.help === '' ? field.label : `${field.label} (${field.help})`,
    placeholder: field.default,
    initialValue: field.default,
    validate: (value) => checkValue(field, value) ?? undefined,
    input: context.stdin,
    output: context.stderr,
  });
  return answered(answer);
}

async function askChoice(context: CliContext, field: BlueprintField): Promise<string> {
  const options = field.options.map((value) => ({ value, label: value }));
  const other = { value: OTHER, label: 'another name…' };
  const answer = await select({
    message: field.help === '' ? field.label : `${field.label} (${field.help})`,
    options: field.strict ? options : [...options, other],
    initialValue: field.default,
    input: context.stdin,
    output: context.stderr,
  });
  const value = answered(answer);
  return value === OTHER ? askText(context, { ...field, label: 'Its name?', help: '', default: '' }) : value;
}

/** @throws CliError when the user cancels */
export async function askValues(context: CliContext, plan: BlueprintPlan): Promise<BlueprintValues> {
  intro(plan.title, { output: context.stderr });
  const values: Record<string, string> = {};
  for (const field of plan.fields) {
    values[field.name] = await (field.options.length > 0 ? askChoice(context, field) : askText(context, field));
  }
  outro(plan.description, { output: context.stderr });
  return values;
}
