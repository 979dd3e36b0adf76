/** `hookwright blueprint`: lists and fills blueprints, prints their commands and links, and creates jobs from them. */
import { text as askText, intro, outro, select } from '@clack/prompts';
import { stringify } from 'yaml';
import { DEFAULT_PROFILE } from '../../../base/names.ts';
import { createPaint } from '../../../base/paint.ts';
import type { CliContext } from '../../../cli/base/context.ts';
import { CliError, UsageError } from '../../../cli/base/errors.ts';
import { argument, command, flag, restArguments, text, withDefault } from '../../../cli/command-line/command.ts';
import { byOption, configOption, jsonOption } from '../../../cli/command-line/options.ts';
import { chooseTimezone, printJob } from '../../../cli/jobs/draft-job.ts';
import { openJobs } from '../../../cli/jobs/open-jobs.ts';
import { printJson, printLine, visible } from '../../../cli/output/print.ts';
import { canPrompt } from '../../../cli/output/prompter.ts';
import { formatInstant, printList } from '../../../cli/output/table.ts';
import { makeStore } from '../../../cli/store/use-store.ts';
import { nextRuns } from '../../../compiler/schedule/parse-schedule.ts';
import type { BlueprintField, BlueprintPlan } from '../../../schemas/generated/types.ts';
import type { BlueprintValues, FilledBlueprint } from '../compiler/fill.ts';
import { checkValue, defaultValues, describeField, fillBlueprint } from '../compiler/fill.ts';
import { publish } from '../compiler/publish.ts';
import type { ParsedTrigger, Trigger } from '../compiler/trigger.ts';
import { createTrigger, parseCommand, parseLink, printCommand, printLink } from '../compiler/trigger.ts';
import type { OpenCatalog } from './catalog.ts';
import { findBlueprint, openCatalog } from './catalog.ts';
import { createFilledJob } from './filled-job.ts';

/** `hookwright blueprint list`: the shipped blueprints and the user's own. */
export const blueprintListCommand = command({
  options: {
    json: flag('Print the published entries as JSON'),
    category: text('name', 'Only this category or tag'),
    config: configOption,
  },
  async run(context, given) {
    const { plans, appScheme } = await openCatalog(context, given);
    const { category } = given;
    const entries = publish(plans.values(), appScheme).filter(
      (entry) => category === undefined || entry.category === category || entry.tags.includes(category),
    );
    printList(context, entries, {
      json: given.json,
      columns: [
        { title: 'KEY', value: ({ key }) => key, whole: true },
        { title: 'CATEGORY', value: ({ category }) => category },
        { title: 'WHEN', value: ({ scheduleHuman }) => scheduleHuman },
        { title: 'DESCRIPTION', value: ({ description }) => description },
      ],
      empty: 'no blueprints in that category',
    });
  },
});

const RUNS = 5;

/** `hookwright blueprint show`: one blueprint with its fields and next runs. */
export const blueprintShowCommand = command({
  options: {
    json: jsonOption,
    timezone: text('zone', 'IANA time zone; default: the time zone of new jobs'),
    config: configOption,
  },
  args: { key: argument('key'), values: restArguments('name=value') },
  async run(context, given) {
    const catalog = await openCatalog(context, given);
    const { plan, filled } = await fillFromWords(context, catalog, given, true);
    const { schedule, schedule_human, values } = filled;
    const timezone = chooseTimezone(given.timezone, catalog.timezone);
    const runs = nextRuns({ schedule, timezone, from: context.clock.now(), count: RUNS });
    if (!given.json) {
      for (const line of describe(context, catalog, { plan, timezone, runs, filled })) printLine(context, line);
      return;
    }
    // The published entry and the result for these values.
    const [entry] = publish([plan], catalog.appScheme);
    const next_runs = runs.map((at) => new Date(at).toISOString());
    printJson(context, { ...entry, values, cron: schedule, schedule_human, timezone, next_runs });
  },
});

interface ShownBlueprint {
  readonly plan: BlueprintPlan;
  readonly timezone: string;
  readonly runs: readonly number[];
  /** Filled with the given values, and defaults for the others. */
  readonly filled: FilledBlueprint;
}

