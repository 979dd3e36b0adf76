import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseSchedule } from '../../../compiler/schedule/parse-schedule.ts';

test('reads five fields, whatever the space between them', () => {
  assert.deepEqual(parseSchedule('  5  8-17/3\t* * 1-5 '), {
    ok: true,
    schedule: { text: '5 8-17/3 * * 1-5', minute: '5', hour: '8-17/3', dayOfMonth: '*', month: '*', dayOfWeek: '1-5' },
  });
});

const REFUSED: readonly (readonly [string, RegExp])[] = [
  ['', /five fields are needed .* here are none/],
  ['0 8 * *', /here are 4/],
  ['0 0 8 * * *', /for `0 0 8 \* \* \*` write `0 8 \* \* \*`/],
  ['@daily', /write `0 0 \* \* \*` for `@daily`/],
  ['@reboot', /`@reboot` is not a five-field cron expression/],
  ['@constructor', /not a five-field/],
  ['60 8 * * *', /60/],
  ['0 24 * * *', /hour.*24/],
  ['0 17-9 * * *', /17-9/],
  ['*/61 * * * *', /step/i],
  ['0 8 * * someday', /./],
  ['{minute} {hour} * * *', /./],
];

for (const [text, message] of REFUSED) {
  test(`refuses \`${text}\` with a reason`, () => {
    const parsed = parseSchedule(text);
    assert.ok(!parsed.ok);
    assert.match(parsed.message, message);
    assert.doesNotMatch(parsed.message, /CronPattern/);
  });
}
