/**
 * Loads the blueprints of the catalog and the home, and lowers each to its plan, with complete fields and a schedule that
 * is valid for every choice of the user.
 */
import { join } from 'node:path';
import type { Finding, Lowered, NodePath, Problem } from '../../../compiler/diagnostics/diagnostic.ts';
import type { LoadedBlueprints } from '../../../compiler/module.ts';
import { parseSchedule } from '../../../compiler/schedule/parse-schedule.ts';
import type { Disk } from '../../../compiler/source/files.ts';
import type { Places } from '../../../compiler/source/find-place.ts';
import { findPlace } from '../../../compiler/source/find-place.ts';
import { loadCatalogFolder } from '../../../compiler/source/load-catalog.ts';
import type { CatalogInput } from '../../../compiler/stages/catalog.ts';
import type {
  BlueprintField,
  BlueprintFieldFile,
  BlueprintFile,
  BlueprintPlan,
} from '../../../schemas/generated/types.ts';
import type { BlueprintPlaceholder, BlueprintValues } from './fill.ts';
import {
  completeField,
  DELIVER_FIELD,
  dayField,
  expandSchedule,
  findPlaceholders,
  isTime,
  RESERVED_NAMES,
  timeField,
} from './fill.ts';

/** Loads the shipped blueprints and those in `<home_dir>/catalog/blueprints/`, which take precedence. */
interface BlueprintSearch extends Disk {
  /** Absolute paths. Blueprints in later folders replace those in earlier ones. Missing folders count as empty. */
  readonly folders: readonly string[];
}

/** The blueprints of a home and the shipped ones, which were checked by the build. */
export function loadCatalogBlueprints({ files, cwd, home, catalog }: CatalogInput): LoadedBlueprints {
  const shipped = Object.values(catalog.blueprints).map((file) => [file.key, planOf(file)] as const);
  const { plans, findings } = loadBlueprints({ files, cwd, folders: [join(home, 'catalog', 'blueprints')] });
  return { plans: sorted(new Map([...shipped, ...plans])), findings };
}

export function loadBlueprints({ folders, ...disk }: BlueprintSearch): LoadedBlueprints {
  const findings: Finding[] = [];
  const plans = new Map<string, BlueprintPlan>();
  for (const folder of folders) {
    const loaded = loadCatalogFolder({ ...disk, folder, schema: 'blueprint' });
    // Two files in one folder must not define the same key.
    const first = new Map<string, Places>();
    for (const { value, tree } of loaded.entries) {
      const { plan, problems } = lowerBlueprint(value);
      findings.push(...problems.map((problem) => findPlace(problem, tree)));
      if (plan === null) continue;
      const other = first.get(plan.key);
      if (other !== undefined) {
        findings.push(duplicate(plan.key, other, tree));
        continue;
      }
      first.set(plan.key, tree);
      plans.set(plan.key, plan);
    }
    findings.push(...loaded.findings);
  }
  return { plans: sorted(plans), findings };
}

const sorted = (plans: ReadonlyMap<string, BlueprintPlan>): ReadonlyMap<string, BlueprintPlan> =>
  new Map([...plans].sort(([a], [b]) => (a < b ? -1 : 1)));

function duplicate(key: string, first: Places, again: Places): Finding {
  const message = `blueprint \`${key}\` is defined in two files`;
  const finding = findPlace({ rule: 'duplicate-definition', path: ['key'], at: 'value', message }, again);
  const there = first.place(['key']);
  const related = { source: there.file.source, range: there.value, message: 'it is first defined here' };
  return { ...finding, related: [related] };
}

/** Paths of problems are relative to the file. Schedule and prompt are checked only if the fields are valid. */
export function lowerBlueprint(file: BlueprintFile): Lowered<BlueprintPlan> {
  const faultyFields = checkFields(file.fields);
  if (faultyFields.length > 0) return { plan: null, problems: faultyFields };
  const plan = planOf(file);
  const errors = [...checkSchedule({ ...plan, schedule: file.schedule }), ...checkPrompt(plan)];
  return errors.length > 0 ? { plan: null, problems: errors } : { plan, problems: checkUnused(plan) };
}

/** The plan of a file without errors. */
function planOf(file: BlueprintFile): BlueprintPlan {
  return {
    key: file.key,
    title: file.title,
    description: file.description,
    category: file.category,
    tags: [...file.tags],
    fields: [...file.fields.map(completeField), DELIVER_FIELD],
    schedule: file.schedule.trim().split(/\s+/).join(' '),
    prompt: file.prompt,
    skills: [...(file.skills ?? [])],
  };
}