function describe(
  context: CliContext,
  { appScheme }: OpenCatalog,
  { plan, timezone, runs, filled }: ShownBlueprint,
): string[] {
  const paint = createPaint(context.colour.stdout);
  const trigger = { key: plan.key, values: filled.values };
  const fields = plan.fields.flatMap((field) => [
    `  ${paint('bold', field.name)}  ${visible(field.label)}`,
    `      ${describeField(field)}; default: ${visible(field.default)}`,
    ...(field.help === '' ? [] : [`      ${paint('dim', visible(field.help))}`]),
  ]);
  return [
    `${paint('bold', visible(plan.title))} (${plan.key}, ${plan.category})`,
    visible(plan.description),
    '',
    'Fields:',
    ...fields,
    '',
    `Command:  ${visible(printCommand(trigger, plan.fields))}`,
    `Link:     ${visible(printLink(trigger, appScheme))}`,
    '',
    `Runs ${filled.schedule_human} (cron ${filled.schedule}), in ${timezone}. Next:`,
    ...runs.map((at) => `  ${formatInstant(at, timezone)}`),
  ];
}

/** `hookwright blueprint fill`: prints the job for a blueprint and values, without creating it. */
export const blueprintFillCommand = command({
  options: {
    json: jsonOption,
    defaults: flag('Use the default of every field without a value'),
    timezone: text('zone', 'IANA zone of the job. Default: gateway.timezone'),
    config: configOption,
  },
  args: { key: argument('key'), values: restArguments('name=value') },
  async run(context, given) {
    const catalog = await openCatalog(context, given);
    const { filled } = await fillFromWords(context, catalog, given, given.defaults);
    const timezone = chooseTimezone(given.timezone, catalog.timezone);
    if (given.json) {
      const runs = nextRuns({ schedule: filled.schedule, timezone, from: context.clock.now(), count: RUNS });
      printJson(context, { ...filled, timezone, next_runs: runs.map((at) => new Date(at).toISOString()) });
    } else context.stdout.write(printJobsSection(filled, timezone));
  },
});

/** The job as written in a config, without keys that have their default. */
function printJobsSection(filled: FilledBlueprint, timezone: string): string {
  const { blueprint, title, schedule, prompt, deliver, skills } = filled;
  const job = { description: title, schedule, timezone, prompt, deliver, ...(skills.length > 0 ? { skills } : {}) };
  return stringify({ jobs: { [blueprint]: job } }, { lineWidth: 0 });
}

/** `hookwright blueprint command`: prints the chat command for a blueprint and values. */
export const blueprintCommandCommand = command({
  options: { config: configOption },
  args: { key: argument('key'), values: restArguments('name=value') },
  async run(context, given) {
    const catalog = await openCatalog(context, given);
    const { plan, trigger } = await triggerFromWords(context, catalog, given);
    printLine(context, printCommand(trigger, plan.fields));
  },
});

/** `hookwright blueprint link`: prints the application link for a blueprint and values. */
export const blueprintLinkCommand = command({
  options: {
    appScheme: text('scheme', 'URL scheme of the link; default: `app_scheme`'),
    config: configOption,
  },
  args: { key: argument('key'), values: restArguments('name=value') },
  async run(context, given) {
    const catalog = await openCatalog(context, given);
    const { trigger } = await triggerFromWords(context, catalog, given);
    printLine(context, printLink(trigger, catalog.appScheme));
  },
});

/** `hookwright blueprint create`: creates a job from a blueprint, a chat command or an application link. */
export const blueprintCreateCommand = command({
  options: {
    name: text('name', "Name of the job; default: the blueprint's key"),
    defaults: flag('Use the default of every field without a value'),
    timezone: text('zone', 'IANA zone of the job. Default: gateway.timezone'),
    profile: withDefault(DEFAULT_PROFILE, text('profile', 'Profile of the job')),
    by: byOption,
    config: configOption,
    json: jsonOption,
  },
  args: { key: argument('key'), values: restArguments('name=value') },
  async run(context, given) {
    const { name, profile } = given;
    const catalog = await openCatalog(context, given);
    const { filled } = await fillFromWords(context, catalog, given, given.defaults);
    const open = await openJobs(context, given.config);
    const timezone = chooseTimezone(given.timezone, open.table.gateway.timezone ?? context.timezone);
    const createdJob = await makeStore(context, (store) =>
      createFilledJob(filled, { name, profile, timezone, origin: null }, { store, open, context }),
    );
    printJob(context, { ...createdJob, verb: 'created', open }, given.json);
  },
});

/** The arguments with a blueprint and its values. */
export interface BlueprintWords {
  /** A blueprint, a command or a link. */
  readonly key: string;
  /** `name=value`, or the words of a command. */
  readonly values: readonly string[];
}

