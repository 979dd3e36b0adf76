// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are templates of other tools
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Problem } from '../../../compiler/diagnostics/diagnostic.ts';
import { defaultPrompt, lowerCoalesceKey, lowerTemplate } from '../../../compiler/lower/template.ts';

const path = (dotted: string, builtin: 'event_type' | 'route' | 'delivery_id' | null = null) => ({
  kind: 'path',
  path: dotted.split('.'),
  text: `{${dotted}}`,
  builtin,
});
const text = (value: string) => ({ kind: 'text', text: value });

/** Without the questions to a tutor. */
const shown = (problems: readonly Problem[]) => problems.filter(({ message }) => message !== '');

describe('lowerTemplate', () => {
  test('splits text and placeholders', () => {
    const { plan, problems } = lowerTemplate('PR {number}: {pull_request.title} by {commits.0.author-name}.');
    assert.deepEqual(problems, []);
    assert.deepEqual(plan, [
      text('PR '),
      path('number'),
      text(': '),
      path('pull_request.title'),
      text(' by '),
      path('commits.0.author-name'),
      text('.'),
    ]);
  });

  test('recognises the dump and the builtins only by their whole name', () => {
    const { plan } = lowerTemplate('{__raw__}{event_type}{route}{delivery_id}{route.x}{__raw__.x}');
    assert.deepEqual(plan, [
      { kind: 'dump' },
      path('event_type', 'event_type'),
      path('route', 'route'),
      path('delivery_id', 'delivery_id'),
      path('route.x'),
      path('__raw__.x'),
    ]);
  });

  test('an empty template has no segments', () => assert.deepEqual(lowerTemplate(''), { plan: [], problems: [] }));

  for (const literal of [
    '{}',
    '{a b}',
    '{a,b}',
    '{é}',
    '{ return }',
    '{...}',
    '{..}',
    '{...props}',
    'for i in {1..5}',
    'Answer as {"score": 1.5, "why": "a.b"}',
    '{ "a": { "b.c": [1, 2] } }',
    'import {a.b()}',
    '{e.g. this}',
    '{a.b, c.d}',
    '{\n  "a": 1\n}',
    '}{',
    '{',
    'a page of Vue with `{{ title }}`',
    '```\n{{ title }} {% if x %}\n```',
    '{{ else }}',
  ]) {
    test(`${JSON.stringify(literal)} is literal text`, () => {
      const { plan, problems } = lowerTemplate(literal);
      assert.deepEqual([plan, shown(problems)], [[text(literal)], []]);
    });
  }

  for (const [written, fault] of [
    ['see {a..b}', '{a..b}'],
    ['{.a}', '{.a}'],
    ['{a.} x', '{a.}'],
    ['{a.b..c}', '{a.b..c}'],
    ['{ a.b }', '{ a.b }'],
    ['{a.b }', '{a.b }'],
    ["{a['b']}", "{a['b']}"],
    ["{a['b c']}", "{a['b c']}"],
    ['title {a.b', '{a.b'],
    ['x {a.b and {c}', '{a.b'],
    ['{a.b\nnext {c}', '{a.b'],
  ] as const) {
    test(`${JSON.stringify(written)} is rejected, and the tutor is asked what it means`, () => {
      const { plan, problems } = lowerTemplate(written);
      assert.equal(plan, null);
      assert.deepEqual(
        problems.map(({ rule, within, ask, message }) => [rule, within, ask, message.startsWith(`${fault} `)]),
        [['template-syntax', { offset: written.indexOf(fault), length: fault.length }, written, true]],
      );
    });
  }

  for (const [written, rejected] of [
    ['{#each a[]}{.}{/each}', ['{#each a[]}']],
    ['{#each a.*}{@index}{/each}', ['{#each a.*}']],
    ['{#each a as x}{x.b}{/each}', ['{#each a as x}']],
    ['{#each}{.}{/each} {/each}', ['{#each}', '{/each}']],
    ['{#each a}{#each b[]}{/each}', ['{#each b[]}', '{#each a}']],
    ['{#each a[]}', ['{#each a[]}']],
  ] as const) {
    test(`${written} has no second error for one mistake`, () => {
      const { problems } = lowerTemplate(written);
      assert.deepEqual(
        problems.map(({ within, message }) =>
          message === '' ? null : written.slice(within?.offset, (within?.offset ?? 0) + (within?.length ?? 0)),
        ),
        rejected,
      );
    });
  }

  test('reports every slip of a text, in order', () => {
    const { problems } = lowerTemplate("{a..b} {x} {c['1']}");
    assert.deepEqual(
      shown(problems).map(({ within }) => within?.offset),
      [0, 11],
    );
  });

  test('asks about braces that are not placeholders, errors excepted, and warns about headers', () => {
    const { plan, problems } = lowerTemplate('{{a.b}} {headers.X-Token}');
    assert.deepEqual(
      problems.map(({ rule, within, message, ask }) => [rule, within?.offset, message === '', ask]),
      [
        ['template-braces', undefined, true, '{{a.b}} {headers.X-Token}'],
        ['template-headers', 8, false, undefined],
      ],
    );
    assert.deepEqual(plan, [
      text('{'),
      path('a.b'),
      text('} '),
      { kind: 'path', path: [], text: '{headers.X-Token}', builtin: null },
    ]);
    assert.equal(lowerTemplate('{x|y} { a.b }').problems.at(-1)?.ask, '{x|y}        ');
    assert.deepEqual(lowerTemplate('#{number}').problems, []);
  });

  test('quoted keys and indexes are parts of a path, and a quoted first key is never a name of the program', () => {
    const { plan, problems } = lowerTemplate(
      '{a["b.c/d"][0].e}{["@id"]}{["headers"].x}{["route"]}{["__raw__"]}{headers["x"]}',
    );
    assert.deepEqual(
      problems.map(({ rule }) => rule),
      ['template-headers'],
    );
    assert.deepEqual(
      plan?.map((segment) => (segment.kind === 'path' ? [segment.path, segment.builtin] : segment.kind)),
      [
        [['a', 'b.c/d', '0', 'e'], null],
        [['@id'], null],
        [['headers', 'x'], null],
        [['route'], null],
        [['__raw__'], null],
        [[], null],
      ],
    );
  });

  test('a block contains its template; only in it, there is an element', () => {
    const { plan, problems } = lowerTemplate('{.}{@index}{#each a.b}{.}{@index}{@root.c}{#each .}{x}{/each}{/each}');
    assert.deepEqual(shown(problems), []);
    const item = { kind: 'path', path: [], text: '{.}', builtin: null, from: 'element' };
    assert.deepEqual(plan, [
      text('{.}{@index}'),
      {
        kind: 'each',
        path: ['a', 'b'],
        text: '{#each a.b}',
        plan: [
          item,
          { kind: 'index' },
          { ...path('c'), text: '{@root.c}', from: 'root' },
          { kind: 'each', path: [], text: '{#each .}', plan: [path('x')] },
        ],
      },
    ]);
  });

  for (const [written, fault] of [
    ['a {#each b}c', '{#each b}'],
    ['{#each a}{#each b}{/each}', '{#each a}'],
    ['a{/each}', '{/each}'],
    ['{#each a}x{/each} {/each}', ' {/each}'],
    ['{#each}', '{#each}'],
    ['{#each a as b}', '{#each a as b}'],
    ['{#each a.*}', '{#each a.*}'],
    ['{#each a', '{#each a'],
    [`${'{#each a}'.repeat(9)}${'{/each}'.repeat(9)}`, '{#each a}'],
  ] as const)
    test(`${JSON.stringify(written)} is an error`, () => {
      const { plan, problems } = lowerTemplate(written);
      assert.equal(plan, null);
      assert.deepEqual(
        shown(problems).map(({ rule }) => rule),
        ['template-syntax'],
      );
      const { offset = -1, length = 0 } = shown(problems)[0]?.within ?? {};
      assert.equal(written.slice(offset, offset + length), fault.trim());
      if (fault.startsWith(' ')) assert.equal(offset, written.lastIndexOf('{'));
    });
});

