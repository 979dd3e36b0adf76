import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultValues, fillBlueprint } from '../../../modules/blueprints/compiler/fill.ts';
import { shippedBlueprint, shippedBlueprints } from '../../helpers/shipped-blueprints.ts';

const digest = shippedBlueprint('news-digest');
const VALUES = { topic: 'whales', time: '07:05', recurrence: 'weekends', count: '3', deliver: 'local' };

test('a filled blueprint has everything that a job needs', () => {
  const filled = fillBlueprint(digest, VALUES);
  assert.ok(filled.ok);
  const { prompt, ...rest } = filled.filled;
  assert.deepEqual(rest, {
    blueprint: 'news-digest',
    title: 'News digest',
    values: VALUES,
    schedule: '5 7 * * 0,6',
    schedule_human: 'weekends at 07:05',
    deliver: 'local',
    skills: [],
  });
  assert.match(prompt, /about: whales\n/);
  assert.match(prompt, /\b3\b/);
});

test('the defaults of every blueprint fill all its placeholders', () => {
  for (const plan of shippedBlueprints()) {
    const filled = fillBlueprint(plan, defaultValues(plan.fields));
    assert.ok(filled.ok, plan.key);
    assert.doesNotMatch(filled.filled.prompt + filled.filled.schedule, /[{}]/, plan.key);
  }
});

test('a value that looks like a placeholder is not expanded', () => {
  const filled = fillBlueprint(digest, { ...VALUES, topic: 'the {count} of {deliver} $& $1' });
  assert.ok(filled.ok);
  assert.match(filled.filled.prompt, /the \{count\} of \{deliver\} \$& \$1\n/);
});

test('deliver accepts the name of any platform', () => {
  const filled = fillBlueprint(digest, { ...VALUES, deliver: 'matrix' });
  assert.ok(filled.ok);
  assert.equal(filled.filled.deliver, 'matrix');
});

const REFUSED: readonly (readonly [string, Record<string, string | undefined>, string, RegExp])[] = [
  ['an unknown field', { colour: 'red' }, 'colour', /`colour`.*`topic`.*`time`.*`recurrence`.*`count`.*`deliver`/],
  ['a value outside a strict enum', { count: '4' }, 'count', /`4`.*`3`.*`5`.*`8`/],
  ['a day where days are wanted', { recurrence: 'sunday' }, 'recurrence', /`everyday`.*`weekdays`.*`weekends`/],
  ['a time without its zero', { time: '7:05' }, 'time', /`7:05`.*`HH:MM`/],
  ['a time past the end of the day', { time: '24:00' }, 'time', /HH:MM/],
  ['a time with more behind it', { time: '07:05 pm' }, 'time', /HH:MM/],
  ['a missing value', { count: undefined }, 'count', /`count`.*`3`.*`5`.*`8`.*`5`/],
  ['an empty value', { topic: '' }, 'topic', /`topic`/],
  ['an incomplete character', { topic: 'a\ud800' }, 'topic', /`topic`/],
];

for (const [what, change, field, message] of REFUSED) {
  test(`rejects ${what} and names the field`, () => {
    const values = Object.fromEntries(
      Object.entries({ ...VALUES, ...change }).filter((pair): pair is [string, string] => pair[1] !== undefined),
    );
    const filled = fillBlueprint(digest, values);
    assert.ok(!filled.ok);
    assert.equal(filled.problems.length, 1);
    assert.equal(filled.problems[0]?.field, field);
    assert.match(filled.problems[0]?.message ?? '', message);
  });
}

test('all problems are reported at once', () => {
  const filled = fillBlueprint(digest, { time: 'noon', colour: 'red' });
  assert.ok(!filled.ok);
  assert.deepEqual(
    filled.problems.map((problem) => problem.field),
    ['colour', 'topic', 'time', 'recurrence', 'count', 'deliver'],
  );
});
