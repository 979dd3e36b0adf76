import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lowerBlueprint } from '../../../modules/blueprints/compiler/load-blueprints.ts';
import type { BlueprintFieldFile, BlueprintFile } from '../../../schemas/generated/types.ts';

const TIME: BlueprintFieldFile = { name: 'time', type: 'time', label: 'When?', default: '08:00' };
const DAYS: BlueprintFieldFile = { name: 'recurrence', type: 'weekdays', label: 'Days?', default: 'everyday' };
const TEXT: BlueprintFieldFile = { name: 'what', type: 'text', label: 'What?', default: 'tea' };
const STEP: BlueprintFieldFile = {
  name: 'step',
  type: 'enum',
  label: 'How often?',
  default: '15',
  options: ['15', '30'],
};

function file(change: Partial<BlueprintFile>): BlueprintFile {
  return {
    key: 'sample',
    title: 'Sample',
    description: 'A sample.',
    category: 'general',
    tags: [],
    fields: [TIME],
    schedule: '{minute} {hour} * * *',
    prompt: 'Hello.',
    ...change,
  };
}

function options(...values: [string, ...string[]]): [string, ...string[]] {
  return values;
}

interface Case {
  readonly name: string;
  readonly change: Partial<BlueprintFile>;
  readonly rule: string;
  readonly path: readonly (string | number)[];
  readonly message: RegExp;
}

const REFUSED: readonly Case[] = [
  {
    name: 'a default that is not among the options',
    change: { fields: [{ ...STEP, default: '20' }], schedule: '*/{step} * * * *' },
    rule: 'blueprint-default',
    path: ['fields', 0, 'default'],
    message: /`20`.*`15`.*`30`/,
  },
  {
    name: 'a default of weekdays that is none of its three options',
    change: { fields: [TIME, { ...DAYS, default: 'sunday' }], schedule: '{minute} {hour} * * {dow}' },
    rule: 'blueprint-default',
    path: ['fields', 1, 'default'],
    message: /`sunday`.*`everyday`.*`weekdays`.*`weekends`/,
  },
  {
    name: 'a default time without its leading zero',
    change: { fields: [{ ...TIME, default: '8:00' }] },
    rule: 'blueprint-default',
    path: ['fields', 0, 'default'],
    message: /24-hour `HH:MM`/,
  },
  {
    name: 'an empty default',
    change: { fields: [TIME, { ...TEXT, default: '' }] },
    rule: 'blueprint-default',
    path: ['fields', 1, 'default'],
    message: /empty/,
  },
  {
    name: 'one option of several that makes an invalid schedule',
    change: { fields: [{ ...STEP, options: options('15', '90') }], schedule: '*/{step} * * * *' },
    rule: 'blueprint-schedule',
    path: ['schedule'],
    message: /90.*`\*\/90 \* \* \* \*`/,
  },
  {
    name: 'a pair of options that are only wrong together',
    change: {
      fields: [
        { ...STEP, name: 'from', default: '9', options: options('9', '18') },
        { ...STEP, name: 'until', default: '17', options: options('17', '20') },
      ],
      schedule: '0 {from}-{until} * * *',
    },
    rule: 'blueprint-schedule',
    path: ['schedule'],
    message: /18.*17.*`0 18-17 \* \* \*`/,
  },
  {
    name: 'a time that is only wrong at some hours of the day',
    change: { schedule: '{minute} {hour}-17 * * *' },
    rule: 'blueprint-schedule',
    path: ['schedule'],
    message: /18.*00.*`0 18-17 \* \* \*`/,
  },
  {
    name: 'a placeholder of the schedule that no field fills',
    change: { schedule: '{minute} {hour} * * {day}' },
    rule: 'blueprint-schedule',
    path: ['schedule'],
    message: /`\{day\}`/,
  },
  {
    name: 'a broken placeholder',
    change: { schedule: '{minute} {hour * * *' },
    rule: 'blueprint-schedule',
    path: ['schedule'],
    message: /brace/,
  },
  {
    name: '{dow} without a field of days',
    change: { schedule: '{minute} {hour} * * {dow}' },
    rule: 'blueprint-schedule',
    path: ['schedule'],
    message: /`\{dow\}`/,
  },
  {
    name: '{hour} with two times to choose from',
    change: { fields: [TIME, { ...TIME, name: 'until' }] },
    rule: 'blueprint-schedule',
    path: ['schedule'],
    message: /`\{minute\}`.*`time`/,
  },
  {
    name: 'a text in the schedule',
    change: { fields: [TIME, TEXT], schedule: '{minute} {hour} {what} * *' },
    rule: 'blueprint-schedule',
    path: ['schedule'],
    message: /`what`/,
  },
  {
    name: 'an open list of options in the schedule',
    change: { fields: [{ ...STEP, strict: false }], schedule: '*/{step} * * * *' },
    rule: 'blueprint-schedule',
    path: ['schedule'],
    message: /`step`/,
  },
  {
    name: 'a schedule of six fields',
    change: { schedule: '0 {minute} {hour} * * *' },
    rule: 'blueprint-schedule',
    path: ['schedule'],
    message: / /,
  },
  {
    name: 'a placeholder of the prompt that no field fills',
    change: { prompt: 'About {topic}.' },
    rule: 'blueprint-prompt',
    path: ['prompt'],
    message: /`\{topic\}`.*`time`.*`deliver`/,
  },
  {
    name: 'a second field named deliver',
    change: { fields: [TIME, { ...TEXT, name: 'deliver' }] },
    rule: 'blueprint-field',
    path: ['fields', 1, 'name'],
    message: /`deliver`/,
  },
  {
    name: 'two fields of one name',
    change: { fields: [TIME, TEXT, TEXT], prompt: '{what}' },
    rule: 'blueprint-field',
    path: ['fields', 2, 'name'],
    message: /`what`/,
  },
  {
    name: 'an enum without options',
    change: { fields: [TIME, { name: 'kind', type: 'enum', label: 'Kind?', default: 'a' }], prompt: '{kind}' },
    rule: 'blueprint-field',
    path: ['fields', 1],
    message: /needs `options`/,
  },
  {
    name: 'options where the type has none',
    change: { fields: [{ ...TIME, options: options('08:00') }] },
    rule: 'blueprint-field',
    path: ['fields', 0, 'options'],
    message: /`time`/,
  },
  {
    name: 'an option that is there twice',
    change: { fields: [{ ...STEP, options: options('15', '15') }], schedule: '*/{step} * * * *' },
    rule: 'blueprint-field',
    path: ['fields', 0, 'options', 1],
    message: /`15`/,
  },
];

