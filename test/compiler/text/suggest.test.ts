import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { certainMatch, didYouMean, oneOf, suggest } from '../../../compiler/text/suggest.ts';

const KEYS = [
  'prompt',
  'profile',
  'events',
  'deliver',
  'deliver_only',
  'deliver_extra',
  'rate_limit',
  'secret',
  'secrets',
];

describe('suggestions', () => {
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ['promt', ['prompt']],
    ['prmopt', ['prompt']],
    ['Prompt', ['prompt']],
    ['rateLimit', ['rate_limit']],
    ['rate-limit', ['rate_limit']],
    ['deliver-onyl', ['deliver_only']],
    ['secert', ['secret', 'secrets']],
    ['zzz', []],
    ['x', []],
    ['p'.repeat(200), []],
  ];
  for (const [word, expected] of cases) {
    test(word.slice(0, 20), () => assert.deepEqual(suggest(word, KEYS).slice(0, expected.length || 3), expected));
  }

  test('are at most three, closest first', () => {
    assert.deepEqual(suggest('abcdef', ['abcdeg', 'abcdef2', 'abcde', 'abxdef', 'zbcdef']).length, 3);
    assert.equal(suggest('target', ['targetx', 'tarfet', 'target_'])[0], 'tarfet');
  });

  test('are a single one if only the plural differs', () => {
    assert.deepEqual(suggest('event', ['agent', 'events']), ['events']);
    assert.equal(certainMatch('event', ['agent', 'events']), 'events');
  });
});

test('a list reads like a sentence', () => {
  assert.equal(oneOf([]), '');
  assert.equal(oneOf(['a']), '`a`');
  assert.equal(oneOf(['a', 'b', 'c']), '`a`, `b` or `c`');
  assert.equal(oneOf(['a', 'b'], 'and'), '`a` and `b`');
  assert.match(didYouMean('promt', KEYS), /`prompt`/);
  assert.equal(didYouMean('zzz', KEYS), '');
});
