import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { defaultPrompt, lowerCoalesceKey, lowerTemplate } from '../../../compiler/lower/template.ts';
import { linkKey } from '../../../runtime/table/link-key.ts';
import type { Rendered } from '../../../runtime/table/link-template.ts';
import { cutText, linkTemplate, startOfJson } from '../../../runtime/table/link-template.ts';
import { anyCharacter, anyText } from '../../helpers/any-text.ts';

const builtins = { event_type: 'push', route: 'ci', delivery_id: 'd-1' };

function render(template: string, payload: unknown): Rendered {
  const { plan } = lowerTemplate(template);
  assert.ok(plan, 'the template lowers');
  return linkTemplate(plan)(payload, builtins);
}

/** `count` code points of `text`, computed in the slow, certain way. */
function firstCodePoints(text: string, count: number): string {
  return [...text].slice(0, count).join('');
}

const SEED = { seed: 20260101, numRuns: 300 };
const json = fc.jsonValue({ maxDepth: 4, stringUnit: anyCharacter });

describe('values', () => {
  const payload = JSON.parse(`{
    "s": "text {s} {__raw__}", "n": 1.50, "big": 1e400, "neg": -0, "t": true, "f": false, "z": null, "empty": "",
    "list": ["a", {"x": "y"}], "obj": {"k": [1, "é"]}, "0": "zero", "deep": {"a": {"b": {"c": "here"}}},
    "constructor": "own", "__proto__": {"polluted": "yes"}, "event_type": "own event", "payload": {"x": 1}
  }`);
  for (const [template, expected] of [
    ['{s}', 'text {s} {__raw__}'],
    ['{n} {neg} {t} {f} {z}', '1.5 0 true false null'],
    ['{big}', 'null'],
    ['[{empty}]', '[]'],
    ['{list}', '["a",{"x":"y"}]'],
    ['{obj}', '{"k":[1,"é"]}'],
    ['{list.0} {list.1.x}', 'a y'],
    ['{0}', 'zero'],
    ['{deep.a.b.c}', 'here'],
    ['{constructor}', 'own'],
    ['{event_type} {route} {delivery_id}', 'own event ci d-1'],
    ['{payload.x}', '1'],
    ['a{s}', 'atext {s} {__raw__}'],
  ] as const) {
    test(`${template} becomes ${JSON.stringify(expected)}`, () => {
      assert.deepEqual(render(template, payload), { text: expected, unresolved: [] });
    });
  }

  for (const template of [
    '{missing}',
    '{s.length}',
    '{s.0}',
    '{list.length}',
    '{list.2}',
    '{list.01}',
    '{list.-1}',
    '{list.map}',
    '{deep.a.x.c}',
    '{z.x}',
    '{n.toFixed}',
    '{toString}',
    '{deep.constructor}',
    '{__proto__}',
    '{__proto__.polluted}',
    '{deep.__proto__.x}',
    '{headers.host}',
    '{headers.host.x}',
  ]) {
    test(`${template} stays unchanged`, () => {
      assert.deepEqual(render(`<${template}>`, payload), { text: `<${template}>`, unresolved: [template] });
    });
  }

  test('headers never resolve, even if the payload has that key', () => {
    assert.equal(render('{headers.x}', { headers: { x: 'spoofed' } }).text, '{headers.x}');
  });

  test('a root that is not an object resolves only by index', () => {
    assert.equal(render('{0}{1.x}', ['a', { x: 'b' }]).text, 'ab');
    for (const root of ['text', 5, null, true]) assert.equal(render('{0}{length}{a}', root).text, '{0}{length}{a}');
  });

  test('the default prompt is the event, the route and the fenced payload', () => {
    assert.equal(
      linkTemplate(defaultPrompt)({ event_type: 'other', a: [1] }, builtins).text,
      'Webhook event \'push\' on route \'ci\':\n\n```json\n{\n  "event_type": "other",\n  "a": [\n    1\n  ]\n}\n```',
    );
  });
});