for (const { name, change, rule, path, message } of REFUSED) {
  test(`rejects ${name}`, () => {
    const { plan, problems } = lowerBlueprint(file(change));
    assert.equal(plan, null);
    assert.equal(problems[0]?.rule, rule);
    assert.deepEqual(problems[0]?.path, path);
    assert.match(problems[0]?.message ?? '', message);
  });
}

test('reports the position of a placeholder in the schedule', () => {
  const { problems } = lowerBlueprint(file({ schedule: '{minute}  {hour} * * {day}' }));
  assert.deepEqual(problems[0]?.within, { offset: 21, length: 5 });
});

test('rejects more combinations than can be checked', () => {
  const many = Array.from({ length: 60 }, (_, index) => String(index)) as [string, ...string[]];
  const fields = ['a', 'b', 'c', 'd'].map((name) => ({ ...STEP, name, default: '0', options: many }));
  const { plan, problems } = lowerBlueprint(file({ fields, schedule: '{a},{b} {c},{d} * * *' }));
  assert.equal(plan, null);
  assert.match(problems[0]?.message ?? '', /12960000/);
});

test('warns of an unused field and still returns the plan', () => {
  const { plan, problems } = lowerBlueprint(file({ fields: [TIME, TEXT] }));
  assert.equal(plan?.key, 'sample');
  assert.deepEqual(
    problems.map(({ rule, path }) => ({ rule, path })),
    [{ rule: 'blueprint-unused-field', path: ['fields', 1, 'name'] }],
  );
});

test('fills in omitted keys', () => {
  const { plan } = lowerBlueprint(file({ fields: [TIME, DAYS], schedule: ' {minute} {hour}  * * {dow} ' }));
  assert.equal(plan?.schedule, '{minute} {hour} * * {dow}');
  assert.deepEqual(plan?.fields[1], {
    name: 'recurrence',
    type: 'weekdays',
    label: 'Days?',
    default: 'everyday',
    options: ['everyday', 'weekdays', 'weekends'],
    optional: false,
    strict: true,
    help: '',
  });
  assert.equal(plan?.fields.at(-1)?.name, 'deliver');
  assert.deepEqual(plan?.skills, []);
});
