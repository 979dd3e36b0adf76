/** Tests that the text of a key identifies the list of its values, and stays as it was where it did so before. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { lowerCoalesceKey } from '../../../compiler/lower/template.ts';
import { sessionId } from '../../../runtime/platform/ids.ts';
import { bounded } from '../../../runtime/table/link-identity.ts';
import { linkKey } from '../../../runtime/table/link-key.ts';
import { runsOf } from '../../helpers/sample.ts';

const builtins = { event_type: 'push', route: 'ci', delivery_id: 'd-1' };

function keyOf(template: string, payload: unknown): string | null {
  const { plan } = lowerCoalesceKey(template);
  assert.ok(plan, template);
  return linkKey(plan)(payload, builtins);
}

const NAMES = ['a', 'b', 'c', 'd'];

/** A template with each placeholder of `NAMES` up to a number, and the texts around them. */
const template = fc
  .array(
    fc.oneof(fc.constantFrom('', ':', '-', '/', '%', '%+', '--', '-:-', '25', 'ab', '😀'), fc.string({ maxLength: 3 })),
    {
      minLength: 2,
      maxLength: NAMES.length + 1,
    },
  )
  .map((literals) => literals.map((literal) => literal.replace(/[{}]/g, '')))
  .map((literals) => literals.map((text, at) => text + (at < literals.length - 1 ? `{${NAMES[at]}}` : '')).join(''));

/** Values from few characters, so that lists with the same joined text are found. */
const value = fc.oneof(
  fc
    .array(
      fc.constantFrom(':', '-', '/', '%', '%3A', '%2D', '%25', '%+', 'a', 'b', '2', '5', '\ud800', '\ud801', '😀', ''),
      { maxLength: 4 },
    )
    .map((parts) => parts.join('')),
  fc.constantFrom<unknown>(null, true, 1, 12, 2, '1', 'null', ['a'], { a: ':' }),
);
const list = fc.array(value, { minLength: NAMES.length, maxLength: NAMES.length });
const payloadOf = (values: readonly unknown[]): unknown =>
  Object.fromEntries(NAMES.map((name, at) => [name, values[at]]));
const asText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

describe('a key', () => {
  for (const [text, one, other] of [
    ['{a}:{b}', ['x:y', 'z'], ['x', 'y:z']],
    ['{a}-{b}', ['shop', 'eu-prod'], ['shop-eu', 'prod']],
    ['{a}{b}', ['1', '23'], ['12', '3']],
    ['{a}:{b}', ['x', 'y%3Az'], ['x', 'y:z']],
    ['{a}:{b}', ['', ':'], [':', '']],
    ['{a}:{b}:{c}', ['1', '2:3', '4'], ['1:2', '3', '4']],
    ['{a}2{b}', ['x', '2y'], ['x2%3', 'y']],
  ] as const)
    test(`${text} differs for ${JSON.stringify(one)} and ${JSON.stringify(other)}`, () =>
      assert.notEqual(keyOf(text, payloadOf(one)), keyOf(text, payloadOf(other))));

  test('differs for any two lists of values, as do the session and the bounded key', () => {
    fc.assert(
      fc.property(template, fc.array(list, { minLength: 2, maxLength: 12 }), (text, lists) => {
        const used = NAMES.filter((name) => text.includes(`{${name}}`)).length;
        const seen = new Map<string, string>();
        for (const values of lists) {
          const identity = JSON.stringify(values.slice(0, used).map(asText));
          const key = bounded(keyOf(text, payloadOf(values)) ?? assert.fail());
          for (const id of [`key ${key}`, sessionId('webhook', 'ci', key)]) {
            assert.equal(seen.get(id) ?? identity, identity, `${text} has one ${id}`);
            seen.set(id, identity);
          }
        }
      }),
      { numRuns: runsOf(3000) },
    );
  });

  test('is the joined text while that can be read in one way', () => {
    for (const [text, values, key] of [
      ['{a}', ['x:y%3A/-😀'], 'x:y%3A/-😀'],
      ['pr-{a}', ['50%'], 'pr-50%'],
      ['{a}#{b}', ['octo-corp/shop', 7], 'octo-corp/shop#7'],
      ['{a}-{b}', ['octo-corp/shop-2', 7], 'octo-corp/shop-2-7'],
      ['{a}/{b}/{c}', ['octo', 'shop', 'main'], 'octo/shop/main'],
      ['{a}:{b}', ['', null], ':null'],
    ] as const)
      assert.equal(keyOf(text, payloadOf(values)), key);
  });

  test('shows the values of an ambiguous text readably', () => {
    assert.equal(keyOf('{a}:{b}', { a: 'x', b: 'y:z' }), 'x:y%3Az');
    assert.equal(keyOf('{a}-{b}', { a: 'shop', b: 'eu-prod' }), 'shop-eu%2Dprod');
    assert.equal(keyOf('{a}{b}', { a: 1, b: 23 }), '1%+23');
  });

  test('takes an empty text and null as values, and is unresolved without one', () => {
    assert.equal(keyOf('{a}', { a: '' }), '');
    assert.equal(keyOf('{a}', { a: null }), 'null');
    assert.equal(keyOf('{a}-{b}', { a: '' }), null);
  });

  test('that looks like the digest of a long one is not mistaken for it', () => {
    const long = 'x'.repeat(300);
    assert.notEqual(bounded(bounded(long)), bounded(long));
  });
});