describe('limits', () => {
  test('a dump ends after 4000 code points, a nested value after 2000, a string never', () => {
    const payload = { text: '😀'.repeat(5000), list: ['😀'.repeat(5000)] };
    assert.equal([...render('{__raw__}', payload).text].length, 4000);
    assert.equal([...render('{list}', payload).text].length, 2000);
    assert.equal(render('{text}', payload).text, payload.text);
    assert.equal([...render('{__raw__}{__raw__}', payload).text].length, 8000);
  });

  test('cutting never splits a character', () => {
    assert.equal(cutText('a😀b', 2), 'a😀');
    assert.equal(cutText('😀😀', 1), '😀');
    assert.equal(cutText('\ud83dx', 1), '\ud83d');
    assert.equal(cutText('a😀😀b', 2), 'a😀');
    assert.equal(cutText('\ude00\ud83d\ud83d😀', 3), '\ude00\ud83d\ud83d');
  });

  test('a bounded dump is the start of the whole one', () => {
    fc.assert(
      fc.property(json, fc.nat(300), (value, limit) => {
        assert.equal(startOfJson(value, limit, null, 2), firstCodePoints(JSON.stringify(value, null, 2), limit));
        assert.equal(startOfJson(value, limit), firstCodePoints(JSON.stringify(value), limit));
      }),
      SEED,
    );
  });

  test('a dump of a huge payload reads only its start', () => {
    let read = 0;
    const item = Object.defineProperty({}, 'x', { enumerable: true, get: () => ++read });
    startOfJson(Array(100_000).fill(item), 4000, null, 2);
    assert.ok(read < 400, `${read} items read`);
  });

  test('nesting deeper than any stack is cut without a crash', () => {
    const deep = JSON.parse('['.repeat(100_000) + ']'.repeat(100_000));
    assert.equal(render('{a}', { a: deep }).text, '['.repeat(2000));
    assert.equal([...render('{__raw__}', { a: deep }).text].length, 4000);
  });
});

describe('properties', () => {
  test('text from the payload is never expanded again', () => {
    const hostile = fc.constantFrom('{b}', '{__raw__}', '{a}', '{event_type}', '{{b}}', '{', '}', '{headers.x}');
    fc.assert(
      fc.property(fc.array(hostile), fc.string(), (pieces, tail) => {
        const a = pieces.join('') + tail;
        assert.equal(render('<{a}|{b}>', { a, b: 'B' }).text, `<${a}|B>`);
      }),
      SEED,
    );
  });

  test('whatever the payload, a missing placeholder keeps its literal and nothing throws', () => {
    fc.assert(
      fc.property(
        json,
        fc.array(fc.stringMatching(/^[A-Za-z0-9_-]{1,9}$/), { minLength: 1, maxLength: 4 }),
        (payload, path) => {
          const placeholder = `{no-such-key.${path.join('.')}}`;
          assert.deepEqual(render(`x${placeholder}y`, { payload }), {
            text: `x${placeholder}y`,
            unresolved: [placeholder],
          });
          render(`{${path.join('.')}}`, payload);
        },
      ),
      SEED,
    );
  });

  test('text without placeholders renders as itself', () => {
    fc.assert(
      fc.property(anyText(), (text) => {
        fc.pre(lowerTemplate(text).plan?.every((segment) => segment.kind === 'text') ?? false);
        assert.deepEqual(render(text, {}), { text, unresolved: [] });
      }),
      SEED,
    );
  });
});

describe('coalesce keys', () => {
  function key(template: string, payload: unknown): string | null {
    const { plan } = lowerCoalesceKey(template);
    assert.ok(plan);
    return linkKey(plan)(payload, builtins);
  }

  test('a bare field and a template render alike', () => {
    const payload = { pr: { number: 7 } };
    assert.equal(key('pr.number', payload), '7');
    assert.equal(key('{pr.number}', payload), '7');
    assert.equal(key('{route}/{pr.number}', payload), 'ci/7');
  });

  test('one unresolved part leaves the whole key unresolved', () => {
    assert.equal(key('{a}/{b}', { a: 1 }), null);
    assert.equal(key('a.b', { a: 1 }), null);
  });

  test('an empty string is a value', () => assert.equal(key('a', { a: '' }), ''));
});