describe('lowerCoalesceKey', () => {
  test('a bare field becomes a placeholder', () => {
    assert.deepEqual(lowerCoalesceKey('pull_request.number').plan, [path('pull_request.number')]);
    assert.deepEqual(lowerCoalesceKey('event_type').plan, [path('event_type', 'event_type')]);
  });

  test('a template with a placeholder is unchanged', () => {
    assert.deepEqual(lowerCoalesceKey('{repo}#{n}').plan, [path('repo'), text('#'), path('n')]);
  });

  for (const key of ['{#each a}{b}{/each}', '', 'a b', 'pr #', 'a..b', '{}']) {
    test(`${JSON.stringify(key)} does not identify an entity`, () => {
      const { plan, problems } = lowerCoalesceKey(key);
      assert.equal(plan, null);
      assert.deepEqual(
        shown(problems).map(({ rule }) => rule),
        ['coalesce-key'],
      );
    });
  }

  test('a slip inside it is reported as a template slip', () => {
    assert.deepEqual(
      lowerCoalesceKey('{a..b}').problems.map(({ rule }) => rule),
      ['template-syntax'],
    );
  });
});

test('the default prompt names event and route and dumps the payload', () => {
  assert.deepEqual(
    defaultPrompt.map((segment) => segment.kind),
    ['text', 'meta', 'text', 'meta', 'text', 'dump', 'text'],
  );
});