/** Checks the fields of a blueprint: their names, options and defaults, and that schedule and prompt use them. */
function checkFields(fields: readonly BlueprintFieldFile[]): readonly Problem[] {
  return fields.flatMap((field, index) => {
    const path = ['fields', index];
    return [
      ...checkName(field, path, fields.slice(0, index)),
      ...checkOptions(field, path),
      ...checkDefault(field, [...path, 'default']),
    ];
  });
}

function checkDefault(field: BlueprintFieldFile, path: NodePath): Problem[] {
  const message = faultOf(field);
  return message === null ? [] : [{ rule: 'blueprint-default', path, at: 'value', message }];
}

function faultOf(file: BlueprintFieldFile): string | null {
  const field = completeField(file);
  if (field.type === 'time') return isTime(field.default) ? null : 'the default of a `time` field is a 24-hour `HH:MM`';
  if (field.default === '') return 'the default is empty; set the value that most users would choose';
  if (field.type === 'text' || field.options.length === 0 || field.options.includes(field.default)) return null;
  const options = field.options.map((option) => `\`${option}\``).join(', ');
  return `the default \`${field.default}\` is not one of the options ${options}`;
}

function checkName(field: BlueprintFieldFile, path: NodePath, earlier: readonly BlueprintFieldFile[]): Problem[] {
  const at = { path: [...path, 'name'], at: 'value' } as const;
  if (RESERVED_NAMES.includes(field.name)) {
    const why = field.name === 'deliver' ? 'is added to every blueprint' : 'is derived for the schedule';
    return [{ rule: 'blueprint-field', ...at, message: `the name \`${field.name}\` ${why}; choose another one` }];
  }
  const first = earlier.findIndex((other) => other.name === field.name);
  if (first === -1) return [];
  const related = [{ path: ['fields', first, 'name'], message: 'the first one is here' }];
  return [{ rule: 'blueprint-field', ...at, message: `a second field named \`${field.name}\``, related }];
}

function checkOptions(field: BlueprintFieldFile, path: NodePath): Problem[] {
  const { type, options } = field;
  if (type === 'enum') {
    if (options === undefined) {
      return [{ rule: 'blueprint-field', path, at: 'key', message: 'an `enum` field needs `options`' }];
    }
    const repeated = options.findIndex((option, index) => options.indexOf(option) !== index);
    if (repeated === -1) return [];
    const at = { path: [...path, 'options', repeated], at: 'value' } as const;
    return [{ rule: 'blueprint-field', ...at, message: `the option \`${options[repeated]}\` is listed twice` }];
  }
  if (options === undefined) return [];
  const why = type === 'weekdays' ? 'a `weekdays` field has its own options' : `a \`${type}\` field takes no options`;
  const at = { path: [...path, 'options'], at: 'key' } as const;
  return [{ rule: 'blueprint-field', ...at, message: `${why}; remove \`options\`, or make it an \`enum\`` }];
}

/** Reports placeholders of the prompt that no field fills. */
function checkPrompt({ prompt, fields }: Pick<BlueprintPlan, 'prompt' | 'fields'>): readonly Problem[] {
  const names = fields.map((field) => field.name);
  return findPlaceholders(prompt)
    .filter(({ name }) => !names.includes(name))
    .map(({ name, offset, length }) => ({
      rule: 'blueprint-prompt',
      path: ['prompt'],
      at: 'value',
      within: { offset, length },
      message: `no field fills \`{${name}}\`; the fields are ${names.map((other) => `\`${other}\``).join(', ')}`,
    }));
}

/** Reports fields that neither the schedule nor the prompt uses. */
function checkUnused(blueprint: Pick<BlueprintPlan, 'prompt' | 'fields' | 'schedule'>): readonly Problem[] {
  const inPrompt = new Set(findPlaceholders(blueprint.prompt).map(({ name }) => name));
  const inSchedule = scheduleFields(blueprint);
  const isUsed = (field: BlueprintField): boolean =>
    field.name === DELIVER_FIELD.name || inPrompt.has(field.name) || inSchedule.includes(field);
  return blueprint.fields.flatMap((field, index): readonly Problem[] => {
    if (isUsed(field)) return [];
    const message = `\`${field.name}\` is used neither in the schedule nor in the prompt`;
    return [{ rule: 'blueprint-unused-field', path: ['fields', index, 'name'], at: 'value', message }];
  });
}

