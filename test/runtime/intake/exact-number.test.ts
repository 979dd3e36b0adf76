/** Tests that numbers of JSON keep their text and compare by their exact value. The oracles know nothing of the implementation. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { compareNumbers, readJson, readNumber, writeJson } from '../../../base/exact-number.ts';
import { parseJson } from '../../../runtime/intake/parse-json.ts';
import { createValueSet, jsonEqual } from '../../../runtime/table/value-set.ts';
import { anyText } from '../../helpers/any-text.ts';
import { jsonNumber } from '../../helpers/json-numbers.ts';

/** A document as its tokens: the blanks between them are random, the text without blanks is what must be written. */
type Tokens = readonly string[];

const text = fc
  .oneof(anyText(), fc.constantFrom('1.0', ': 10.00, ', '[1e400]', '"', '\\', '\\"1.5', '8202522731445525542', '-0,'))
  .map((value): Tokens => [JSON.stringify(value)]);
const scalar: fc.Arbitrary<Tokens> = fc.oneof(
  jsonNumber.map((number): Tokens => [number]),
  text,
  fc.constantFrom<Tokens>(['true'], ['false'], ['null']),
);

const between = (open: string, items: readonly Tokens[], close: string): Tokens => [
  open,
  ...items.flatMap((item, at) => (at === 0 ? item : [',', ...item])),
  close,
];

const { value: json } = fc.letrec<{ value: Tokens }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', maxDepth: 5 },
    scalar,
    fc.array(tie('value'), { maxLength: 4 }).map((items) => between('[', items, ']')),
    fc.array(tie('value'), { maxLength: 4 }).map((items) =>
      // A key that is not an array index keeps its place.
      between(
        '{',
        items.map((item, at) => [JSON.stringify(at === 3 ? '__proto__' : `k${at}`), ':', ...item]),
        '}',
      ),
    ),
  ),
}));

const blanks = fc.array(fc.constantFrom('', '', ' ', '\n', '\t', '\r\n  '), { minLength: 1, maxLength: 9 });

describe('JSON', () => {
  test('is written with every number as it was sent', () => {
    fc.assert(
      fc.property(json, blanks, (tokens, gaps) => {
        const sent = tokens.map((token, at) => token + (gaps[at % gaps.length] ?? '')).join('');
        const parsed = parseJson(Buffer.from(sent));
        assert.ok(parsed.ok);
        assert.equal(writeJson(parsed.value), tokens.join(''));
      }),
      { numRuns: 1000 },
    );
  });

  test('is indented like JSON.stringify indents it', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(0, 2), (value, indent) => {
        const [plain] = JSON.parse(JSON.stringify([value])) as unknown[];
        const marked = writeJson([readNumber('1.0'), plain], indent);
        assert.equal(marked.replace('1.0', '1'), JSON.stringify([1, plain], null, indent === 0 ? undefined : indent));
      }),
      { numRuns: 300 },
    );
  });

  test('without such numbers is what JSON.parse returns, also if its texts look like them', () => {
    for (const sent of ['{"a":": 1.0,","b":[1,-2,3.5,9007199254740991]}', '[" 1e5 "]', '"-0"', '[1.5,2]'])
      assert.deepEqual(readJson(sent), JSON.parse(sent));
  });

  test('that JSON.parse rejects is rejected', () => {
    for (const sent of ['01', '[1.]', '[.5]', '[+1]', '{"a":1.0', '[1.0,]', '1.0 2', 'NaN', '[1e]', '-'])
      assert.equal(parseJson(Buffer.from(sent)).ok, false, sent);
  });
});

/** The exact value as a fraction of whole numbers. */
function fractionOf(number: string): readonly [over: bigint, under: bigint] {
  const [mantissa = '', exponent = '0'] = number.toLowerCase().split('e');
  const [before = '', after = ''] = mantissa.split('.');
  const shift = BigInt(exponent) - BigInt(after.length);
  const over = BigInt(before + after);
  return shift >= 0n ? [over * 10n ** shift, 1n] : [over, 10n ** -shift];
}

function order(left: string, right: string): number {
  const [[a, b], [c, d]] = [fractionOf(left), fractionOf(right)];
  return a * d < c * b ? -1 : a * d > c * b ? 1 : 0;
}

/** Two numbers that are near each other or the same, more often than by chance. */
const pair = fc.oneof(
  fc.tuple(jsonNumber, jsonNumber),
  jsonNumber.chain((number) => {
    const [mantissa = '', ...exponent] = number.split(/(?=[eE])/);
    const dotted = mantissa.includes('.') ? mantissa : `${mantissa}.0`;
    return fc
      .constantFrom('0', '00', '1', '0000000000000000000000001')
      .map((tail) => [number, dotted + tail + exponent.join('')]);
  }),
) as fc.Arbitrary<readonly [string, string]>;

describe('numbers', () => {
  test('are ordered by their exact value', () => {
    fc.assert(
      fc.property(pair, ([left, right]) => {
        const [a, b] = [readNumber(left), readNumber(right)];
        assert.equal(Math.sign(compareNumbers(a, b)), order(left, right));
        assert.equal(jsonEqual({ n: a }, { n: b }), order(left, right) === 0);
        assert.equal(createValueSet([b, 'x', null]).has(a), order(left, right) === 0);
      }),
      { numRuns: 2000 },
    );
  });

  test('are neither their texts nor any other value', () => {
    for (const number of ['10.00', '8202522731445525542', '1e400', '-0']) {
      const value = readNumber(number);
      for (const other of [number, null, {}, [], true, ['1']]) {
        assert.equal(jsonEqual(value, other), false);
        assert.equal(jsonEqual(other, value), false);
        assert.equal(createValueSet([other]).has(value), false);
        assert.equal(createValueSet([value]).has(other), false);
      }
      assert.equal(createValueSet([value]).has(undefined), false);
      assert.equal(createValueSet([null, undefined]).has(value), false);
    }
  });

  test('with a huge exponent or a million digits cost little', () => {
    const start = performance.now();
    const many = '9'.repeat(1_000_000);
    for (const number of ['1e999999999', '-1e-999999999', `1e${many}`, many, `0.${'0'.repeat(1_000_000)}1`]) {
      const value = readNumber(number);
      assert.equal(compareNumbers(value, readNumber(number)), 0);
      assert.notEqual(compareNumbers(value, 1), 0);
      assert.equal(createValueSet([value, 1]).has(value), true);
    }
    assert.ok(performance.now() - start < 5000);
  });

  test('many of them, and texts that look like them, are parsed in linear time', () => {
    const start = performance.now();
    for (const sent of [
      `[${'1.10,'.repeat(200_000)}1]`,
      `["${'1.1'.repeat(300_000)}"]`,
      `["${':1.1e'.repeat(200_000)}"]`,
      `["${' 1'.repeat(500_000)}"]`,
      `["${'\\\\'.repeat(400_000)}",1.0]`,
      `[${'1'.repeat(1_000_000)}]`,
    ])
      assert.ok(parseJson(Buffer.from(sent)).ok);
    assert.ok(performance.now() - start < 10_000);
  });
});
