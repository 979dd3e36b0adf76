/** Fills a blueprint from the words of a command line: parses them, prompts for what is missing, and validates. */
import { intro, outro, select, text } from '@clack/prompts';
import type { CliContext } from '../../../cli/base/context.ts';
import { CliError, UsageError } from '../../../cli/base/errors.ts';
import { canAsk } from '../../../cli/output/prompter.ts';
import type { BlueprintField, BlueprintPlan } from '../../../schemas/generated/types.ts';
import { parseCommand, printCommand } from '../compiler/command.ts';
import { defaultValues } from '../compiler/expand.ts';
import type { BlueprintValues } from '../compiler/fields.ts';
import type { FilledBlueprint } from '../compiler/fill.ts';
import { checkValue, fillBlueprint } from '../compiler/fill.ts';
import { parseLink } from '../compiler/link.ts';
import type { ParsedTrigger, Trigger } from '../compiler/trigger.ts';
import { createTrigger } from '../compiler/trigger.ts';
import type { OpenCatalog } from './open-catalog.ts';
import { findBlueprint } from './open-catalog.ts';

/** The words of a command line that describe a blueprint's values. */
export interface Words {
  /** A blueprint, a command or a link. */
  readonly key: string;
  /** `name=value`, or the words of a command. */
  readonly values: readonly string[];
}

interface FilledWords {
  readonly plan: BlueprintPlan;
  readonly filled: FilledBlueprint;
}

/** All errors, one per line; nothing was created. */
function refuse(plan: BlueprintPlan, messages: readonly string[]): CliError {
  const example = printCommand({ key: plan.key, values: defaultValues(plan.fields) }, plan.fields);
  const [first = '', ...others] = messages;
  return new CliError(first, ...others, `with every default: ${example}`);
}

/**
 * @param defaults fields that are not given take their default
 * @throws CliError naming every field that is wrong and what it takes.
 */
export async function fillFromWords(
  context: CliContext,
  catalog: OpenCatalog,
  words: Words,
  defaults: boolean,
): Promise<FilledWords> {
  const trigger = readTrigger(words, catalog.appScheme);
  const plan = findBlueprint(catalog, trigger.key);
  const asks = !defaults && Object.keys(trigger.values).length === 0 && canAsk(context);
  const values = asks ? await askValues(context, plan) : trigger.values;
  const filled = fillBlueprint(plan, { ...(defaults ? defaultValues(plan.fields) : {}), ...values });
  if (filled.ok) return { plan, filled: filled.filled };
  throw refuse(
    plan,
    filled.problems.map((problem) => problem.message),
  );
}

/** The menu entry behind which any name can be typed. No option can be empty. */
const OTHER = '';

/** The only symbol that a prompt returns means that the user cancelled. */
function answered(answer: string | symbol | undefined): string {
  if (typeof answer === 'symbol') throw new CliError('nothing was made');
  return answer ?? '';
}

/** @param typed whether the value is typed, or chosen in a menu */
async function ask(context: CliContext, field: BlueprintField, typed: boolean): Promise<string> {
  const { label, help, options, strict } = field;
  const question = {
    message: help === '' ? label : `${label} (${help})`,
    initialValue: field.default,
    input: context.stdin,
    output: context.stderr,
  };
  if (typed) {
    const validate = (value: string | undefined): string | undefined => checkValue(field, value) ?? undefined;
    return answered(await text({ ...question, placeholder: field.default, validate }));
  }
  const named = options.map((value) => ({ value, label: value }));
  const other = { value: OTHER, label: 'another name…' };
  const value = answered(await select({ ...question, options: strict ? named : [...named, other] }));
  return value === OTHER ? ask(context, { ...field, label: 'Its name?', help: '', default: '' }, true) : value;
}

/** @throws CliError when the user cancels */
async function askValues(context: CliContext, plan: BlueprintPlan): Promise<BlueprintValues> {
  intro(plan.title, { output: context.stderr });
  const values: Record<string, string> = {};
  for (const field of plan.fields) {
    values[field.name] = await ask(context, field, field.options.length === 0);
  }
  outro(plan.description, { output: context.stderr });
  return values;
}

/** On a terminal, prompts for the values when none are given. @throws CliError naming every field that is wrong. */
export async function triggerFromWords(
  context: CliContext,
  catalog: OpenCatalog,
  words: Words,
): Promise<{ readonly plan: BlueprintPlan; readonly trigger: Trigger }> {
  const { plan, filled } = await fillFromWords(context, catalog, words, words.values.length > 0 || !canAsk(context));
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
export function readTrigger({ key, values }: Words, appScheme: string): Trigger {
  const parsed = parseWords(key, values, appScheme);
  if (!parsed.ok) throw new CliError(parsed.message);
  return parsed.trigger;
}
