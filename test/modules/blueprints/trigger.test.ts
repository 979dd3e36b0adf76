import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { defaultValues } from '../../../modules/blueprints/compiler/fill.ts';
import type { Trigger } from '../../../modules/blueprints/compiler/trigger.ts';
import { parseCommand, parseLink, printCommand, printLink } from '../../../modules/blueprints/compiler/trigger.ts';
import type { BlueprintField } from '../../../schemas/generated/types.ts';
import { anyText } from '../../helpers/any-text.ts';
import { shippedBlueprints } from '../../helpers/shipped-blueprints.ts';

const RUNS = { seed: 20260101, numRuns: 400 };

/** Well-formed text with many special characters of the two forms. */
const hostile = fc.oneof(
  anyText(),
  fc.string({
    unit: fc.constantFrom(
      '"',
      '\\',
      '=',
      '\n',
      '\r',
      '\t',
      ' ',
      '%',
      '+',
      '&',
      '#',
      '?',
      '/',
      '😀',
      '“',
      '”',
      '„',
      'é',
      '\u0000',
      'a',
      '2',
      'B',
    ),
  }),
  fc.constantFrom(
    '',
    ' ',
    '\\',
    '"',
    '\\"',
    '"\\',
    '%zz',
    '%41',
    'a=b',
    '--x',
    '“x”',
    '\ufeff',
    '\u2028',
    '{time}',
    '/blueprint x y=z',
  ),
);

const name = fc.stringMatching(/^[a-z][a-z0-9_]{0,8}$/);
const key = fc.stringMatching(/^[a-z0-9]{1,6}(-[a-z0-9]{1,6}){0,2}$/);
const values = fc
  .uniqueArray(fc.tuple(name, hostile), { selector: ([field]) => field, maxLength: 6 })
  .map((pairs): Record<string, string> => Object.fromEntries(pairs));
const trigger: fc.Arbitrary<Trigger> = fc
  .tuple(key, values)
  .map(([chosen, filled]) => ({ key: chosen, values: filled }));

/** Some of the names become text fields, which are always quoted. */
function fieldsFor(values: Trigger['values'], everyOther: boolean): BlueprintField[] {
  return Object.keys(values).map((field, index) => ({
    name: field,
    type: everyOther && index % 2 === 0 ? 'enum' : 'text',
    label: field,
    default: '',
    options: [],
    optional: false,
    strict: true,
    help: '',
  }));
}

test('a printed command parses to the same values, for any text', () => {
  fc.assert(
    fc.property(trigger, fc.boolean(), (given, everyOther) => {
      const printed = printCommand(given, fieldsFor(given.values, everyOther));
      assert.deepEqual(parseCommand(printed), { ok: true, trigger: given });
    }),
    RUNS,
  );
});

test('a printed link parses to the same values, for any text', () => {
  fc.assert(
    fc.property(trigger, fc.constantFrom('hookwright', 'x-app+1'), (given, scheme) => {
      assert.deepEqual(parseLink(printLink(given, scheme), scheme), { ok: true, trigger: given });
    }),
    RUNS,
  );
});

test('parsing never throws', () => {
  const text = fc.oneof(
    hostile,
    hostile.map((rest) => `/blueprint ${rest}`),
    hostile.map((rest) => `hookwright://blueprint/${rest}`),
  );
  fc.assert(
    fc.property(text, (pasted) => {
      parseCommand(pasted);
      parseLink(pasted, 'hookwright');
    }),
    RUNS,
  );
});

test('the defaults of every shipped blueprint round-trip in both forms', () => {
  for (const { key: blueprint, fields } of shippedBlueprints()) {
    const given = { key: blueprint, values: defaultValues(fields) };
    assert.deepEqual(parseCommand(printCommand(given, fields)), { ok: true, trigger: given });
    assert.deepEqual(parseLink(printLink(given, 'hookwright'), 'hookwright'), { ok: true, trigger: given });
  }
});

const READ: readonly (readonly [string, string, Record<string, string>])[] = [
  ['line breaks and tabs between the parts', '/blueprint a\n\tx=1\r\n  y=2\n', { x: '1', y: '2' }],
  ['an empty value', '/blueprint a x="" y=', { x: '', y: '' }],
  ['escapes only where they mean something', String.raw`/blueprint a x="\n \" \\ \q"`, { x: String.raw`\n " \ \q` }],
  ['the curly quotes of chat programs', '/blueprint a x=“go for a walk” y=„ja“', { x: 'go for a walk', y: 'ja' }],
  ['the name of a bot behind the command', '/blueprint@wright_bot a x=1', { x: '1' }],
  ['equals signs and quotes inside a bare value', '/blueprint a x=1=2 y=5"', { x: '1=2', y: '5"' }],
  ['names that objects inherit', '/blueprint a constructor=1', { constructor: '1' }],
];

for (const [what, text, expected] of READ) {
  test(`a command may contain ${what}`, () => {
    assert.deepEqual(parseCommand(text), { ok: true, trigger: { key: 'a', values: expected } });
  });
}

const REFUSED_COMMANDS: readonly (readonly [string, RegExp])[] = [
  ['hello', /`\/blueprint <key>`/],
  ['/blueprint', /`\/blueprint <key>`/],
  ['/blueprints a', /`\/blueprint <key>`/],
  ['/blueprint Morning time=08:00', /`Morning`/],
  ['/blueprint a what=take a break', /`a`.*`name=value`/],
  ['/blueprint a x="never closed', /`x`/],
  ['/blueprint a x="1"y=2', /`x`/],
  ['/blueprint a x=1 x=2', /`x`/],
  ['/blueprint a X=1', /`X`/],
  ['/blueprint a __proto__=1', /`__proto__`/],
];

for (const [text, message] of REFUSED_COMMANDS) {
  test(`rejects the command ${text}`, () => {
    const parsed = parseCommand(text);
    assert.ok(!parsed.ok);
    assert.match(parsed.message, message);
  });
}

test('a link may contain additions by systems', () => {
  const expected = { ok: true, trigger: { key: 'a', values: { x: '1 2', y: ':,' } } };
  for (const link of ['hookwright://blueprint/a?x=1+2&y=%3A%2C', ' HOOKWRIGHT://blueprint/a/?x=1%202&y=:,#top\n']) {
    assert.deepEqual(parseLink(link, 'hookwright'), expected);
  }
  assert.deepEqual(parseLink('hookwright://blueprint/a', 'hookwright'), {
    ok: true,
    trigger: { key: 'a', values: {} },
  });
});

const REFUSED_LINKS: readonly (readonly [string, RegExp])[] = [
  ['https://blueprint/a?x=1', /`https`.*`hookwright`/],
  ['hookwright://recipe/a?x=1', /`hookwright:\/\/blueprint\/<key>/],
  ['hookwright://blueprint/?x=1', /`hookwright:\/\/blueprint\/<key>/],
  ['hookwright://blueprint/a/b?x=1', /`hookwright:\/\/blueprint\/<key>/],
  ['hookwright://blueprint/%61?x=1', /`%61`/],
  ['hookwright://blueprint/a?x=1&x=2', /`x`/],
];

for (const [text, message] of REFUSED_LINKS) {
  test(`rejects the link ${text}`, () => {
    const parsed = parseLink(text, 'hookwright');
    assert.ok(!parsed.ok);
    assert.match(parsed.message, message);
  });
}