/**
 * @param defaults whether missing fields get their default
 * @throws CliError with every invalid field and its accepted values
 */
export async function fillFromWords(
  context: CliContext,
  catalog: OpenCatalog,
  words: BlueprintWords,
  defaults: boolean,
): Promise<{ readonly plan: BlueprintPlan; readonly filled: FilledBlueprint }> {
  const trigger = readTrigger(words, catalog.appScheme);
  const plan = findBlueprint(catalog, trigger.key);
  const asks = !defaults && Object.keys(trigger.values).length === 0 && canPrompt(context);
  const values = asks ? await askValues(context, plan) : trigger.values;
  const filled = fillBlueprint(plan, { ...(defaults ? defaultValues(plan.fields) : {}), ...values });
  if (filled.ok) return { plan, filled: filled.filled };
  const example = printCommand({ key: plan.key, values: defaultValues(plan.fields) }, plan.fields);
  const [first = '', ...others] = filled.problems.map(({ message }) => message);
  throw new CliError(first, ...others, `with every default: ${example}`);
}

/** The menu entry for typing any name. No option of a blueprint is empty. */
const OTHER = '';

/** A prompt returns a symbol if the user cancels it. */
function answered(answer: string | symbol | undefined): string {
  if (typeof answer === 'symbol') throw new CliError('cancelled; nothing was created');
  return answer ?? '';
}

/** @param typed whether the value is typed or chosen from a menu */
async function ask(context: CliContext, field: BlueprintField, typed: boolean): Promise<string> {
  const { label, help, options, strict } = field;
  const question = {
    message: help === '' ? label : `${label} (${help})`,
    initialValue: field.default,
    input: context.stdin,
    output: context.terminal ?? context.stderr,
  };
  if (typed) {
    const validate = (value: string | undefined): string | undefined => checkValue(field, value) ?? undefined;
    return answered(await askText({ ...question, placeholder: field.default, validate }));
  }
  const named = options.map((value) => ({ value, label: value }));
  const other = { value: OTHER, label: 'another name…' };
  const value = answered(await select({ ...question, options: strict ? named : [...named, other] }));
  return value === OTHER ? ask(context, { ...field, label: 'Name?', help: '', default: '' }, true) : value;
}

/** @throws CliError if the user cancels */
async function askValues(context: CliContext, plan: BlueprintPlan): Promise<BlueprintValues> {
  intro(plan.title, { output: context.terminal ?? context.stderr });
  const values: Record<string, string> = {};
  for (const field of plan.fields) {
    values[field.name] = await ask(context, field, field.options.length === 0);
  }
  outro(plan.description, { output: context.terminal ?? context.stderr });
  return values;
}

/** Prompts for the values if there are none and there is a terminal. @throws CliError with every invalid field */
export async function triggerFromWords(
  context: CliContext,
  catalog: OpenCatalog,
  words: BlueprintWords,
): Promise<{ readonly plan: BlueprintPlan; readonly trigger: Trigger }> {
  const { plan, filled } = await fillFromWords(context, catalog, words, words.values.length > 0 || !canPrompt(context));
  return { plan, trigger: { key: plan.key, values: { ...defaultValues(plan.fields), ...filled.values } } };
}

/** The shell has removed the quotes, so everything after the first `=` is the value. */
function readAssignments(key: string, words: readonly string[]): ParsedTrigger {
  const pairs = words.map((word) => {
    const equals = word.indexOf('=');
    if (equals === -1) throw new UsageError(`"${word}" is not name=value`);
    return [word.slice(0, equals), word.slice(equals + 1)] as const;
  });
  return createTrigger(key, pairs);
}

function parseWords(first: string, rest: readonly string[], appScheme: string): ParsedTrigger {
  if (first.includes('://')) {
    if (rest.length > 0)
      throw new UsageError('a link cannot be followed by values', 'quote the link: the shell splits it at `&`');
    return parseLink(first, appScheme);
  }
  if (!first.trimStart().startsWith('/')) return readAssignments(first, rest);
  // An unquoted command is several words, a quoted one is one word.
  const [key, ...values] = rest;
  return key === undefined ? parseCommand(first) : readAssignments(key, values);
}

/** @throws CliError with the problem of a command or link */
export function readTrigger({ key, values }: BlueprintWords, appScheme: string): Trigger {
  const parsed = parseWords(key, values, appScheme);
  if (!parsed.ok) throw new CliError(parsed.message);
  return parsed.trigger;
}