/** Checks the schedule for every choice of the user. Reports only the first combination that makes it invalid. */
function checkSchedule(blueprint: Pick<BlueprintPlan, 'fields' | 'schedule'>): readonly Problem[] {
  const unfilled = checkPlaceholders(blueprint.schedule, blueprint.fields);
  if (unfilled.length > 0) return unfilled;
  const count = countCombinations(blueprint);
  if (count > MAX_COMBINATIONS) {
    return [{ ...AT, message: `${count} combinations are too many to check; the maximum is ${MAX_COMBINATIONS}` }];
  }
  for (const { values, schedule } of combinations(blueprint)) {
    const parsed = parseSchedule(schedule);
    if (parsed.ok) continue;
    const about =
      Object.keys(values).length === 0 ? '' : `with ${printValues(values)} the schedule is \`${schedule}\`: `;
    return [{ ...AT, message: `${about}${parsed.message}` }];
  }
  return [];
}

/** Checking this many takes about a second. */
const MAX_COMBINATIONS = 50_000;

const AT = { rule: 'blueprint-schedule', path: ['schedule'], at: 'value' } as const;

/** Returns why a placeholder cannot be filled, or null. */
function placeholderFault(name: string, fields: readonly BlueprintField[]): string | null {
  if (name === 'minute' || name === 'hour') {
    return timeField(fields) === null ? `\`{${name}}\` needs exactly one field of type \`time\`` : null;
  }
  if (name === 'dow') {
    return dayField(fields) === null ? '`{dow}` needs exactly one field whose options are days of the week' : null;
  }
  const field = fields.find((other) => other.name === name);
  if (field === undefined) {
    const known = [...fields.map((other) => other.name), 'minute', 'hour', 'dow'].map((other) => `\`${other}\``);
    return `no field fills \`{${name}}\`; the fields are ${known.join(', ')}`;
  }
  if (field.type === 'time') return `use \`{minute}\` and \`{hour}\` in place of \`{${name}}\``;
  if (field.type === 'text') return `\`${name}\` takes any text and cannot be part of a schedule`;
  return field.strict ? null : `\`${name}\` accepts values besides its options, and cannot be part of a schedule`;
}

function checkPlaceholders(schedule: string, fields: readonly BlueprintField[]): readonly Problem[] {
  const fault = ({ name, offset, length }: BlueprintPlaceholder): Problem[] => {
    const message = placeholderFault(name, fields);
    if (message === null) return [];
    const within = { offset, length };
    return [{ ...AT, within, message }];
  };
  const problems = findPlaceholders(schedule).flatMap(fault);
  if (problems.length > 0 || !/[{}]/.test(schedule.replace(/\{[a-z0-9_]+\}/g, ''))) return problems;
  return [{ ...AT, message: 'a brace here is not part of a `{name}` placeholder' }];
}

function printValues(values: BlueprintValues): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');
}

type Scheduled = Pick<BlueprintPlan, 'fields' | 'schedule'>;

/** Times that cover every hour and every minute at least once. */
const TIMES: readonly string[] = [
  ...Array.from({ length: 24 }, (_, hour) => `${String(hour).padStart(2, '0')}:00`),
  ...Array.from({ length: 59 }, (_, minute) => `00:${String(minute + 1).padStart(2, '0')}`),
  '23:59',
];

/** The fields that the schedule uses, directly or through `{minute}`, `{hour}` and `{dow}`. */
export function scheduleFields({ fields, schedule }: Scheduled): readonly BlueprintField[] {
  const names = new Set(findPlaceholders(schedule).map(({ name }) => name));
  const time = names.has('minute') || names.has('hour') ? timeField(fields) : null;
  const day = names.has('dow') ? dayField(fields) : null;
  return fields.filter((field) => names.has(field.name) || field === time || field === day);
}

function choices(field: BlueprintField): readonly string[] {
  return field.type === 'time' ? TIMES : field.options;
}

/** The number of combinations, without creating them. */
function countCombinations(blueprint: Scheduled): number {
  return scheduleFields(blueprint).reduce((count, field) => count * choices(field).length, 1);
}

interface Combination {
  readonly values: BlueprintValues;
  readonly schedule: string;
}

/** Combines every option of every enum and weekdays field with every hour and every minute. */
function* combinations(blueprint: Scheduled): Generator<Combination> {
  const fields = scheduleFields(blueprint);
  let rows: readonly BlueprintValues[] = [{}];
  for (const field of fields) {
    rows = rows.flatMap((row) => choices(field).map((choice) => ({ ...row, [field.name]: choice })));
  }
  for (const values of rows) yield { values, schedule: expandSchedule(blueprint, values) };
}
