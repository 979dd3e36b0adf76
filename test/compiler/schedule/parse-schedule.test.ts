import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseSchedule } from '../../../compiler/schedule/parse-schedule.ts';

test('parses five fields with any white space between them', () => {
  assert.deepEqual(parseSchedule('  5  8-17/3\t* * 1-5 '), {
    ok: true,
    schedule: { text: '5 8-17/3 * * 1-5', minute: '5', hour: '8-17/3', dayOfMonth: '*', month: '*', dayOfWeek: '1-5' },
  });
});

const REFUSED: readonly (readonly [string, RegExp])[] = [
  ['', /./],
  ['0 8 * *', /\b4\b/],
  ['0 0 8 * * *', /`0 8 \* \* \*`/],
  ['@daily', /`0 0 \* \* \*`/],
  ['@reboot', /`@reboot`/],
  ['@constructor', /`@constructor`/],
  ['60 8 * * *', /60/],
  ['0 24 * * *', /hour.*24/],
  ['0 17-9 * * *', /17-9/],
  ['*/61 * * * *', /step/i],
  ['0 8 * * someday', /./],
  ['{minute} {hour} * * *', /./],
];

for (const [text, message] of REFUSED) {
  test(`rejects \`${text}\` with a reason`, () => {
    const parsed = parseSchedule(text);
    assert.ok(!parsed.ok);
    assert.match(parsed.message, message);
    assert.doesNotMatch(parsed.message, /CronPattern/);
  });
}
