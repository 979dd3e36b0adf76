/** Fills a blueprint from the words of a command line: parses them, prompts for what is missing, and validates. */
import { intro, outro, select, text } from '@clack/prompts';
import { parseCommand, printCommand } from '../../compiler/blueprints/command.ts';
import { defaultValues } from '../../compiler/blueprints/expand.ts';
import type { BlueprintValues } from '../../compiler/blueprints/fields.ts';
import type { FilledBlueprint } from '../../compiler/blueprints/fill.ts';
import { checkValue, fillBlueprint } from '../../compiler/blueprints/fill.ts';
import { parseLink } from '../../compiler/blueprints/link.ts';
import type { ParsedTrigger, Trigger } from '../../compiler/blueprints/trigger.ts';
import { createTrigger } from '../../compiler/blueprints/trigger.ts';
import type { BlueprintField, BlueprintPlan } from '../../schemas/generated/types.ts';
import type { CliContext } from '../base/context.ts';
import { CliError, UsageError } from '../base/errors.ts';
import { canAsk } from '../output/prompter.ts';
import type { OpenCatalog } from './open-catalog.ts';
import { findBlueprint } from './open-catalog.ts';

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

/** The shell has already taken the quotes off: everything behind the first `=` is the value. */
function readAssignments(key: string, words: readonly string[]): ParsedTrigger {
  const pairs: (readonly [string, string])[] = [];
  for (const word of words) {
    const equals = word.indexOf('=');
    if (equals === -1) throw new UsageError(`"${word}" is not name=value`);
    pairs.push([word.slice(0, equals), word.slice(equals + 1)]);
  }
  return createTrigger(key, pairs);
}

function parseWords(first: string, rest: readonly string[], appScheme: string): ParsedTrigger {
  if (first.includes('://')) {
    if (rest.length > 0)
      throw new UsageError('a link takes no further values', 'quote it, so that `&` stays part of it');
    return parseLink(first, appScheme);
  }
  if (!first.trimStart().startsWith('/')) return readAssignments(first, rest);
  // Unquoted, the shell has made words of the command; quoted, it is one.
  const [key, ...values] = rest;
  return key === undefined ? parseCommand(first) : readAssignments(key, values);
}

/** @throws CliError saying what is wrong with a command or link. */
export function readTrigger(words: readonly string[], appScheme: string): Trigger {
  const [first = '', ...rest] = words;
  const parsed = parseWords(first, rest, appScheme);
  if (!parsed.ok) throw new CliError(parsed.message);
  return parsed.trigger;
}
